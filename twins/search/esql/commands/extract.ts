/** DISSECT and GROK: columns from pieces of a text. */
import { joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { Compiler } from "../compiler.ts";
import { parsingError } from "../errors.ts";
import type { Command, Expression } from "../syntax.ts";
import { nullTyped, type Typed } from "../typed.ts";
import { type DataType, isString, sqlType } from "../types.ts";
import { readDissect } from "./dissect-pattern.ts";
import { assign } from "./eval.ts";
import { type GrokType, readGrok } from "./grok-pattern.ts";

export function compileDissect(compiler: Compiler, command: Extract<Command, { kind: "dissect" }>): void {
  const input = inputText(compiler, command.input, "Dissect");
  const { regex, groups, keys } = readDissect(command.pattern, command.at);
  const pieces = extracted(compiler, input, regex, groups);
  for (const { name, parts } of keys) {
    const value = appended(
      parts.map((part) => pieces(part)),
      command.separator,
    );
    assign(compiler, name, compiler.made("keyword", value, command.at, input));
  }
}

function appended(texts: readonly Sql[], separator: string): Sql {
  const all = texts.reduce<Sql | undefined>(
    (before, text) => (before ? sql`${before} || ${separator} || ${text}` : text),
    undefined,
  );
  return sql`(${all ?? raw("NULL")})`;
}

export function compileGrok(compiler: Compiler, command: Extract<Command, { kind: "grok" }>): void {
  const input = inputText(compiler, command.input, "Grok");
  const { regex, groups, fields } = readGrok(command.pattern, command.at);
  const pieces = extracted(compiler, input, regex, groups);
  for (const { name, type, places } of fields) {
    const target = types[type];
    // A part of the pattern that took no part in the match has no text.
    const values = places.map((place) => sql`TRY_CAST(nullif(${pieces(place)}, '') AS ${sqlType(target)})`);
    const [only] = values;
    if (values.length === 1 && only) {
      assign(compiler, name, compiler.made(target, only, command.at, input));
      continue;
    }
    const list = sql`nullif(list_filter([${joined(values, ", ")}], lambda v: v IS NOT NULL), [])`;
    assign(compiler, name, { ...compiler.made(target, list, command.at, input), multi: true });
  }
}

const types: Readonly<Record<GrokType, DataType>> = {
  keyword: "keyword",
  int: "integer",
  long: "long",
  float: "double",
  double: "double",
  boolean: "boolean",
};

function inputText(compiler: Compiler, node: Expression, command: string): Typed {
  const value = compiler.expression(node);
  if (value.type === "null") return nullTyped(node.at, "keyword");
  if (!isString(value.type) && value.type !== "unknown") {
    compiler.problems.mismatch(
      node.at,
      `${command} only supports KEYWORD or TEXT values, found expression [${compiler.text(node.at)}] type [${value.type.toUpperCase()}]`,
    );
  }
  return compiler.hoist(compiler.single(value));
}

/** The groups of a regular expression, by their place from 0; NULL when it does not match. */
function extracted(compiler: Compiler, input: Typed, regex: string, groups: number): (place: number) => Sql {
  if (groups === 0) throw parsingError(input.at, "the pattern has no field");
  const { pipeline } = compiler;
  const matches = pipeline.use(pipeline.place(sql`regexp_matches(${input.sql}, ${regex})`));
  return (place) =>
    sql`CASE WHEN ${matches} THEN regexp_extract(${input.sql}, ${regex}, ${raw(String(place + 1))}) END`;
}
