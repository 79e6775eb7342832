/** Changes rows inside an open transaction, and finds all problems when Postgres refuses the change. */

import type { Problem } from "@offhook/platform/world/world";
import pg from "pg";
import { problemOf } from "./broken-rules.ts";
import type { Column, Queryable, Table } from "./catalogue.ts";
import { isRefusal } from "./insert-rows.ts";
import { whereClause } from "./select-rows.ts";
import { decodeValue } from "./values.ts";

type Texts = Map<Column, string | null>;

/**
 * Postgres names the first broken rule alone. So the rest is retried without the refused columns, until nothing is refused.
 * @returns the problems; with any, the caller rolls back
 */
export async function changeRows(
  client: Queryable,
  table: Table,
  where: Texts,
  changes: Texts,
): Promise<{ changed: number; problems: Problem[] }> {
  const problems: Problem[] = [];
  const left = new Map(changes);
  for (;;) {
    const outcome = await tryChange(client, table, where, left);
    if (typeof outcome === "number") return { changed: outcome, problems };
    const refused = refusedColumns(table, outcome).filter((column) => left.has(column));
    const [only] = refused;
    const one = only && refused.length === 1 ? { column: only.name, value: givenValue(only, left) } : {};
    problems.push({ ...problemOf(outcome, { table }), ...one });
    for (const column of refused) left.delete(column);
    if (refused.length === 0 || left.size === 0) return { changed: 0, problems };
  }
}

async function tryChange(
  client: Queryable,
  table: Table,
  where: Texts,
  changes: Texts,
): Promise<number | pg.DatabaseError> {
  const values: (string | null)[] = [];
  const assignments = [...changes].map(([column, text]) => {
    values.push(text);
    return `${pg.escapeIdentifier(column.name)} = $${values.length}::text::${column.castName}`;
  });
  await client.query("SAVEPOINT change");
  try {
    const sql = `UPDATE ${table.sql} SET ${assignments.join(", ")} ${whereClause(where, values)}`;
    const { rowCount } = await client.query(sql, values);
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
    return rowCount ?? 0;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await client.query("ROLLBACK TO SAVEPOINT change");
    return error;
  }
}

/** The columns of the broken rule. */
function refusedColumns(table: Table, error: pg.DatabaseError): Column[] {
  const rules = [...table.checks, ...table.uniques, ...table.foreignKeys];
  const names = rules.find(({ name }) => name === error.constraint)?.columns ?? [error.column];
  return table.columns.filter(({ name }) => names.includes(name));
}

function givenValue(column: Column, texts: Texts): unknown {
  return decodeValue(column.value, texts.get(column) ?? null);
}
