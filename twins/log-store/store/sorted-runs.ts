/** Sorted runs, merged as in an LSM tree: several runs of one level become one of the next, so a lookup reads few tables. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { identifier, joined, type Sql, sql } from "../sql.ts";
import { transaction } from "./database.ts";
import { read } from "./duckdb.ts";
import { type Cut, sortedParts } from "./postings.ts";

/** Postings that one step of a merge sorts. Reads and writes wait for one step at most. */
const STEP_POSTINGS = 200_000;

export interface Run {
  table: string;
  rows: number;
  /** How often its rows have been merged; 0: as written. */
  level: number;
}

/** The runs, and the number of tables ever created for runs. */
export interface RunsState {
  readonly runs: readonly Run[];
  readonly made: number;
}

/** The table layout of runs, and the view over them. */
export interface RunShape {
  columns: Sql;
  order: Sql;
  cut: Cut;
  /** Creates an empty table. */
  create(name: string): Promise<void>;
  /** Makes the view show these tables. */
  show(tables: readonly string[]): Promise<void>;
}

/** Merges runs into a new table, in steps. Others may write between them; the view does not show the table yet. */
export async function* mergeRuns(
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
    parts = await sortedParts(connection, sql`(${relation})`, { ...shape.cut, partSize: STEP_POSTINGS });
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

/** Makes the view show these runs, and drops the merged ones. */
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

/** The runs of the lowest level that has enough of them. @param fanIn how many are enough, by level */
export function nextMerge(runs: readonly Run[], fanIn: (level: number) => number): Run[] | undefined {
  const levels = [...new Set(runs.map(({ level }) => level))].sort((a, b) => a - b);
  for (const level of levels) {
    const alike = runs.filter((run) => run.level === level);
    if (alike.length >= fanIn(level)) return alike;
  }
  return undefined;
}
