/**
 * Postings that are written while the store is open. They are appended to a table as they come; several full ones are put into the
 * order of their terms, and several of one size are merged into one of the next, so that a term is looked up in few places.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { raw, sql } from "../sql.ts";
import { postingColumns } from "./format.ts";
import { createWrittenPostings, FIRST_WRITTEN, showWrittenPostings } from "./layout.ts";
import { merged, nextMerge, type Run, type RunShape, type RunsState, replaceRuns } from "./sorted-runs.ts";

/** Postings in the table that is appended to, before it is sorted. */
const FULL = 200_000;
/** How many full tables are sorted at once. */
const UNSORTED = 3;
/** How many sorted tables of one size are merged. */
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

  /** What is appended to. */
  get table(): string {
    return this.#last.table;
  }

  /** Which tables there are, for a writer of the same database to go on with. */
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

  /** Counts what was appended. */
  appended(postings: number): void {
    this.#last.rows += postings;
  }

  /** Goes on with a new table when this one is full. */
  async makeRoom(): Promise<void> {
    if (this.#last.rows < FULL) return;
    await this.#change([...this.#runs, await this.#newRun(0)], []);
  }

  /** What is to be sorted next, if anything is. */
  get isDue(): boolean {
    return this.#nextMerge() !== undefined;
  }

  /**
   * Sorts or merges, in steps: what each yields is to be run by itself, and others may write between them. Nothing is seen of it
   * before the last.
   */
  async *maintain(): AsyncGenerator<() => Promise<void>> {
    const runs = this.#nextMerge();
    if (!runs) return;
    const table = `written_postings_${this.#made++}`;
    const run = yield* merged(this.#connection, this.#shape, runs, table);
    yield async () => {
      const others = this.#runs.filter((other) => !runs.includes(other));
      await this.#change([run, ...others], runs);
    };
  }

  #nextMerge(): Run[] | undefined {
    return nextMerge(this.#runs.slice(0, -1), (level) => (level === 0 ? UNSORTED : FAN_IN));
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
