/**
 * The segments of events that are written while the store is open. A write indexes none: maintenance segments many events together,
 * and until then searches scan these events.
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
import { mergeRuns, nextMerge, type Run, type RunShape, type RunsState, replaceRuns } from "./sorted-runs.ts";

/** Unsegmented events that make maintenance due, and events that one step segments. */
const DUE_EVENTS = 16_384;
const STEP_EVENTS = 4096;
/** Tables of one level that are merged. */
const FAN_IN = 6;

/** Events before `endRow` are segmented. */
export interface SegmentsState extends RunsState {
  readonly endRow: number;
}

type StoredEvents = Pick<StoreCatalog, "fields" | "nextRow">;

export class WrittenSegments {
  readonly #connection: DuckDBConnection;
  readonly #catalog: () => StoredEvents;
  readonly #shape: RunShape;
  #runs: Run[] = [];
  #made = 0;
  #endRow: number;

  /** @param catalog returns the current one */
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

  /** Every event before this row is segmented. */
  get endRow(): number {
    return this.#endRow;
  }

  /** The tables, for another writer of the same database to resume with. */
  get state(): SegmentsState {
    return { runs: [...this.#runs], made: this.#made, endRow: this.#endRow };
  }

  restore({ runs, made, endRow }: SegmentsState): void {
    this.#runs = [...runs];
    this.#made = made;
    this.#endRow = endRow;
  }

  get isDue(): boolean {
    return this.#unsegmented >= DUE_EVENTS || this.#nextMerge() !== undefined;
  }

  /** Segments events, or merges, in steps that each run by themselves. */
  async *maintain(): AsyncGenerator<() => Promise<void>> {
    const runs = this.#nextMerge();
    if (runs === undefined) {
      yield () => this.#segment();
      return;
    }
    const run = yield* mergeRuns(this.#connection, this.#shape, runs, this.#nextTable());
    yield async () => {
      const remaining = [run, ...this.#runs.filter((other) => !runs.includes(other))];
      await replaceRuns(this.#connection, this.#shape, remaining, runs);
      this.#runs = remaining;
    };
  }

  get #unsegmented(): number {
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
    const endRow = Math.min(nextRow, this.#endRow + STEP_EVENTS);
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
