/**
 * Postings that are written while the store is open. They are appended to a table as they come; several full ones are put into the
 * order of their terms, and several of one size are merged into one of the next, so that a term is looked up in few places.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { transaction } from "./database.ts";
import { read } from "./duckdb.ts";
import { createWrittenPostings, FIRST_WRITTEN, postingColumns, showWrittenPostings } from "./layout.ts";
import { sortedParts } from "./postings.ts";

/** Postings in the table that is appended to, before it is sorted. */
const FULL = 200_000;
/** How many full tables are sorted at once. */
const UNSORTED = 3;
/** How many sorted tables of one size are merged. */
const FAN_IN = 5;

interface Run {
  table: string;
  postings: number;
  /** How often its postings have been sorted; 0 for what is as it was written. */
  level: number;
}

export class WrittenPostings {
  readonly #connection: DuckDBConnection;
  /** The last is appended to. */
  #runs: Run[] = [{ table: FIRST_WRITTEN, postings: 0, level: 0 }];
  #made = 1;

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /** What is appended to. */
  get table(): string {
    return this.#last.table;
  }

  get #last(): Run {
    const last = this.#runs.at(-1);
    if (!last) throw new Error("there is no table of written postings");
    return last;
  }

  /** Counts what was appended, and goes on with a new table when this one is full. */
  async appended(postings: number): Promise<void> {
    this.#last.postings += postings;
    if (this.#last.postings < FULL) return;
    await this.#change([...this.#runs, await this.#newRun(0)], []);
  }

  /** What is to be sorted next, if anything is. */
  get due(): boolean {
    return this.#nextMerge() !== undefined;
  }

  /**
   * Sorts or merges, in steps: what each yields is to be run by itself, and others may write between them. Nothing is seen of it
   * before the last.
   */
  async *maintain(): AsyncGenerator<() => Promise<void>> {
    const runs = this.#nextMerge();
    if (!runs) return;
    const relation = unionOf(runs);
    const merged: Run = {
      ...runs[0],
      table: `written_postings_${this.#made++}`,
      level: levelAbove(runs),
      postings: 0,
    };
    let parts: Sql[] = [];
    yield async () => {
      await createWrittenPostings(this.#connection, merged.table);
      parts = await sortedParts(this.#connection, sql`(${relation})`, ["field", "term", "_row"]);
    };
    for (const part of parts) {
      yield async () => {
        await read(
          this.#connection,
          sql`INSERT INTO ${identifier(merged.table)} SELECT * FROM (${relation}) WHERE ${part}
            ORDER BY field, term, _row, position`,
        );
      };
    }
    yield async () => {
      merged.postings = runs.reduce((sum, { postings }) => sum + postings, 0);
      const others = this.#runs.filter((run) => !runs.includes(run));
      await this.#change([merged, ...others], runs);
    };
  }

  /** Those of the smallest size that there are enough of. */
  #nextMerge(): [Run, ...Run[]] | undefined {
    const done = this.#runs.slice(0, -1);
    const levels = [...new Set(done.map(({ level }) => level))].sort((a, b) => a - b);
    for (const level of levels) {
      const [first, ...others] = done.filter((run) => run.level === level);
      if (first && others.length + 1 >= (level === 0 ? UNSORTED : FAN_IN)) return [first, ...others];
    }
    return undefined;
  }

  async #newRun(level: number): Promise<Run> {
    const table = `written_postings_${this.#made++}`;
    await createWrittenPostings(this.#connection, table);
    return { table, postings: 0, level };
  }

  async #change(runs: Run[], dropped: readonly Run[]): Promise<void> {
    await transaction(this.#connection, async () => {
      await showWrittenPostings(
        this.#connection,
        runs.map(({ table }) => table),
      );
      for (const { table } of dropped) await read(this.#connection, sql`DROP TABLE ${identifier(table)}`);
    });
    this.#runs = runs;
  }
}

function levelAbove(runs: readonly Run[]): number {
  return Math.max(...runs.map(({ level }) => level)) + 1;
}

function unionOf(runs: readonly Run[]): Sql {
  const columns = sql`${raw("field")}, ${postingColumns}`;
  return joined(
    runs.map(({ table }) => sql`SELECT ${columns} FROM ${identifier(table)}`),
    " UNION ALL ",
  );
}
