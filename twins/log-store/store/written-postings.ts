/**
 * Postings that are written while the store is open. They are appended to a table; full tables are sorted by term and merged, so that
 * a term is looked up in few places (see `sorted-runs.ts`).
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { raw, sql } from "../sql.ts";
import { postingColumns } from "./format.ts";
import { createWrittenPostings, FIRST_WRITTEN, showWrittenPostings } from "./layout.ts";
import { mergeRuns, nextMerge, type Run, type RunShape, type RunsState, replaceRuns } from "./sorted-runs.ts";

/** Postings that fill the table that is appended to. */
const FULL_POSTINGS = 200_000;
/** Full, unsorted tables that are sorted together. */
const UNSORTED_FAN_IN = 3;
/** Sorted tables of one level that are merged. */
const FAN_IN = 5;

export class WrittenPostings {
  readonly #connection: DuckDBConnection;
  readonly #shape: RunShape;
  /** The last is appended to. */
  #runs: Run[] = [{ table: FIRST_WRITTEN, rows: 0, level: 0 }];
  #made = 1;

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
    this.#shape = {
      columns: sql`${raw("field")}, ${postingColumns}`,
      order: raw("field, term, _row, position"),
      cut: { columns: ["field", "term", "_row"] },
      create: (name) => createWrittenPostings(connection, name),
      show: (tables) => showWrittenPostings(connection, tables),
    };
  }

  /** The table that new postings are appended to. */
  get table(): string {
    return this.#last.table;
  }

  /** The tables, for another writer of the same database to resume with. */
  get state(): RunsState {
    return { runs: this.#runs.map((run) => ({ ...run })), made: this.#made };
  }

  restore({ runs, made }: RunsState): void {
    this.#runs = runs.map((run) => ({ ...run }));
    this.#made = made;
  }

  get #last(): Run {
    const last = this.#runs.at(-1);
    if (!last) throw new Error("there is no table of written postings");
    return last;
  }

  /** Counts appended postings. */
  countAppended(postings: number): void {
    this.#last.rows += postings;
  }

  /** Starts a new table when the last is full. */
  async rotate(): Promise<void> {
    if (this.#last.rows < FULL_POSTINGS) return;
    await this.#change([...this.#runs, await this.#newRun(0)], []);
  }

  /** Whether tables are waiting to be sorted or merged. */
  get isDue(): boolean {
    return this.#nextMerge() !== undefined;
  }

  /**
   * Sorts or merges, in steps that each run by themselves; others may write between them. Reads see the result of the last step
   * alone.
   */
  async *maintain(): AsyncGenerator<() => Promise<void>> {
    const runs = this.#nextMerge();
    if (!runs) return;
    const table = `written_postings_${this.#made++}`;
    const run = yield* mergeRuns(this.#connection, this.#shape, runs, table);
    yield async () => {
      const others = this.#runs.filter((other) => !runs.includes(other));
      await this.#change([run, ...others], runs);
    };
  }

  #nextMerge(): Run[] | undefined {
    return nextMerge(this.#runs.slice(0, -1), (level) => (level === 0 ? UNSORTED_FAN_IN : FAN_IN));
  }

  async #newRun(level: number): Promise<Run> {
    const table = `written_postings_${this.#made++}`;
    await createWrittenPostings(this.#connection, table);
    return { table, rows: 0, level };
  }

  async #change(runs: Run[], dropped: readonly Run[]): Promise<void> {
    await replaceRuns(this.#connection, this.#shape, runs, dropped);
    this.#runs = runs;
  }
}
