/**
 * Deferred columns: late materialization. A column is computed only for the rows that are shown.
 *
 * Sorting, numbering or windowing a million events reads few of their columns. The others (an event's text, the fields found in it)
 * are many times as large, and so is the work of computing them. So a relation of events carries, beside the SELECT of all its
 * rows, a second one that computes the columns of given rows. What depends on other rows as well (a window, a position in the
 * order) is computed with the first SELECT and passed through in hidden columns.
 */
import { prunableColumns, pruneTo } from "@offhook/log-store/column-pruning";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";

/** The hidden column with the event's number in the store. */
export const ROW = "#event";
const row = identifier(ROW);

export interface DeferredColumns {
  /** The SELECT of all rows. Stale once the relation has another one: `deferredOf` checks that. */
  readonly of: Sql;
  /** Hidden columns of `of` that `select` reads: `#event` and those computed from other rows. */
  readonly passthrough: readonly string[];
  /** @param found gives the passthrough columns of some rows @returns the relation's columns of these rows and `#event`, without order keys */
  select(found: Sql): Sql;
}

/** The deferred columns of a relation, unless they are stale. */
export function deferredOf({
  deferred,
  select,
}: {
  deferred?: DeferredColumns;
  select: Sql;
}): DeferredColumns | undefined {
  return deferred?.of === select ? deferred : undefined;
}

/** Keeps the deferred columns for a SELECT that filters, limits or reorders the rows and changes no row. */
export function keepDeferred(deferred: DeferredColumns | undefined, of: Sql): { deferred?: DeferredColumns } {
  return deferred === undefined ? {} : { deferred: { ...deferred, of } };
}

/** Deferred columns after a projection. @param columns the new columns, as SQL over the old ones */
export function projectDeferred(
  deferred: DeferredColumns | undefined,
  of: Sql,
  columns: readonly { column: string; value: Sql }[],
): { deferred?: DeferredColumns } {
  if (deferred === undefined || columns.some(({ value }) => makesMoreRows(value))) return {};
  const select = (found: Sql) =>
    sql`SELECT ${prunableColumns(columns, [row])} FROM (${deferred.select(found)}) AS r`;
  return { deferred: { ...deferred, of, select } };
}

/** The hidden columns that every further SELECT has to pass through. */
export function passthroughItems(deferred: DeferredColumns | undefined): { column: string; value: Sql }[] {
  return (deferred?.passthrough ?? []).map((column) => ({ column, value: identifier(column) }));
}

const readsOtherRows = /\bOVER\b|(?<!\.)"#order/;
const multipliesRows = /\b(unnest|generate_subscripts)\s*\(/i;

/** Whether an expression reads other rows than its own. */
export function dependsOnOthers({ texts }: Sql): boolean {
  return texts.some((text) => readsOtherRows.test(text));
}

function makesMoreRows({ texts }: Sql): boolean {
  return texts.some((text) => multipliesRows.test(text));
}

export interface WithPassthrough {
  select: Sql;
  deferred: DeferredColumns;
  /** The new columns, in the order of the values. */
  values: Sql[];
}

/** Computes values as passthrough columns. */
export function addPassthrough(
  select: Sql,
  deferred: DeferredColumns,
  values: readonly Sql[],
): WithPassthrough {
  const names = passthroughNames(deferred, values.length);
  const items = names.map((column, index) => ({ column, value: values[index] ?? raw("NULL") }));
  const of = sql`SELECT ${prunableColumns(items, [raw("*")])} FROM (${select}) AS r`;
  return { select: of, values: names.map(identifier), deferred: joinPassthrough(deferred, of, names) };
}

/** Names for new passthrough columns. */
export function passthroughNames(deferred: DeferredColumns, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `#passthrough${deferred.passthrough.length + index}`);
}

/** Adds passthrough columns. @param of the SELECT of all rows, with these columns */
export function joinPassthrough(
  deferred: DeferredColumns,
  of: Sql,
  names: readonly string[],
): DeferredColumns {
  const found = names.map((column) => ({ column, value: sql`k.${identifier(column)}` }));
  const select = (rows: Sql) =>
    sql`SELECT ${prunableColumns(found, [raw("r.*")])} FROM (${deferred.select(rows)}) AS r JOIN (${rows}) AS k ON r.${row} = k.${row}`;
  return { of, passthrough: [...deferred.passthrough, ...names], select };
}

/** A name for a WITH around SQL that may have its own: `name`, with primes appended as needed. */
export function unusedName(name: string, inner: Sql): Sql {
  const taken = inner.texts.filter((text) => text.includes(name)).join("");
  let free = name;
  while (taken.includes(`"${free}"`)) free += "'";
  return identifier(free);
}

/** Picks rows of `deferred.of` and fetches their columns, passthrough columns and order keys. @param which `ORDER BY … LIMIT …`, `WHERE …` */
export function fetchRows(deferred: DeferredColumns, keys: readonly Sql[], which: Sql): Sql {
  const found = pruneTo(
    deferred.passthrough,
    sql`SELECT ${prunableColumns(passthroughItems(deferred), [...keys, row])} FROM (${deferred.of}) AS r ${which}`,
  );
  const own = keys.map((key) => sql`k.${key}`);
  const passthrough = deferred.passthrough
    .filter((column) => column !== ROW)
    .map((column) => ({ column, value: sql`k.${identifier(column)}` }));
  const name = unusedName("#found", deferred.of);
  return sql`WITH ${name} AS MATERIALIZED (${found}) SELECT ${prunableColumns(passthrough, [raw("w.*"), ...own])} FROM (${deferred.select(sql`SELECT * FROM ${name}`)}) AS w JOIN ${name} AS k ON w.${row} = k.${row}`;
}
