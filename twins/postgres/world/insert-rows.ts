/** Inserts rows of many tables inside an open transaction, and finds all problems when Postgres refuses them. */

import type { Problem } from "@offhook/platform/world/world";
import pg from "pg";
import { findBrokenRules, problemOf } from "./broken-rules.ts";
import type { Queryable, Table } from "./catalogue.ts";
import type { TextRow } from "./checked-rows.ts";

/**
 * Rows may refer to one another in any order. The fast path is one statement per run of rows with the same columns, parents first. If
 * Postgres refuses that, rows are inserted one by one, to find the problems of each.
 * @returns the problems; with any, the caller rolls back
 */
export async function insertRows(client: Queryable, rows: TextRow[]): Promise<Problem[]> {
  if (rows.length === 0) return [];
  const ordered = sortParentsFirst(rows);
  await client.query("SAVEPOINT quick");
  try {
    for (const run of groupIntoRuns(ordered)) await insertRun(client, run);
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
    return [];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await client.query("ROLLBACK TO SAVEPOINT quick");
    return insertOneByOne(client, ordered, rows);
  }
}

/** A refusal of the data (class 22, 23, or a raised exception), not a failure of this program or the server. */
export function isRefusal(error: unknown): error is pg.DatabaseError {
  if (!(error instanceof pg.DatabaseError)) return false;
  return ["22", "23", "P0"].includes(error.code?.slice(0, 2) ?? "");
}

function sortParentsFirst(rows: TextRow[]): TextRow[] {
  const byTable = new Map<Table, TextRow[]>();
  for (const row of rows) {
    const others = byTable.get(row.table);
    if (others) others.push(row);
    else byTable.set(row.table, [row]);
  }
  const names = new Map([...byTable.keys()].map((table) => [table.name, table]));
  const placed = new Set<Table>();
  const order: TextRow[] = [];
  const place = (table: Table) => {
    if (placed.has(table)) return;
    placed.add(table);
    for (const key of table.foreignKeys) {
      const parent = names.get(key.table);
      if (parent) place(parent);
    }
    // Not spread: a call cannot take a million arguments.
    for (const row of byTable.get(table) ?? []) order.push(row);
  };
  for (const table of byTable.keys()) place(table);
  return order;
}

/** Groups consecutive rows of one table with the same columns. */
function groupIntoRuns(rows: TextRow[]): TextRow[][] {
  const runs: TextRow[][] = [];
  let shape = "";
  for (const row of rows) {
    const own = JSON.stringify([row.table.name, [...row.texts.keys()].map(({ name }) => name).sort()]);
    if (own === shape) runs.at(-1)?.push(row);
    else runs.push([row]);
    shape = own;
  }
  return runs;
}

async function insertRun(client: Queryable, run: TextRow[]): Promise<void> {
  const [first] = run;
  if (!first) return;
  const { table } = first;
  const columns = [...first.texts.keys()];
  if (columns.length === 0) {
    for (const _ of run) await client.query(`INSERT INTO ${table.sql} DEFAULT VALUES`);
    return;
  }
  const names = columns.map(({ name }) => pg.escapeIdentifier(name)).join(", ");
  const values = columns.map(({ castName }, i) => `c${i}::${castName}`).join(", ");
  const arrays = columns.map((_, i) => `$${i + 1}::text[]`).join(", ");
  const aliases = columns.map((_, i) => `c${i}`).join(", ");
  await client.query(
    `INSERT INTO ${table.sql} (${names}) OVERRIDING SYSTEM VALUE
     SELECT ${values} FROM unnest(${arrays}) WITH ORDINALITY AS r(${aliases}, position) ORDER BY position`,
    columns.map((column) => run.map(({ texts }) => texts.get(column) ?? null)),
  );
}

/** A row may refer to a later one (a tree in one table, a cycle of tables), so rows are retried until none succeeds. */
async function insertOneByOne(client: Queryable, ordered: TextRow[], all: TextRow[]): Promise<Problem[]> {
  let waiting = ordered;
  const refused: { row: TextRow; error: pg.DatabaseError }[] = [];
  for (let progress = true; progress && waiting.length > 0; ) {
    progress = false;
    const stillWaiting: TextRow[] = [];
    refused.length = 0;
    for (const row of waiting) {
      const error = await tryInsert(client, row);
      if (!error) progress = true;
      else {
        refused.push({ row, error });
        stillWaiting.push(row);
      }
    }
    waiting = stillWaiting;
  }
  const problems: Problem[] = [];
  for (const { row, error } of refused) problems.push(...(await findBrokenRules(client, row, error, all)));
  if (problems.length > 0) return problems;
  const [unexplained] = refused;
  return unexplained ? [problemOf(unexplained.error, unexplained.row)] : checkDeferred(client);
}

async function tryInsert(client: Queryable, row: TextRow): Promise<pg.DatabaseError | undefined> {
  await client.query("SAVEPOINT one_row");
  try {
    await insertRun(client, [row]);
    await client.query("RELEASE SAVEPOINT one_row");
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await client.query("ROLLBACK TO SAVEPOINT one_row");
    return error;
  }
}

async function checkDeferred(client: Queryable): Promise<Problem[]> {
  try {
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
    return [];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return [problemOf(error)];
  }
}
