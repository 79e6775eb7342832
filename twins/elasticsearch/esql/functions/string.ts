/** Functions of strings. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-string-functions */

import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { illegalArgument } from "../../vendor/error.ts";
import { invalidArgument, UnrecognisedEsql } from "../errors.ts";
import { nullTyped, type Typed } from "../typed.ts";
import { typeSets } from "../types.ts";
import { argument, type Call, constantArgument, type ScalarFunction, sameType } from "./declaration.ts";
import { javaRegex, javaReplacement } from "./java-regex.ts";

const string = { name: "string", types: typeSets.string } as const;
const count = { name: "length", types: typeSets.integer } as const;
/** White space as Java defines it. */
const SPACES =
  " \t\n\v\f\r\u001c\u001d\u001e\u001f\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000";
const MAX_REPEATED_BYTES = 1_048_576;

function text(declaration: Omit<ScalarFunction, "kind" | "family">): ScalarFunction {
  return { kind: "scalar", family: "string", ...declaration };
}

/** Declares a function from one string to the same type. */
function stringFunction(name: string, summary: string, compile: (value: Sql) => Sql): ScalarFunction {
  return text({
    name,
    summary,
    parameters: [string],
    returns: sameType,
    compile: (call) => call.derive(compile(argument(call, 0).sql)),
  });
}

export const stringFunctions: readonly ScalarFunction[] = [
  text({
    name: "concat",
    summary: "Two or more strings, one after another.",
    parameters: [
      { name: "string1", types: typeSets.string, unnumbered: true },
      { name: "string2", types: typeSets.string, rest: true, unnumbered: true },
    ],
    returns: "keyword",
    compile: (call) =>
      call.derive(
        sql`(${joined(
          call.args.map((value) => value.sql),
          " || ",
        )})`,
      ),
  }),
  text({
    name: "ends_with",
    summary: "Whether a string ends with another.",
    parameters: [string, { name: "suffix", types: typeSets.string }],
    returns: "boolean",
    compile: (call) => call.derive(sql`ends_with(${argument(call, 0).sql}, ${argument(call, 1).sql})`),
  }),
  text({
    name: "from_base64",
    summary: "The text that a base64 string means.",
    parameters: [string],
    returns: "keyword",
    compile(call) {
      const value = call.compiler.hoist(argument(call, 0));
      const made = call.derive(sql`decode(from_base64(${value.sql}))`);
      return call.compiler.attempt(
        made,
        [value],
        "java.lang.IllegalArgumentException: Illegal base64 character",
      );
    },
  }),
  text({
    name: "left",
    summary: "So many characters from the beginning.",
    parameters: [string, count],
    returns: "keyword",
    compile: (call) =>
      call.derive(sql`left(${argument(call, 0).sql}, greatest(${argument(call, 1).sql}, 0))`),
  }),
  text({
    name: "length",
    summary: "How many characters there are.",
    parameters: [string],
    returns: "integer",
    compile: (call) => call.derive(sql`CAST(length(${argument(call, 0).sql}) AS INTEGER)`),
  }),
  text({
    name: "locate",
    summary: "Where a string stands in another, from 1; 0 when it does not.",
    parameters: [
      string,
      { name: "substring", types: typeSets.string },
      { name: "start", types: typeSets.integer, optional: true },
    ],
    returns: "integer",
    compile: locate,
  }),
  stringFunction(
    "ltrim",
    "The string without white space at its beginning.",
    (value) => sql`ltrim(${value}, ${SPACES})`,
  ),
  text({
    name: "repeat",
    summary: "The string, so many times.",
    parameters: [string, { name: "number", types: typeSets.integer }],
    returns: "keyword",
    compile: repeat,
  }),
  text({
    name: "replace",
    summary: "The string with every match of a regular expression replaced.",
    parameters: [
      string,
      { name: "regex", types: typeSets.string },
      { name: "newString", types: typeSets.string },
    ],
    returns: "keyword",
    compile: replace,
  }),
  text({
    name: "right",
    summary: "So many characters from the end.",
    parameters: [string, count],
    returns: "keyword",
    compile: (call) =>
      call.derive(sql`right(${argument(call, 0).sql}, greatest(${argument(call, 1).sql}, 0))`),
  }),
  stringFunction(
    "rtrim",
    "The string without white space at its end.",
    (value) => sql`rtrim(${value}, ${SPACES})`,
  ),
  text({
    name: "split",
    summary: "The pieces between a delimiter of one byte.",
    parameters: [string, { name: "delim", types: typeSets.string }],
    returns: "keyword",
    compile(call) {
      const delimiter = call.compiler.hoist(argument(call, 1)).sql;
      const constant = constantArgument(call, 1);
      if (constant?.type === "keyword" && Buffer.byteLength(constant.value) !== 1) {
        throw invalidArgument("delimiter must be single byte for now");
      }
      const pieces = sql`string_split(${argument(call, 0).sql}, ${delimiter})`;
      return { ...call.derive(sql`CASE WHEN ${delimiter} IS NOT NULL THEN ${pieces} END`), multi: true };
    },
  }),
  text({
    name: "starts_with",
    summary: "Whether a string begins with another.",
    parameters: [string, { name: "prefix", types: typeSets.string }],
    returns: "boolean",
    compile: (call) => call.derive(sql`starts_with(${argument(call, 0).sql}, ${argument(call, 1).sql})`),
  }),
  text({
    name: "substring",
    summary: "A part of a string: from a place (from 1; negative: from the end), so many characters.",
    parameters: [string, { name: "start", types: typeSets.integer }, { ...count, optional: true }],
    returns: "keyword",
    compile: substring,
  }),
  text({
    name: "to_base64",
    summary: "The string in base64.",
    parameters: [string],
    returns: "keyword",
    compile: (call) => call.derive(sql`to_base64(encode(${argument(call, 0).sql}))`),
  }),
  stringFunction("to_lower", "The string in lower case.", (value) => sql`lower(${value})`),
  stringFunction("to_upper", "The string in upper case.", (value) => sql`upper(${value})`),
  stringFunction(
    "trim",
    "The string without white space around it.",
    (value) => sql`trim(${value}, ${SPACES})`,
  ),
];

function locate(call: Call): Typed {
  const [value, part] = [argument(call, 0).sql, argument(call, 1).sql];
  const from = call.args[2];
  if (!from) return call.derive(sql`CAST(instr(${value}, ${part}) AS INTEGER)`);
  const start = sql`greatest(${call.compiler.hoist(from).sql}, 1)`;
  const place = call.compiler.hoist(
    call.derive(sql`CAST(instr(substring(${value}, ${start}), ${part}) AS INTEGER)`),
  ).sql;
  return call.derive(sql`CASE WHEN ${place} = 0 THEN 0 ELSE CAST(${place} + ${start} - 1 AS INTEGER) END`);
}

function repeat(call: Call): Typed {
  const { compiler } = call;
  const value = compiler.hoist(argument(call, 0)).sql;
  const constant = constantArgument(call, 1);
  if (constant?.type === "integer" && constant.value < 0n)
    throw illegalArgument(`Number parameter cannot be negative, found [${constant.value}]`);
  const times = compiler.hoist(argument(call, 1)).sql;
  const counted = compiler.guard(
    call.derive(sql`repeat(${value}, ${times})`),
    sql`${times} >= 0`,
    sql`'java.lang.IllegalArgumentException: Number parameter cannot be negative, found [' || CAST(${times} AS VARCHAR) || ']'`,
  );
  return compiler.guard(
    counted,
    sql`CAST(strlen(${value}) AS BIGINT) * ${times} <= ${raw(String(MAX_REPEATED_BYTES))}`,
    `java.lang.IllegalArgumentException: Creating repeated strings with more than [${MAX_REPEATED_BYTES}] bytes is not supported`,
  );
}

function replace(call: Call): Typed {
  const [value, pattern, replacement] = [
    argument(call, 0),
    constantArgument(call, 1),
    constantArgument(call, 2),
  ];
  if (pattern?.type === "null" || replacement?.type === "null") return nullTyped(call.at, "keyword");
  if (pattern?.type !== "keyword" || replacement?.type !== "keyword") {
    throw new UnrecognisedEsql(
      call.at,
      "REPLACE with a regular expression or a replacement that is no constant",
    );
  }
  const regex = javaRegex(pattern.value, argument(call, 1).at);
  const by = javaReplacement(replacement.value);
  return call.derive(sql`regexp_replace(${value.sql}, ${regex}, ${by}, 'g')`);
}

function substring(call: Call): Typed {
  const { compiler } = call;
  const value = compiler.hoist(argument(call, 0)).sql;
  const start = compiler.hoist(argument(call, 1)).sql;
  const first = sql`CASE WHEN ${start} > 0 THEN ${start} WHEN ${start} = 0 THEN 1 ELSE greatest(length(${value}) + ${start} + 1, 1) END`;
  const given = call.args[2];
  if (!given) return call.derive(sql`substring(${value}, ${first})`);
  const { constant } = given;
  if (constant?.type === "integer" && constant.value < 0n) {
    throw illegalArgument(`Length parameter cannot be negative, found [${constant.value}]`);
  }
  const length = compiler.hoist(given).sql;
  return compiler.guard(
    call.derive(sql`substring(${value}, ${first}, ${length})`),
    sql`${length} >= 0`,
    sql`'java.lang.IllegalArgumentException: Length parameter cannot be negative, found [' || CAST(${length} AS VARCHAR) || ']'`,
  );
}
