/** Rows that are here, not in the database: results, lookup tables, what a command makes itself. */

import { CachedTable, type CachedValue } from "@offhook/log-store/cached-table";
import { columnsIfRead } from "@offhook/log-store/needed-columns";
import { cachedTable, identifier, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { type Column, type Relation, uniqueColumnNames } from "./relation.ts";

export interface RowField {
  name: string;
  type: "text" | "number";
  multi: boolean;
  groupRank?: number;
}

/** Values stand in the order of `fields`; missing ones are `null`; a multi-value is an array and never empty. */
export interface Rows {
  fields: readonly RowField[];
  rows: readonly ResultValue[][];
}

/** No rows, and no fields. */
export const emptyRows: Rows = { fields: [], rows: [] };

/** The rows as a relation, in their order. They travel as one bound value. */
export function relationOf(rows: Rows, kind: Relation["kind"] = "report"): Relation {
  const columns = columnsOf(rows);
  const structure = columns.map(({ type, multi }, index) => {
    const one = type === "text" ? "VARCHAR" : "DOUBLE";
    return [`c${index}`, multi ? [one] : one] as const;
  });
  const shape = JSON.stringify([Object.fromEntries([...structure, ["n", "BIGINT"]])]);
  return fromSource(
    columns,
    sql`(SELECT unnest(from_json(${jsonOf(rows)}, ${shape})) AS v)`,
    raw("v."),
    kind,
  );
}

/** Fewer rows travel faster than they are kept, and more than these would take the room of all others. */
const MIN_CACHED_ROWS = 50;
const MAX_CACHED_BYTES = 16 << 20;

const cachedTables = new WeakMap<Rows, CachedTable>();

/**
 * The same for rows that many searches read: the database keeps them, as long as they are this same object.
 * @param of what they are the rows of; later ones of the same name take their place
 */
export function cachedRelationOf(rows: Rows, of: string): Relation {
  if (rows.rows.length < MIN_CACHED_ROWS) return relationOf(rows);
  const columns = columnsOf(rows);
  const kept =
    cachedTables.get(rows) ??
    new CachedTable(
      of,
      columns.map(({ type, multi }, index) => ({ name: `c${index}`, type, multi })),
      rows.rows.map((row) => row.map((value, index) => cachedValue(value, columns[index]))),
    );
  cachedTables.set(rows, kept);
  if (kept.bytes > MAX_CACHED_BYTES) return relationOf(rows);
  return fromSource(columns, cachedTable(kept), raw(""), "report");
}

/** As the column's type says. */
function cachedValue(value: ResultValue, column: Column | undefined): CachedValue {
  if (value === null) return null;
  const one = (single: ResultValue) => (column?.type === "number" ? Number(single) : String(single));
  if (column?.multi) return (Array.isArray(value) ? value : [value]).map(one);
  return one(value);
}

function columnsOf({ fields }: Rows): Column[] {
  const names = uniqueColumnNames(fields.map(({ name }) => name));
  return fields.map((field, index): Column => ({ ...field, column: names[index] ?? field.name }));
}

/** @param source gives `c0`, …, and `n`, the number of the row @param prefix of their names */
function fromSource(columns: readonly Column[], source: Sql, prefix: Sql, kind: Relation["kind"]): Relation {
  const items = columnsIfRead(
    columns.map(({ column }, index) => ({ column, value: sql`${prefix}${identifier(`c${index}`)}` })),
    [sql`${prefix}n AS "#order0"`],
  );
  return {
    select: sql`SELECT ${items} FROM ${source}`,
    columns,
    order: [{ column: "#order0", direction: "ASC" }],
    kind,
  };
}

/** A value as its field's type says. */
export function asField({ type, multi }: RowField, value: ResultValue): ResultValue {
  if (value === null) return null;
  const values = (Array.isArray(value) ? value : [value]).map((one) => (type === "text" ? String(one) : one));
  return multi ? values : (values[0] ?? null);
}

/** The rows as an array of objects. Written cell by cell: an object of many columns takes many times as long to make. */
function jsonOf({ fields, rows }: Rows): string {
  const keys = fields.map((_, index) => `"c${index}":`);
  const objectOf = (row: readonly ResultValue[], n: number) => {
    let text = "{";
    for (const [index, key] of keys.entries()) {
      const value = row[index] ?? null;
      if (value !== null) text += `${key}${jsonParameter(plain(value))},`;
    }
    return `${text}"n":${n}}`;
  };
  return `[${rows.map(objectOf).join(",")}]`;
}

/** As JSON can say it. */
function plain(value: ResultValue): unknown {
  if (typeof value === "bigint") return value.toString();
  return Array.isArray(value) ? value.map(plain) : value;
}

/** Rows of several searches one after the other; a field is in the rows of those that have it. */
export function concatRows(parts: readonly Rows[]): Rows {
  const fields = new Map<string, RowField>();
  for (const { name, type, multi } of parts.flatMap((part) => part.fields)) {
    const known = fields.get(name);
    const both = known === undefined || known.type === type ? type : "text";
    fields.set(name, { name, type: both, multi: multi || known?.multi === true });
  }
  const all = [...fields.values()];
  const rows = parts.flatMap((part) => {
    const columns = all.map(({ name }) => part.fields.findIndex((field) => field.name === name));
    return part.rows.map((row) =>
      all.map((field, index) => asField(field, row[columns[index] ?? -1] ?? null)),
    );
  });
  return { fields: all, rows };
}
