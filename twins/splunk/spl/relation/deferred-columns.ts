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

export interface Late {
  /** The SELECT of all the rows. A relation that has another one by now has changed in a way that nothing is known of here. */
  readonly of: Sql;
  /** Hidden columns of `of` that `select` reads: `#event` and those that depend on other rows. */
  readonly carried: readonly string[];
  /** @param found gives `carried` of some rows @returns the relation's columns of these rows, and `#event`; no order keys */
  select(found: Sql): Sql;
}

/** @param rows a relation */
export function lateOf({ late, select }: { late?: Late; select: Sql }): Late | undefined {
  return late?.of === select ? late : undefined;
}

/** The same rows, or fewer, or more of their order: what single rows are stays. */
export function sameColumns(late: Late | undefined, of: Sql): { late?: Late } {
  return late === undefined ? {} : { late: { ...late, of } };
}

/** Other columns of the same rows. @param columns of the late SELECT, by which they are made */
export function otherColumns(
  late: Late | undefined,
  of: Sql,
  columns: readonly { column: string; value: Sql }[],
): { late?: Late } {
  if (late === undefined || columns.some(({ value }) => makesMoreRows(value))) return {};
  const select = (found: Sql) =>
    sql`SELECT ${columnsIfRead(columns, [row])} FROM (${late.select(found)}) AS r`;
  return { late: { ...late, of, select } };
}

/** The hidden columns that have to go on with the rows. */
export function carriedItems(late: Late | undefined): { column: string; value: Sql }[] {
  return (late?.carried ?? []).map((column) => ({ column, value: identifier(column) }));
}

const ofManyRows = /\bOVER\b|(?<!\.)"#order/;
const ofMoreRows = /\b(unnest|generate_subscripts)\s*\(/i;

/** Whether a value depends on more than what stands in its row. */
export function dependsOnOthers({ texts }: Sql): boolean {
  return texts.some((text) => ofManyRows.test(text));
}

function makesMoreRows({ texts }: Sql): boolean {
  return texts.some((text) => ofMoreRows.test(text));
}

export interface Carrying {
  select: Sql;
  late: Late;
  /** The columns, in the order of the values. */
  values: Sql[];
}

/** With these values in columns that are carried along. */
export function carrying(select: Sql, late: Late, values: readonly Sql[]): Carrying {
  const names = freeColumns(late, values.length);
  const items = names.map((column, index) => ({ column, value: values[index] ?? raw("NULL") }));
  const of = sql`SELECT ${columnsIfRead(items, [raw("*")])} FROM (${select}) AS r`;
  return { select: of, values: names.map(identifier), late: alsoCarried(late, of, names) };
}

/** Names for columns that are to be carried along. */
export function freeColumns(late: Late, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `#carried${late.carried.length + index}`);
}

/** @param of the rows with these columns, too */
export function alsoCarried(late: Late, of: Sql, names: readonly string[]): Late {
  const found = names.map((column) => ({ column, value: sql`k.${identifier(column)}` }));
  const select = (rows: Sql) =>
    sql`SELECT ${columnsIfRead(found, [raw("r.*")])} FROM (${late.select(rows)}) AS r JOIN (${rows}) AS k ON r.${row} = k.${row}`;
  return { of, carried: [...late.carried, ...names], select };
}

/** A name for what stands in a WITH around another piece of SQL, which may name its own there. */
export function freeName(name: string, inner: Sql): Sql {
  const taken = inner.texts.filter((text) => text.includes(name)).join("");
  let free = name;
  while (taken.includes(`"${free}"`)) free += "'";
  return identifier(free);
}

/** Rows of `late.of` with their columns, what is carried with them, and their order keys. @param which `ORDER BY … LIMIT …`, `WHERE …` */
export function wholeRows(late: Late, keys: readonly Sql[], which: Sql): Sql {
  const found = givingOnly(
    late.carried,
    sql`SELECT ${columnsIfRead(carriedItems(late), [...keys, row])} FROM (${late.of}) AS r ${which}`,
  );
  const own = keys.map((key) => sql`k.${key}`);
  const carried = late.carried
    .filter((column) => column !== ROW)
    .map((column) => ({ column, value: sql`k.${identifier(column)}` }));
  const name = freeName("#found", late.of);
  return sql`WITH ${name} AS MATERIALIZED (${found}) SELECT ${columnsIfRead(carried, [raw("w.*"), ...own])} FROM (${late.select(sql`SELECT * FROM ${name}`)}) AS w JOIN ${name} AS k ON w.${row} = k.${row}`;
}
