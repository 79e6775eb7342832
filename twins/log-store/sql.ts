/**
 * SQL in pieces. A value never becomes SQL text: it is bound when the statement runs; numbers alone may be written out, by
 * `withNumbersWritten`. A name becomes text only through `identifier`, which quotes it.
 */

import type { CachedTable } from "./cached-table.ts";

/** What may be bound. `bigint` is bound as a 64-bit integer (or wider), `number` as a double. */
export type SqlValue = string | number | bigint | boolean | null;

/** A place in a piece of SQL: in the text of this number, before the character of this number. */
export interface Place {
  readonly text: number;
  readonly at: number;
}

/** A part of a piece of SQL of which it is known what it is good for. */
export interface OptionalPart {
  /** The column that it gives, where nobody reads which it may be left out; `undefined`: it stays. */
  readonly column: string | undefined;
  /** Whether its names are those of tables, and of no column that a part gives. */
  readonly readsTables: boolean;
  readonly start: Place;
  readonly end: Place;
}

/** A piece of SQL: texts, with a value between each two of them. */
export class Sql {
  readonly texts: readonly string[];
  readonly values: readonly SqlValue[];
  /** In the order in which they stand; none holds another. See `needed-columns.ts`. */
  readonly optional: readonly OptionalPart[];
  /** The cached tables that it reads. */
  readonly cached: readonly CachedTable[];

  /** @param texts one more than `values` */
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

  /** The statement with `$1`, `$2`, … where its values are bound. */
  get text(): string {
    return this.texts.reduce((text, next, index) => `${text}$${index}${next}`);
  }
}

/** Tag of a template: what stands in `${…}` is bound, unless it is SQL itself. */
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

/** The pieces with a text between each two of them. */
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
 * JSON that is bound for DuckDB to read. Its reader refuses half of a surrogate pair, which a JavaScript string may hold: that
 * becomes U+FFFD, as it does in a text that is bound.
 */
export function jsonParameter(value: unknown): string {
  const text = JSON.stringify(value);
  // Halves alone are written as escapes.
  return text.includes("\\ud") ? JSON.stringify(value, wellFormed) : text;
}

function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** A quoted name: a column, a table, an alias. */
export function identifier(name: string): Sql {
  return new Sql([`"${databaseName(name).replaceAll('"', '""')}"`], []);
}

/** The name that the database has for a column: no statement may hold a NUL, so U+E000 escapes it and itself. */
export function databaseName(name: string): string {
  return /[\0\ue000]/.test(name)
    ? name.replaceAll("\ue000", "\ue000\ue000").replaceAll("\0", "\ue0000")
    : name;
}

/** SQL text of this program's own, never of a request. */
export function raw(text: string): Sql {
  return new Sql([text], []);
}

/** A cached table, where a statement reads one. */
export function cachedTable(table: CachedTable): Sql {
  return new Sql([`memory.main.${table.table}`], [], [], [table]);
}

/**
 * A text written into the SQL itself: for patterns, which DuckDB compiles once when it knows them while planning, and for names of
 * fields in statements that take no parameters. Never for a value.
 */
export function textLiteral(text: string): Sql {
  return raw(`'${text.replaceAll("'", "''")}'`);
}

/**
 * The statement with its values written out where all of them are numbers and truth values, of the types that they would be bound
 * as. DuckDB plans a statement with bound values at each run, and one without once.
 */
export function withNumbersWritten(statement: Sql): Pick<Sql, "text" | "values"> {
  const { texts, values } = statement;
  if (values.length === 0 || values.some((value) => typeof value === "string")) return statement;
  return { text: texts.reduce((text, next, index) => text + literal(values[index - 1]) + next), values: [] };
}

/** Never begins with a sign: `-` before it would begin a comment. */
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
    // The members one by one: a search moves some thousands of parts.
    optional.push({ column, readsTables, start: moved(start, text, before), end: moved(end, text, before) });
  }
  texts[texts.length - 1] += part.texts[0] ?? "";
  for (let index = 0; index < part.values.length; index++) {
    values.push(part.values[index] ?? null);
    texts.push(part.texts[index + 1] ?? "");
  }
}

/** Where a place is when its piece goes on from these. */
function moved({ text, at }: Place, texts: number, characters: number): Place {
  return { text: text + texts, at: text === 0 ? at + characters : at };
}
