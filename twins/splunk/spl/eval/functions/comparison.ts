/** Comparison and conditional functions. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { inNetwork, networkOf } from "../../addresses/networks.ts";
import { matchesSql } from "../../regex/regex-sql.ts";
import { anyOf, compare, isIn } from "../compare.ts";
import { truth } from "../logic.ts";
import { patternOf } from "../pattern-of.ts";
import { like } from "../patterns.ts";
import { boolean, constant, nothing, typedNull, unifyTypes, type Value } from "../value.ts";
import type { PlainFunction, Use } from "./declaration.ts";
import { constantText, textArgument } from "./tools.ts";

type Entry = Pick<PlainFunction, "name" | "syntax" | "summary" | "minArgs" | "maxArgs" | "compile"> &
  Partial<Pick<PlainFunction, "aliases">>;

const entries: readonly Entry[] = [
  {
    name: "case",
    syntax: "case(condition1, value1, condition2, value2, …)",
    summary: "The value of the first true condition; null if none is true.",
    minArgs: 2,
    maxArgs: undefined,
    compile: (args, use) => caseExpression(pairs(args, use), nothing, use),
  },
  {
    name: "cidrmatch",
    syntax: "cidrmatch(network, ip)",
    summary: "Whether an address is in a network: `10.0.0.0/8`.",
    minArgs: 2,
    maxArgs: 2,
    compile([network = nothing, ip = nothing], use) {
      const known = constantText(network);
      if (known !== undefined && networkOf(known) === undefined) use.fail();
      if (network.isNull || ip.isNull) return { ...nothing, type: "boolean" };
      const block = textArgument(network, use);
      return boolean(anyOf(ip, (one) => sql`(${inNetwork(block, textArgument(one, use))} = '1')`));
    },
  },
  {
    name: "coalesce",
    aliases: ["ifnull"],
    syntax: "coalesce(value1, value2, …)",
    summary: "The first value that is not null.",
    minArgs: 1,
    maxArgs: undefined,
    compile(args) {
      const { sql: values, ...shape } = unifyTypes(args);
      return { ...shape, sql: sql`coalesce(${joined(values, ", ")}, NULL)` };
    },
  },
  {
    name: "false",
    syntax: "false()",
    summary: "The boolean false.",
    minArgs: 0,
    maxArgs: 0,
    compile: () => constant(false),
  },
  {
    name: "if",
    syntax: "if(condition, value, otherwise)",
    summary: "One of two values, by a condition; the second when the condition is unknown.",
    minArgs: 3,
    maxArgs: 3,
    compile([condition = nothing, value = nothing, otherwise = nothing], use) {
      return caseExpression([[condition, value]], otherwise, use);
    },
  },
  {
    name: "in",
    syntax: "in(field, value1, value2, …)",
    summary: "Whether a value equals one of the others.",
    minArgs: 2,
    maxArgs: undefined,
    compile: ([field = nothing, ...values], { scope }) => isIn(field, values, scope),
  },
  {
    name: "like",
    syntax: "like(text, pattern)",
    summary: "Whether a text matches a pattern with `%` and `_`.",
    minArgs: 2,
    maxArgs: 2,
    compile: ([value = nothing, pattern = nothing], { scope }) => like(value, pattern, scope),
  },
  {
    name: "match",
    syntax: "match(text, regex)",
    summary: "Whether a regular expression matches a part of the text.",
    minArgs: 2,
    maxArgs: 2,
    compile([value = nothing, regex = nothing], use) {
      if (value.isNull || regex.isNull) return { ...nothing, type: "boolean" };
      const pattern = patternOf(regex, use);
      return boolean(anyOf(value, (one) => matchesSql(textArgument(one, use), pattern)));
    },
  },
  { name: "null", syntax: "null()", summary: "No value.", minArgs: 0, maxArgs: 0, compile: () => typedNull },
  {
    name: "nullif",
    syntax: "nullif(field1, field2)",
    summary: "The first value, or null if both are equal.",
    minArgs: 2,
    maxArgs: 2,
    compile([first = nothing, second = nothing], { scope }) {
      const { loose = false, type, multi } = first;
      const equal = compare("=", first, second, scope);
      return { type, multi, loose, sql: sql`CASE WHEN ${equal.sql} THEN NULL ELSE ${first.sql} END` };
    },
  },
  {
    name: "true",
    syntax: "true()",
    summary: "The boolean true.",
    minArgs: 0,
    maxArgs: 0,
    compile: () => constant(true),
  },
  {
    name: "validate",
    syntax: "validate(condition1, value1, condition2, value2, …)",
    summary: "The value of the first false condition; null if all are true.",
    minArgs: 2,
    maxArgs: undefined,
    compile(args, use) {
      const choices = pairs(args, use).map(([condition, value]): [Value, Value] => [
        boolean(sql`(NOT ${truth(condition, use.fail)})`),
        value,
      ]);
      return caseExpression(choices, nothing, use);
    },
  },
];

function pairs(args: readonly Value[], { fail }: Use): [Value, Value][] {
  if (args.length % 2 !== 0) fail();
  const found: [Value, Value][] = [];
  for (let index = 0; index < args.length; index += 2) {
    found.push([args[index] ?? nothing, args[index + 1] ?? nothing]);
  }
  return found;
}

function caseExpression(choices: readonly [Value, Value][], otherwise: Value, { fail }: Use): Value {
  const { sql: values, ...shape } = unifyTypes([...choices.map(([, value]) => value), otherwise]);
  const branches = choices.map(
    ([condition], index): Sql => sql`WHEN ${truth(condition, fail)} THEN ${values[index] ?? raw("NULL")}`,
  );
  return { ...shape, sql: sql`CASE ${joined(branches, " ")} ELSE ${values.at(-1) ?? raw("NULL")} END` };
}

export const comparisonFunctions: readonly PlainFunction[] = entries.map((entry) => ({
  ...entry,
  takesNull: true,
  kind: "plain",
  family: "comparison and conditional",
}));
