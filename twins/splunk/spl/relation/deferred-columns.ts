/**
 * Columns that are made late: of the rows that are shown, and of no others.
 *
 * To put a million events in order, to number them or to look from each at those before it takes few of their columns. The others
 * (an event's text, what is found in it) are many times as large, and so is the work of making them. So a relation of events says,
 * beside the SELECT of all its rows, how the columns of single rows are made, once it is known which rows they are. What depends
 * on other rows too, a window or a place in the order, is found together with the row: it is carried along in hidden columns.
 */
import { columnsIfRead, givingOnly } from "@offhook/log-store/needed-columns";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";

/** The hidden column with the row's number in the store. */
export const ROW = "#event";
const row = identifier(ROW);

export interface DeferredColumns {
  /** The SELECT of all the rows. A relation that has another one by now has changed in a way that nothing is known of here. */
  readonly of: Sql;
  /** Hidden columns of `of` that `select` reads: `#event` and those that depend on other rows. */
  readonly passthrough: readonly string[];
  /** @param found gives `carried` of some rows @returns the relation's columns of these rows, and `#event`; no order keys */
  select(found: Sql): Sql;
}

/** @param rows a relation */
export function deferredOf({
  deferred,
  select,
}: {
  deferred?: DeferredColumns;
  select: Sql;
}): DeferredColumns | undefined {
  return deferred?.of === select ? deferred : undefined;
}

/** The same rows, or fewer, or more of their order: what single rows are stays. */
export function keepDeferred(deferred: DeferredColumns | undefined, of: Sql): { deferred?: DeferredColumns } {
  return deferred === undefined ? {} : { deferred: { ...deferred, of } };
}

/** Other columns of the same rows. @param columns of the late SELECT, by which they are made */
export function projectDeferred(
  deferred: DeferredColumns | undefined,
  of: Sql,
  columns: readonly { column: string; value: Sql }[],
): { deferred?: DeferredColumns } {
  if (deferred === undefined || columns.some(({ value }) => makesMoreRows(value))) return {};
  const select = (found: Sql) =>
    sql`SELECT ${columnsIfRead(columns, [row])} FROM (${deferred.select(found)}) AS r`;
  return { deferred: { ...deferred, of, select } };
}

/** The hidden columns that have to go on with the rows. */
export function passthroughItems(deferred: DeferredColumns | undefined): { column: string; value: Sql }[] {
  return (deferred?.passthrough ?? []).map((column) => ({ column, value: identifier(column) }));
}

const readsOtherRows = /\bOVER\b|(?<!\.)"#order/;
const multipliesRows = /\b(unnest|generate_subscripts)\s*\(/i;

/** Whether a value depends on more than what stands in its row. */
export function dependsOnOthers({ texts }: Sql): boolean {
  return texts.some((text) => readsOtherRows.test(text));
}

function makesMoreRows({ texts }: Sql): boolean {
  return texts.some((text) => multipliesRows.test(text));
}

export interface WithPassthrough {
  select: Sql;
  deferred: DeferredColumns;
  /** The columns, in the order of the values. */
  values: Sql[];
}

/** With these values in columns that are carried along. */
export function addPassthrough(
  select: Sql,
  deferred: DeferredColumns,
  values: readonly Sql[],
): WithPassthrough {
  const names = passthroughNames(deferred, values.length);
  const items = names.map((column, index) => ({ column, value: values[index] ?? raw("NULL") }));
  const of = sql`SELECT ${columnsIfRead(items, [raw("*")])} FROM (${select}) AS r`;
  return { select: of, values: names.map(identifier), deferred: joinPassthrough(deferred, of, names) };
}

/** Names for columns that are to be carried along. */
export function passthroughNames(deferred: DeferredColumns, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `#carried${deferred.passthrough.length + index}`);
}

/** @param of the rows with these columns, too */
export function joinPassthrough(
  deferred: DeferredColumns,
  of: Sql,
  names: readonly string[],
): DeferredColumns {
  const found = names.map((column) => ({ column, value: sql`k.${identifier(column)}` }));
  const select = (rows: Sql) =>
    sql`SELECT ${columnsIfRead(found, [raw("r.*")])} FROM (${deferred.select(rows)}) AS r JOIN (${rows}) AS k ON r.${row} = k.${row}`;
  return { of, passthrough: [...deferred.passthrough, ...names], select };
}

/** A name for what stands in a WITH around another piece of SQL, which may name its own there. */
export function unusedName(name: string, inner: Sql): Sql {
  const taken = inner.texts.filter((text) => text.includes(name)).join("");
  let free = name;
  while (taken.includes(`"${free}"`)) free += "'";
  return identifier(free);
}

/** Rows of `late.of` with their columns, what is carried with them, and their order keys. @param which `ORDER BY … LIMIT …`, `WHERE …` */
export function fetchRows(deferred: DeferredColumns, keys: readonly Sql[], which: Sql): Sql {
  const found = givingOnly(
    deferred.passthrough,
    sql`SELECT ${columnsIfRead(passthroughItems(deferred), [...keys, row])} FROM (${deferred.of}) AS r ${which}`,
  );
  const own = keys.map((key) => sql`k.${key}`);
  const passthrough = deferred.passthrough
    .filter((column) => column !== ROW)
    .map((column) => ({ column, value: sql`k.${identifier(column)}` }));
  const name = unusedName("#found", deferred.of);
  return sql`WITH ${name} AS MATERIALIZED (${found}) SELECT ${columnsIfRead(passthrough, [raw("w.*"), ...own])} FROM (${deferred.select(sql`SELECT * FROM ${name}`)}) AS w JOIN ${name} AS k ON w.${row} = k.${row}`;
}
