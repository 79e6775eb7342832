/** Tables of rows in order, of which several of one size are merged into one of the next: what is looked up is in few places. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { identifier, joined, type Sql, sql } from "../sql.ts";
import { transaction } from "./database.ts";
import { read } from "./duckdb.ts";
import { type Cut, sortedParts } from "./postings.ts";

/** Postings that one step of a merge puts into order: whoever writes or reads meanwhile waits for one step at most. */
const STEP_POSTINGS = 200_000;

export interface Run {
  table: string;
  rows: number;
  /** How often its rows have been sorted; 0 for what is as it was written. */
  level: number;
}

/** The runs that there are, and how many tables were made for them. */
export interface RunsState {
  readonly runs: readonly Run[];
  readonly made: number;
}

/** What the rows are, and where they are seen. */
export interface RunShape {
  columns: Sql;
  order: Sql;
  cut: Cut;
  /** Makes an empty table. */
  create(name: string): Promise<void>;
  /** Says which tables the rows are in. */
  show(tables: readonly string[]): Promise<void>;
}

/** Puts runs together into one, in steps: others may write between them, and nothing is seen of it. */
export async function* merged(
  connection: DuckDBConnection,
  shape: RunShape,
  runs: readonly Run[],
  table: string,
): AsyncGenerator<() => Promise<void>, Run> {
  const relation = joined(
    runs.map((run) => sql`SELECT ${shape.columns} FROM ${identifier(run.table)}`),
    " UNION ALL ",
  );
  let parts: Sql[] = [];
  yield async () => {
    await shape.create(table);
    parts = await sortedParts(connection, sql`(${relation})`, { ...shape.cut, most: STEP_POSTINGS });
  };
  for (const part of parts) {
    yield async () => {
      await read(
        connection,
        sql`INSERT INTO ${identifier(table)} SELECT * FROM (${relation}) WHERE ${part} ORDER BY ${shape.order}`,
      );
    };
  }
  const level = Math.max(...runs.map((run) => run.level)) + 1;
  return { table, level, rows: runs.reduce((sum, { rows }) => sum + rows, 0) };
}

/** Shows these runs from here on, and drops those that they are made of. */
export async function replaceRuns(
  connection: DuckDBConnection,
  shape: RunShape,
  runs: readonly Run[],
  dropped: readonly Run[],
): Promise<void> {
  await transaction(connection, async () => {
    await shape.show(runs.map(({ table }) => table));
    for (const { table } of dropped) await read(connection, sql`DROP TABLE ${identifier(table)}`);
  });
}

/** Those of the smallest size that there are enough of. @param enough how many, of each level */
export function nextMerge(runs: readonly Run[], enough: (level: number) => number): Run[] | undefined {
  const levels = [...new Set(runs.map(({ level }) => level))].sort((a, b) => a - b);
  for (const level of levels) {
    const alike = runs.filter((run) => run.level === level);
    if (alike.length >= enough(level)) return alike;
  }
  return undefined;
}
