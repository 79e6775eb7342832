/** Writes rows and their index entries into a store's database. The caller serializes all calls. */
import { setImmediate } from "node:timers/promises";
import { BIGINT, type DuckDBConnection, VARCHAR } from "@duckdb/node-api";
import { type FieldCatalog, fieldKey, type IndexMapping, type NewField } from "../fields.ts";
import { identifier, joined, raw, sql } from "../sql.ts";
import { appendColumns, appendDocuments, type DocumentColumns } from "./append.ts";
import type { ColumnValue } from "./column-value.ts";
import { transaction } from "./database.ts";
import { read } from "./duckdb.ts";
import { listOf } from "./fitted-document.ts";
import { postingsNumber } from "./format.ts";
import type { MaintainedIndex } from "./index-maintenance.ts";
import {
  addFields,
  changeFields,
  countCheckpoint,
  defineIndex,
  dropIndex,
  type StoreCatalog,
  showAllPostings,
  showBuiltPostings,
  sumStatistics,
} from "./layout.ts";
import type { PlannedDocument } from "./plan-write.ts";
import { PostingRows, type TokenCount, tokensOf } from "./posting-rows.ts";
import type { RunsState } from "./sorted-runs.ts";
import type { StoreRoom } from "./store-room.ts";
import { WrittenPostings } from "./written-postings.ts";
import { type SegmentsState, WrittenSegments } from "./written-segments.ts";

/** Without a write-ahead log DuckDB keeps new rows in memory until a checkpoint. Maintenance checkpoints from this size on. */
const CHECKPOINT_BYTES = 16 << 20;
/** A write checkpoints first from this size on. Smaller checkpoints cost more: DuckDB merges the small row groups that they leave. */
const FORCED_CHECKPOINT_BYTES = 48 << 20;
/** Estimate of what one step of index maintenance writes. */
const INDEX_STEP_BYTES = 512 << 10;
/** Documents appended, and documents analysed, before yielding to the event loop. */
const APPEND_SLICE = 2048;
const ANALYSIS_SLICE = 256;
/** Rows of statistics, which each query sums up, before they are compacted. */
const MAX_STATISTICS = 2048;
const statisticsTypes = [VARCHAR, BIGINT, BIGINT];

/** Changes of the fields of a store. */
export interface FieldChanges {
  readonly added: readonly NewField[];
  /** Keys of fields that become lists. */
  readonly widened: ReadonlySet<string>;
  /** Keys of fields that become text: an event has a value that their type cannot hold. */
  readonly texts: ReadonlySet<string>;
  /** Found by name when absent. */
  readonly timeField?: string | undefined;
  /** An index that gets a mapping of its own. */
  readonly defined?: { readonly index: string; readonly mapping: IndexMapping } | undefined;
  /** An index whose fields are removed. Its documents must have been removed. */
  readonly dropped?: string | undefined;
}

/** A change of the database since the last checkpoint. */
type Change =
  | { kind: "extend"; changes: FieldChanges }
  | { kind: "store"; documents: readonly PlannedDocument[]; removed: readonly number[] };

/** A writer's knowledge of its database. */
interface WriterState {
  readonly checkpoints: number;
  readonly stored: Pick<StoreCatalog, "fields" | "nextRow">;
  readonly untouched: boolean;
  readonly statisticsRows: number;
  readonly postings: RunsState;
  readonly segments: SegmentsState | undefined;
}

/**
 * A redo log in memory: restores the content after DuckDB has invalidated the database, as it does when a checkpoint fails. The file
 * is then as the last checkpoint left it.
 */
export interface WriterLog {
  /** At the last completed checkpoint; `undefined`: there was none, and the file is as it was opened. */
  readonly checkpoint: WriterState | undefined;
  /** At the last checkpoint begun, which may have completed in the file although it reported an error. */
  readonly begun: WriterState | undefined;
  /** Since the last completed checkpoint, in their order. */
  readonly changes: readonly Change[];
}

/** Estimate of a document's size in the file, index included: bytes per UTF-16 unit of its text. */
export const BYTES_PER_CHARACTER = 3;

export class RowWriter implements MaintainedIndex {
  readonly #connection: DuckDBConnection;
  /** How far the file may grow; absent: it is read only. */
  readonly #room: StoreRoom | undefined;
  /** The catalog as the database has it. */
  #stored: WriterState["stored"];
  #columns: DocumentColumns = { names: [], types: [] };
  readonly #written: WrittenPostings;
  /** With the text index `raw`. */
  readonly #segments: WrittenSegments | undefined;
  #sinceCheckpointBytes = 0;
  /** Nothing has been written or removed, so the views show the built postings alone. */
  #untouched = false;
  /** Appended since the last compaction. */
  #statisticsRows = 0;
  #checkpoints = 0;
  #atCheckpoint: WriterState | undefined;
  #begun: WriterState | undefined;
  #changes: Change[] = [];
  /** There was no room for the last checkpoint. */
  #lacksRoom = false;

  constructor(connection: DuckDBConnection, catalog: WriterState["stored"], room?: StoreRoom) {
    this.#connection = connection;
    this.#room = room;
    this.#stored = catalog;
    this.#written = new WrittenPostings(connection);
    if (catalog.fields.textIndex === "raw") {
      this.#segments = new WrittenSegments(connection, () => this.#stored);
    }
  }

  /** Resumes on a file as a checkpoint left it. @param state of the writer at that checkpoint */
  static async resume(connection: DuckDBConnection, state: WriterState, room: StoreRoom): Promise<RowWriter> {
    const writer = new RowWriter(connection, state.stored, room);
    writer.#atCheckpoint = state;
    writer.#checkpoints = state.checkpoints;
    writer.#untouched = state.untouched;
    writer.#statisticsRows = state.statisticsRows;
    writer.#written.restore(state.postings);
    if (state.segments) writer.#segments?.restore(state.segments);
    await writer.open();
    return writer;
  }

  /** Whether maintenance has work: on the index, or a checkpoint. */
  get isDue(): boolean {
    return this.#index.isDue || (this.#sinceCheckpointBytes >= CHECKPOINT_BYTES && !this.#lacksRoom);
  }

  /** Maintains in steps that each run by themselves; others may write between them. */
  async *maintain(): AsyncGenerator<() => Promise<void>> {
    if (!this.#index.isDue) {
      yield () => this.checkpoint(CHECKPOINT_BYTES);
      return;
    }
    for await (const step of this.#index.maintain()) {
      yield async () => {
        await step();
        this.#sinceCheckpointBytes += INDEX_STEP_BYTES;
      };
    }
  }

  get #index(): MaintainedIndex {
    return this.#segments ?? this.#written;
  }

  /** With the text index `raw`: every event with a smaller row is segmented. */
  get segmentedRows(): number {
    return this.#segments?.endRow ?? 0;
  }

  /** Call it first. */
  async open(): Promise<void> {
    this.#columns = await this.#readColumns();
  }

  /** Estimate of what a checkpoint would write. */
  get pendingBytes(): number {
    return this.#sinceCheckpointBytes;
  }

  get log(): WriterLog {
    return { checkpoint: this.#atCheckpoint, begun: this.#begun, changes: this.#changes };
  }

  /** Redoes changes that no checkpoint has written. */
  async replay(changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      if (change.kind === "extend") await this.extend(change.changes);
      else await this.#write(change.documents, change.removed);
    }
  }

  get #state(): WriterState {
    return {
      checkpoints: this.#checkpoints,
      stored: this.#stored,
      untouched: this.#untouched,
      statisticsRows: this.#statisticsRows,
      postings: this.#written.state,
      segments: this.#segments?.state,
    };
  }

  /** Call it before any write, on a baseline: its views then show the built postings alone. */
  async showBuilt(): Promise<void> {
    await this.#showViews(showBuiltPostings);
    this.#untouched = true;
  }

  /** Call it before every write. */
  async #showAll(): Promise<void> {
    if (!this.#untouched) return;
    await this.#showViews(showAllPostings);
    this.#untouched = false;
  }

  async #showViews(show: typeof showBuiltPostings): Promise<void> {
    await transaction(this.#connection, async () => {
      for (const { postings } of this.#stored.fields.allStored()) {
        if (postings !== undefined) await show(this.#connection, postings);
      }
    });
  }

  /** Adds, changes and removes the columns of fields, all or nothing. */
  async extend(changes: FieldChanges): Promise<FieldCatalog> {
    await this.#showAll();
    const fields = await transaction(this.#connection, () => this.#applyChanges(changes));
    const { added, widened, texts, ...others } = changes;
    this.#changes.push({
      kind: "extend",
      changes: { ...others, added: [...added], widened: new Set(widened), texts: new Set(texts) },
    });
    this.#stored = { ...this.#stored, fields };
    this.#columns = await this.#readColumns();
    return fields;
  }

  async #applyChanges({
    added,
    widened,
    texts,
    timeField,
    defined,
    dropped,
  }: FieldChanges): Promise<FieldCatalog> {
    let { fields } = this.#stored;
    if (dropped !== undefined) fields = await dropIndex(this.#connection, fields, dropped);
    if (defined) fields = defineIndex(fields, defined.index, defined.mapping);
    fields = await changeFields(this.#connection, fields, { widened, texts });
    return addFields(this.#connection, fields, added, timeField);
  }

  /** Removes rows and appends documents, all or nothing. The fields of the documents must exist. */
  async store(documents: readonly PlannedDocument[], removed: readonly number[]): Promise<void> {
    await this.#compact();
    await this.#write(documents, removed);
  }

  async #write(documents: readonly PlannedDocument[], removed: readonly number[]): Promise<void> {
    await this.#showAll();
    const stored = await transaction(this.#connection, async () => {
      const counts = await this.#deleteRows(removed);
      let postings = 0;
      for (let from = 0; from < documents.length; from += APPEND_SLICE) {
        const slice = documents.slice(from, from + APPEND_SLICE);
        await appendDocuments(this.#connection, this.#columns, slice, this.#stored.fields);
        await setImmediate();
        postings += await this.#appendPostings(slice, counts);
      }
      await this.#countTokens(counts);
      return { postings, counted: counts.size };
    });
    // The rest must not throw: the rows are committed, and the caller would store them again.
    this.#changes.push({ kind: "store", documents, removed });
    const last = documents.at(-1)?.document;
    if (last) this.#stored = { ...this.#stored, nextRow: last.row + 1 };
    this.#written.countAppended(stored.postings);
    this.#statisticsRows += stored.counted;
    this.#sinceCheckpointBytes += documents.reduce(
      (sum, { document }) => sum + document.source.length * BYTES_PER_CHARACTER,
      0,
    );
  }

  async #readColumns(): Promise<DocumentColumns> {
    const result = await this.#connection.run("SELECT * FROM documents LIMIT 0");
    return { names: result.columnNames(), types: result.columnTypes() };
  }

  /** Appends the postings of documents, unless the text index is `raw`. @returns their number */
  async #appendPostings(
    documents: readonly PlannedDocument[],
    counts: Map<string, TokenCount>,
  ): Promise<number> {
    const { fields } = this.#stored;
    if (this.#segments !== undefined) return 0;
    let appended = 0;
    for (let from = 0; from < documents.length; from += ANALYSIS_SLICE) {
      const postings = new PostingRows();
      for (const { key, number, texts } of postedTexts(
        documents.slice(from, from + ANALYSIS_SLICE),
        fields,
      )) {
        addTo(counts, key, postings.add(number, texts));
      }
      await setImmediate();
      await postings.appendWritten(this.#connection, this.#written.table);
      appended += postings.size;
    }
    return appended;
  }

  /** Removes documents with their postings. @returns the negative counts for the statistics */
  async #deleteRows(rows: readonly number[]): Promise<Map<string, TokenCount>> {
    const counts = new Map<string, TokenCount>();
    if (rows.length === 0) return counts;
    const texts = this.#stored.fields.allStored().filter(({ postings }) => postings !== undefined);
    const numbers = sql`(SELECT unnest(from_json(${JSON.stringify(rows)}, '["BIGINT"]')))`;
    if (texts.length > 0) {
      const columns = joined(
        texts.map(({ column }) => identifier(column)),
        ", ",
      );
      const found = await read(
        this.#connection,
        sql`SELECT ${columns} FROM documents WHERE _row IN ${numbers}`,
      );
      for (const [index, field] of texts.entries()) {
        for (const row of found.rows) {
          const value = row[index] ?? null;
          const values = Array.isArray(value) ? value.map(String) : value === null ? [] : [String(value)];
          const { length } = tokensOf(values);
          if (length > 0) addTo(counts, fieldKey(field), { documents: -1, tokens: -length });
        }
      }
    }
    await read(this.#connection, sql`DELETE FROM documents WHERE _row IN ${numbers}`);
    if (this.#segments === undefined) await read(this.#connection, sql`INSERT INTO removed_rows ${numbers}`);
    return counts;
  }

  async #countTokens(counts: ReadonlyMap<string, TokenCount>): Promise<void> {
    if (counts.size === 0) return;
    const values = [...counts.values()];
    await appendColumns(this.#connection, "counted_tokens", statisticsTypes, [
      [...counts.keys()],
      values.map(({ documents }) => BigInt(documents)),
      values.map(({ tokens }) => BigInt(tokens)),
    ]);
  }

  /** Starts a new table of postings, compacts the statistics, or checkpoints, where a bound is reached. */
  async #compact(): Promise<void> {
    await this.#written.rotate();
    if (this.#statisticsRows > MAX_STATISTICS) {
      await transaction(this.#connection, () => sumStatistics(this.#connection));
      this.#statisticsRows = 0;
    }
    await this.checkpoint(FORCED_CHECKPOINT_BYTES);
  }

  /** Checkpoints when at least so many bytes are pending and there is room; else they stay in memory. */
  async checkpoint(minBytes: number): Promise<void> {
    if (this.#sinceCheckpointBytes < minBytes || this.#sinceCheckpointBytes === 0) return;
    this.#lacksRoom = !(await this.#room?.holds(this.#sinceCheckpointBytes));
    if (this.#lacksRoom) return;
    await transaction(this.#connection, () => countCheckpoint(this.#connection, this.#checkpoints + 1));
    this.#checkpoints++;
    this.#begun = this.#state;
    await read(this.#connection, raw("CHECKPOINT"));
    this.#atCheckpoint = this.#begun;
    this.#changes = [];
    this.#sinceCheckpointBytes = 0;
    this.#room?.checkpointed();
  }

  close(): void {
    this.#connection.closeSync();
  }
}

/** The texts of each field that has postings, with their row numbers. */
function postedTexts(documents: readonly PlannedDocument[], fields: FieldCatalog): PostedTexts[] {
  const posted = new Map<string, PostedTexts>();
  for (const { document, fields: fitted, values } of documents) {
    for (const [index, field] of fitted.entries()) {
      const { postings } = fields.stored(field) ?? {};
      const value = values[index];
      if (postings === undefined || value === undefined) continue;
      const key = fieldKey(field);
      const texts = posted.get(key) ?? { key, number: postingsNumber(postings), texts: [] };
      posted.set(key, texts);
      texts.texts.push([document.row, listOf(value)]);
    }
  }
  return [...posted.values()];
}

interface PostedTexts {
  key: string;
  /** Of the field's postings; see `postingsNumber`. */
  number: number;
  texts: [row: number, values: readonly ColumnValue[]][];
}

function addTo(counts: Map<string, TokenCount>, key: string, { documents, tokens }: TokenCount): void {
  const before = counts.get(key) ?? { documents: 0, tokens: 0 };
  counts.set(key, { documents: before.documents + documents, tokens: before.tokens + tokens });
}
