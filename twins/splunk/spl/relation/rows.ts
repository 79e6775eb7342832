/** Rows in memory: results, lookup tables, rows that a command makes itself. */

import { CachedTable, type CachedValue } from "@offhook/log-store/cached-table";
import { prunableColumns } from "@offhook/log-store/column-pruning";
import { cachedTable, identifier, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { type Column, type Relation, uniqueColumnNames } from "./relation.ts";

export interface RowField {
  name: string;
  type: "text" | "number";
  multi: boolean;
  groupRank?: number;
}

/** Each row has its values in the order of `fields`. A missing value is `null`; a multi-value is an array and never empty. */
export interface Rows {
  fields: readonly RowField[];
  rows: readonly ResultValue[][];
}

/** No rows, and no fields. */
export const emptyRows: Rows = { fields: [], rows: [] };

/** The rows as a relation, in their order. They are bound to the statement as one JSON value. */
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

/** Binding fewer rows is faster than caching them. */
const MIN_CACHED_ROWS = 50;
/** A larger table would evict all others from the cache. */
const MAX_CACHED_BYTES = 16 << 20;

const cachedTables = new WeakMap<Rows, CachedTable>();

/**
 * The rows as a relation over a table that the database caches, for rows that many searches read.
 * @param rows the key of the cache, by identity
 * @param of names what the rows belong to; later rows of the same name replace them
 */
export function cachedRelationOf(rows: Rows, of: string): Relation {
  if (rows.rows.length < MIN_CACHED_ROWS) return relationOf(rows);
  const columns = columnsOf(rows);
  const table =
    cachedTables.get(rows) ??
    new CachedTable(
      of,
      columns.map(({ type, multi }, index) => ({ name: `c${index}`, type, multi })),
      rows.rows.map((row) => row.map((value, index) => cachedValue(value, columns[index]))),
    );
  cachedTables.set(rows, table);
  if (table.bytes > MAX_CACHED_BYTES) return relationOf(rows);
  return fromSource(columns, cachedTable(table), raw(""), "report");
}

/** Converts a value to its column's type. */
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

/** @param source gives the columns `c0`, … and `n`, the row's number @param prefix before their names */
function fromSource(columns: readonly Column[], source: Sql, prefix: Sql, kind: Relation["kind"]): Relation {
  const items = prunableColumns(
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

/** Converts a value to its field's type. */
export function asField({ type, multi }: RowField, value: ResultValue): ResultValue {
  if (value === null) return null;
  const values = (Array.isArray(value) ? value : [value]).map((one) => (type === "text" ? String(one) : one));
  return multi ? values : (values[0] ?? null);
}

/** The rows as a JSON array of objects. Text is written cell by cell: building objects of many columns takes many times as long. */
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

/** A value that JSON can represent. */
function plain(value: ResultValue): unknown {
  if (typeof value === "bigint") return value.toString();
  return Array.isArray(value) ? value.map(plain) : value;
}

/** Appends the rows of several searches. A field that a part lacks is `null` in its rows. */
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
