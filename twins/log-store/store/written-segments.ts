/**
 * The segments of events that are written while the store is open. Writing an event makes none: those of many are made together, in
 * between, and until then these events are looked at one by one.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { sql } from "../sql.ts";
import { transaction } from "./database.ts";
import type { StoreCatalog } from "./layout.ts";
import {
  appendSegments,
  BUILT_SEGMENTS,
  createSegmentTable,
  segmentColumns,
  segmentCut,
  segmentOrder,
  showSegments,
} from "./segment-tables.ts";
import { merged, nextMerge, type Run, type RunShape, type RunsState, replaceRuns } from "./sorted-runs.ts";

/** Events that wait for their segments, and how many get them at once. */
const WAITING = 16_384;
const AT_ONCE = 4096;
/** How many tables of one size are merged. */
const FAN_IN = 6;

/** What there is of segments; events before `endRow` have theirs. */
export interface SegmentsState extends RunsState {
  readonly endRow: number;
}

/** What is in the database. */
type StoredEvents = Pick<StoreCatalog, "fields" | "nextRow">;

export class WrittenSegments {
  readonly #connection: DuckDBConnection;
  readonly #catalog: () => StoredEvents;
  readonly #shape: RunShape;
  #runs: Run[] = [];
  #made = 0;
  /** Events before this row have their segments. */
  #endRow: number;

  /** @param catalog as it is now */
  constructor(connection: DuckDBConnection, catalog: () => StoredEvents) {
    this.#connection = connection;
    this.#catalog = catalog;
    this.#endRow = catalog().nextRow;
    this.#shape = {
      columns: segmentColumns,
      order: segmentOrder,
      cut: segmentCut,
      create: (name) => createSegmentTable(connection, name),
      show: (tables) => showSegments(connection, [BUILT_SEGMENTS, ...tables], this.#endRow),
    };
  }

  /** Every event before this row has its segments. */
  get endRow(): number {
    return this.#endRow;
  }

  /** Which tables there are, for a writer of the same database to go on with. */
  get state(): SegmentsState {
    return { runs: [...this.#runs], made: this.#made, endRow: this.#endRow };
  }

  restore({ runs, made, endRow }: SegmentsState): void {
    this.#runs = [...runs];
    this.#made = made;
    this.#endRow = endRow;
  }

  get isDue(): boolean {
    return this.#waiting >= WAITING || this.#nextMerge() !== undefined;
  }

  /** Makes segments, or merges: in steps, each to be run by itself. */
  async *maintain(): AsyncGenerator<() => Promise<void>> {
    const runs = this.#nextMerge();
    if (runs === undefined) {
      yield () => this.#segment();
      return;
    }
    const run = yield* merged(this.#connection, this.#shape, runs, this.#nextTable());
    yield async () => {
      const kept = [run, ...this.#runs.filter((other) => !runs.includes(other))];
      await replaceRuns(this.#connection, this.#shape, kept, runs);
      this.#runs = kept;
    };
  }

  get #waiting(): number {
    return this.#catalog().nextRow - this.#endRow;
  }

  #nextMerge(): Run[] | undefined {
    return nextMerge(this.#runs, () => FAN_IN);
  }

  #nextTable(): string {
    return `segments_${this.#made++}`;
  }

  async #segment(): Promise<void> {
    const { fields, nextRow } = this.#catalog();
    const endRow = Math.min(nextRow, this.#endRow + AT_ONCE);
    const table = this.#nextTable();
    const runs = [...this.#runs, { table, rows: endRow - this.#endRow, level: 0 }];
    const rows = sql`_row >= ${BigInt(this.#endRow)} AND _row < ${BigInt(endRow)}`;
    await transaction(this.#connection, async () => {
      await createSegmentTable(this.#connection, table);
      await appendSegments(this.#connection, table, fields, rows);
      await showSegments(this.#connection, [BUILT_SEGMENTS, ...runs.map((run) => run.table)], endRow);
    });
    this.#runs = runs;
    this.#endRow = endRow;
  }
}
