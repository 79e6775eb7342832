/** DISSECT and GROK: columns extracted from a text. In a row of several texts every text that matches contributes. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import { parsingError } from "../errors.ts";
import type { Command, Expression } from "../syntax.ts";
import { nullTyped, type Typed } from "../typed.ts";
import { type DataType, isString, sqlType } from "../types.ts";
import { readDissect } from "./dissect-pattern.ts";
import { assign } from "./eval.ts";
import { type GrokType, readGrok } from "./grok-pattern.ts";

export function compileDissect(compiler: Compiler, command: Extract<Command, { kind: "dissect" }>): void {
  const { regex, groups, keys } = readDissect(command.pattern, command.at);
  const extract = createExtraction(compiler, inputText(compiler, command.input, "Dissect"), regex, groups);
  for (const { name, parts } of keys) {
    const value = extract("keyword", (piece) => [appendTexts(parts.map(piece), command.separator)]);
    assign(compiler, name, value);
  }
}

function appendTexts(texts: readonly Sql[], separator: string): Sql {
  const all = texts.reduce<Sql | undefined>(
    (before, text) => (before ? sql`${before} || ${separator} || ${text}` : text),
    undefined,
  );
  return sql`(${all ?? raw("NULL")})`;
}

export function compileGrok(compiler: Compiler, command: Extract<Command, { kind: "grok" }>): void {
  const { regex, groups, fields, always } = readGrok(command.pattern, command.at);
  const input = inputText(compiler, command.input, "Grok");
  if (groups === 0) return;
  const extract = createExtraction(compiler, input, regex, groups);
  for (const { name, type, places } of fields) {
    const target = types[type];
    // A group outside of the match yields no text.
    const value = extract(target, (piece) =>
      places.map((place) => {
        const text = always.has(place) ? piece(place) : sql`nullif(${piece(place)}, '')`;
        return sql`TRY_CAST(${text} AS ${sqlType(target)})`;
      }),
    );
    assign(compiler, name, value);
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
  return compiler.hoist(value);
}

/** A capture group of a matching text, by index. */
type Piece = (place: number) => Sql;
/** Makes a column from the pieces of every matching text. */
type Extraction = (type: DataType, values: (piece: Piece) => readonly Sql[]) => Typed;

function createExtraction(compiler: Compiler, input: Typed, regex: string, groups: number): Extraction {
  if (groups === 0) throw parsingError(input.at, "the pattern has no field");
  const pieceOf =
    (text: Sql): Piece =>
    (place) =>
      sql`regexp_extract(${text}, ${regex}, ${raw(String(place + 1))})`;
  const { pipeline } = compiler;
  if (!input.multi) {
    const matches = pipeline.use(pipeline.place(sql`regexp_matches(${input.sql}, ${regex})`));
    return (type, values) => {
      const made = values(pieceOf(input.sql));
      const [only] = made;
      if (made.length === 1 && only)
        return compiler.derive(type, sql`CASE WHEN ${matches} THEN ${only} END`, input.at, input);
      const several = withoutNulls(sql`[${joined(made, ", ")}]`);
      return {
        ...compiler.derive(type, sql`CASE WHEN ${matches} THEN ${several} END`, input.at, input),
        multi: true,
      };
    };
  }
  const matching = pipeline.use(
    pipeline.place(sql`list_filter(${input.sql}, lambda t: regexp_matches(t, ${regex}))`),
  );
  return (type, values) => {
    const made = joined(values(pieceOf(raw("t"))), ", ");
    const each = sql`flatten(list_transform(${matching}, lambda t: [${made}]))`;
    return { ...compiler.derive(type, withoutNulls(each), input.at, input), multi: true };
  };
}

/** Removes NULLs from a list; NULL for none left. */
function withoutNulls(values: Sql): Sql {
  return sql`nullif(list_filter(${values}, lambda v: v IS NOT NULL), [])`;
}
