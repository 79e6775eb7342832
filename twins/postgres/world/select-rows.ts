/** Reads rows, and builds the conditions that select them. */

import {
  type Page,
  type PageRequest,
  type Problem,
  type Row,
  WorldRefusal,
} from "@offhook/platform/world/world";
import pg from "pg";
import type { Column, Queryable, Table } from "./catalogue.ts";
import { unknownColumn } from "./checked-rows.ts";
import { decodeValue } from "./values.ts";

/** A WHERE clause or an empty text, with its values. */
export interface Selection {
  sql: string;
  values: (string | null)[];
}

/** Each column equals its value. @param values receives the values of the clause */
export function whereClause(texts: Map<Column, string | null>, values: (string | null)[]): string {
  const conditions = [...texts].map(([column, text]) => {
    const name = pg.escapeIdentifier(column.name);
    if (text === null) return `${name} IS NULL`;
    values.push(text);
    return column.value.kind === "json"
      ? `${name}::jsonb = $${values.length}::text::jsonb`
      : `${name} = $${values.length}::text::${column.castName}`;
  });
  return conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
}

/** The filters of a query string as a clause. @throws WorldRefusal */
export async function textSelection(
  client: Queryable,
  table: Table,
  where: Record<string, string>,
): Promise<Selection> {
  const values: (string | null)[] = [];
  const sql = whereClause(await textConditions(client, table, where), values);
  return { sql, values };
}

/** The filters of a query string: values are in the type's text form. @throws WorldRefusal */
export async function textConditions(
  client: Queryable,
  table: Table,
  where: Record<string, string>,
): Promise<Map<Column, string | null>> {
  const texts = new Map<Column, string | null>();
  const problems: Problem[] = [];
  for (const [name, text] of Object.entries(where)) {
    const column = table.columns.find((candidate) => candidate.name === name);
    if (!column) {
      problems.push(unknownColumn(table, name));
      continue;
    }
    if (text === "null" && !["text", "array"].includes(column.value.kind)) {
      texts.set(column, null);
      continue;
    }
    const { rows } = await client.query<{ message: string | null }>(
      "SELECT message FROM pg_input_error_info($1, $2)",
      [text, column.castName],
    );
    const message = rows[0]?.message;
    if (message) {
      const rule = `expected ${column.typeName}: ${message}`;
      problems.push({ table: table.name, column: name, value: text, rule });
    }
    texts.set(column, text);
  }
  if (problems.length > 0) throw new WorldRefusal(problems);
  return texts;
}

/**
 * @param part a page, ordered by key; or `stored`: all rows in their physical order, without generated columns, so that inserting them
 *   in this order recreates the table
 */
export async function readRows(
  client: Queryable,
  table: Table,
  selection: Selection,
  part: PageRequest | "stored",
): Promise<Page> {
  const columns = part === "stored" ? table.columns.filter(({ generated }) => !generated) : table.columns;
  const list = columns.map(({ name }) => `${pg.escapeIdentifier(name)}::text`).join(", ");
  const key = table.primaryKey.map((name) => pg.escapeIdentifier(name)).join(", ");
  const order = part === "stored" || key === "" ? "tableoid, ctid" : key;
  const page = part === "stored" ? "" : `LIMIT ${Math.trunc(part.limit)} OFFSET ${Math.trunc(part.offset)}`;
  const source = part === "stored" && !table.partitioned ? `ONLY ${table.sql}` : table.sql;
  const { rows } = await client.query<(string | null)[]>({
    text: `SELECT ${list} FROM ${source} ${selection.sql} ORDER BY ${order} ${page}`,
    values: selection.values,
    rowMode: "array",
  });
  if (part === "stored") return { rows: rows.map((texts) => rowOf(columns, texts)), total: rows.length };
  const count = await client.query<{ total: string }>(
    `SELECT count(*) AS total FROM ${table.sql} ${selection.sql}`,
    selection.values,
  );
  return { rows: rows.map((texts) => rowOf(columns, texts)), total: Number(count.rows[0]?.total) };
}

function rowOf(columns: Column[], texts: (string | null)[]): Row {
  return Object.fromEntries(
    columns.map(({ name, value }, i) => [name, decodeValue(value, texts[i] ?? null)]),
  );
}
