/**
 * SQL fragments. A value never becomes SQL text: it is bound when the statement runs. Numbers alone may become literals, by
 * `withNumberLiterals`. A name becomes text only through `identifier`, which quotes it.
 */

import type { CachedTable } from "./cached-table.ts";

/** A value to bind: `bigint` as a 64-bit integer or wider, `number` as a double. */
export type SqlValue = string | number | bigint | boolean | null;

/** A position in a fragment: the index of a text, and an offset in it. */
export interface Place {
  readonly text: number;
  readonly at: number;
}

/** A part of a fragment that column pruning knows; see `column-pruning.ts`. */
export interface OptionalPart {
  /** The column that the part defines: the part is removed when nothing reads the column. `undefined`: it stays. */
  readonly column: string | undefined;
  /** Whether it names columns of tables alone, and none that another part defines. */
  readonly readsTables: boolean;
  readonly start: Place;
  readonly end: Place;
}

/** A fragment of SQL: texts, with one value between each two. */
export class Sql {
  readonly texts: readonly string[];
  readonly values: readonly SqlValue[];
  /** In their order in the text; they do not overlap. */
  readonly optional: readonly OptionalPart[];
  /** The cached tables that it reads. */
  readonly cached: readonly CachedTable[];

  /** @param texts one more than there are values */
  constructor(
    texts: readonly string[],
    values: readonly SqlValue[],
    optional: readonly OptionalPart[] = [],
    cached: readonly CachedTable[] = [],
  ) {
    this.texts = texts;
    this.values = values;
    this.optional = optional;
    this.cached = cached;
  }

  /** The statement with `$1`, `$2`, … for its values. */
  get text(): string {
    return this.texts.reduce((text, next, index) => `${text}$${index}${next}`);
  }
}

/** Template tag: each `${…}` is bound as a value, unless it is a fragment. */
export function sql(strings: TemplateStringsArray, ...parts: (Sql | SqlValue)[]): Sql {
  const texts = [strings[0] ?? ""];
  const values: SqlValue[] = [];
  const optional: OptionalPart[] = [];
  const cached: CachedTable[] = [];
  parts.forEach((part, index) => {
    append(texts, values, optional, cached, part);
    texts[texts.length - 1] += strings[index + 1] ?? "";
  });
  return new Sql(texts, values, optional, cached);
}

/** Joins fragments with a separator. */
export function joined(pieces: readonly Sql[], separator: string): Sql {
  const texts = [""];
  const values: SqlValue[] = [];
  const optional: OptionalPart[] = [];
  const cached: CachedTable[] = [];
  pieces.forEach((piece, index) => {
    if (index > 0) texts[texts.length - 1] += separator;
    append(texts, values, optional, cached, piece);
  });
  return new Sql(texts, values, optional, cached);
}

/** `(value, value, …)`, each bound. */
export function list(values: readonly SqlValue[]): Sql {
  return sql`(${joined(
    values.map((value) => sql`${value}`),
    ", ",
  )})`;
}

/**
 * JSON to bind for DuckDB's JSON reader, with lone surrogates as U+FFFD: the reader rejects them, and a bound text replaces them, too.
 */
export function jsonParameter(value: unknown): string {
  const text = JSON.stringify(value);
  // JSON.stringify escapes lone surrogates.
  return text.includes("\\ud") ? JSON.stringify(value, replaceLoneSurrogates) : text;
}

function replaceLoneSurrogates(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** A quoted name: a column, a table, an alias. */
export function identifier(name: string): Sql {
  return new Sql([`"${databaseName(name).replaceAll('"', '""')}"`], []);
}

/** The name of a column in the database: no statement may hold a NUL, so U+E000 escapes it and itself. */
export function databaseName(name: string): string {
  return /[\0\ue000]/.test(name)
    ? name.replaceAll("\ue000", "\ue000\ue000").replaceAll("\0", "\ue0000")
    : name;
}

/** SQL text written by this program. Never pass text of a request. */
export function raw(text: string): Sql {
  return new Sql([text], []);
}

/** A cached table, where a statement reads one. */
export function cachedTable(table: CachedTable): Sql {
  return new Sql([`memory.main.${table.table}`], [], [], [table]);
}

/**
 * A text as a SQL literal: for patterns, which DuckDB compiles once if it knows them while planning, and for names of fields in
 * statements that take no parameters. Never for a value.
 */
export function textLiteral(text: string): Sql {
  return raw(`'${text.replaceAll("'", "''")}'`);
}

/**
 * The statement with its values as literals, of the types that they would be bound as, if all of them are numbers, booleans or NULL.
 * DuckDB plans a statement with parameters at each run, and one without once.
 */
export function withNumberLiterals(statement: Sql): Pick<Sql, "text" | "values"> {
  const { texts, values } = statement;
  if (values.length === 0 || values.some((value) => typeof value === "string")) return statement;
  return { text: texts.reduce((text, next, index) => text + literal(values[index - 1]) + next), values: [] };
}

/** Never starts with a sign: after a `-` it would start a comment. */
function literal(value: SqlValue | undefined): string {
  if (typeof value === "bigint") {
    return `CAST(${value} AS ${BigInt.asIntN(64, value) === value ? "BIGINT" : "HUGEINT"})`;
  }
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value !== "number") return "NULL";
  if (!Number.isFinite(value)) return `CAST('${value}' AS DOUBLE)`;
  const digits = Object.is(value, -0) ? "-0" : String(value);
  return `(${digits.includes("e") ? digits : `${digits}e0`})`;
}

function append(
  texts: string[],
  values: SqlValue[],
  optional: OptionalPart[],
  cached: CachedTable[],
  part: Sql | SqlValue,
): void {
  if (!(part instanceof Sql)) {
    values.push(part);
    texts.push("");
    return;
  }
  cached.push(...part.cached);
  const text = texts.length - 1;
  const before = texts[text]?.length ?? 0;
  for (const { column, readsTables, start, end } of part.optional) {
    // Spelled out, for a search moves thousands of parts.
    optional.push({ column, readsTables, start: shift(start, text, before), end: shift(end, text, before) });
  }
  texts[texts.length - 1] += part.texts[0] ?? "";
  for (let index = 0; index < part.values.length; index++) {
    values.push(part.values[index] ?? null);
    texts.push(part.texts[index + 1] ?? "");
  }
}

/** Shifts a position by the texts before its fragment, and by the characters in the last of them. */
function shift({ text, at }: Place, texts: number, characters: number): Place {
  return { text: text + texts, at: text === 0 ? at + characters : at };
}
