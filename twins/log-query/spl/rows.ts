/** Rows that are here, not in the database: results, lookup tables, what a command makes itself. */

import { columnsIfRead } from "../../datasets/needed-columns.ts";
import { identifier, sql } from "../../datasets/sql.ts";
import type { ResultValue } from "../../datasets/store/log-store.ts";
import { type Column, placed, type Relation } from "./relation.ts";

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

/** The rows as a relation, in their order. They travel as one bound value. */
export function relationOf(rows: Rows, kind: Relation["kind"] = "report"): Relation {
  const names = placed(rows.fields.map(({ name }) => name));
  const columns = rows.fields.map(
    (field, index): Column => ({ ...field, column: names[index] ?? field.name }),
  );
  const structure = columns.map(({ type, multi }, index) => {
    const one = type === "text" ? "VARCHAR" : "DOUBLE";
    return [`c${index}`, multi ? [one] : one] as const;
  });
  const shape = JSON.stringify([Object.fromEntries([...structure, ["n", "BIGINT"]])]);
  const text = JSON.stringify(
    rows.rows.map((row, n) =>
      Object.fromEntries([...row.map((value, index) => [`c${index}`, plain(value)]), ["n", n]]),
    ),
  );
  const items = columnsIfRead(
    columns.map(({ column }, index) => ({ column, value: sql`v.${identifier(`c${index}`)}` })),
    [sql`v.n AS "#order0"`],
  );
  return {
    select: sql`SELECT ${items} FROM (SELECT unnest(from_json(${text}, ${shape})) AS v)`,
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

/** As JSON can say it. */
function plain(value: ResultValue): unknown {
  if (typeof value === "bigint") return value.toString();
  return Array.isArray(value) ? value.map(plain) : value;
}

/** Rows of several searches one after the other; a field is in the rows of those that have it. */
export function stacked(parts: readonly Rows[]): Rows {
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
