/** Replaces the rows of all tables, inside an open transaction. */

import type { Problem } from "@offhook/platform/world/world";
import pg from "pg";
import type { Catalogue, Queryable } from "./catalogue.ts";
import type { TextRow } from "./checked-rows.ts";
import { insertRows } from "./insert-rows.ts";

/**
 * The application's triggers are disabled meanwhile, since the rows are restored, not created.
 * @returns the problems; with any, the caller rolls back
 */
export async function replaceRows(
  client: Queryable,
  catalogue: Catalogue,
  rows: TextRow[],
): Promise<Problem[]> {
  const tables = [...catalogue.tables.values()];
  if (tables.length === 0) return [];
  await client.query("SELECT set_config('offhook.quiet', 'on', true)");
  const triggers = tables.flatMap((table) =>
    table.triggers.map((trigger) => ({ table: table.sql, ...trigger })),
  );
  for (const { table, name } of triggers) {
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${pg.escapeIdentifier(name)}`);
  }
  await client.query(`TRUNCATE ${tables.map(({ sql }) => sql).join(", ")}`);
  const problems = await insertRows(client, rows);
  if (problems.length > 0) return problems;
  for (const { table, name, mode } of triggers) {
    const way = mode === "A" ? "ENABLE ALWAYS" : mode === "R" ? "ENABLE REPLICA" : "ENABLE";
    await client.query(`ALTER TABLE ${table} ${way} TRIGGER ${pg.escapeIdentifier(name)}`);
  }
  await client.query("SELECT set_config('offhook.quiet', 'off', true)");
  const notice = JSON.stringify({ change: "load", tables: tables.map(({ name }) => name) });
  await client.query("SELECT offhook_watch.tell($1)", [notice]);
  return [];
}
