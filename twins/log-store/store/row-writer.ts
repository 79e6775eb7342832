/** Writes rows into a store's database, with what they are found by. One thing after the other: whoever calls sees to it. */
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

/** Without a write-ahead log DuckDB keeps what is new in memory until it is told to write it down: so much, when nobody waits. */
const CHECKPOINT_BYTES = 16 << 20;
/** And so much in any case. What is written down in small parts is put together again by DuckDB, which takes longer than the writing. */
const LATEST_CHECKPOINT_BYTES = 48 << 20;
/** About what one step on the index writes. */
const INDEX_STEP_BYTES = 512 << 10;
/** Documents that are appended before others have their turn on the event loop, and those whose postings are. */
const SLICE_DOCUMENTS = 2048;
const SLICE_POSTED = 256;
/** Rows of statistics that are summed up whenever they are asked for. */
const MAX_STATISTICS = 2048;
const statisticsTypes = [VARCHAR, BIGINT, BIGINT];

/** What writes do to the fields of a store. */
export interface FieldChanges {
  readonly added: readonly NewField[];
  /** Keys of those that hold several values from then on. */
  readonly widened: ReadonlySet<string>;
  /** Keys of those that hold texts from then on: some event has what they cannot hold. */
  readonly texts: ReadonlySet<string>;
  /** The one found by name when absent. */
  readonly timeField?: string | undefined;
  /** An index that maps its documents itself from then on. */
  readonly defined?: { readonly index: string; readonly mapping: IndexMapping } | undefined;
  /** An index whose fields are removed; its documents are gone. */
  readonly dropped?: string | undefined;
}

/** A change of the database that no checkpoint has written down yet. */
type Change =
  | { kind: "extend"; changes: FieldChanges }
  | { kind: "store"; documents: readonly PlannedDocument[]; removed: readonly number[] };

/** What a writer knows of its database. */
interface WriterState {
  /** How many checkpoints there were. */
  readonly checkpoints: number;
  readonly stored: Pick<StoreCatalog, "fields" | "nextRow">;
  readonly untouched: boolean;
  readonly statisticsRows: number;
  readonly postings: RunsState;
  readonly segments: SegmentsState | undefined;
}

/**
 * All that it takes to have the same content again after DuckDB has given the database up, which it does when a checkpoint
 * fails. The file is then as the last checkpoint left it.
 */
export interface WriterLog {
  /** At the last checkpoint; `undefined`: there was none, and the file is as it was opened. */
  readonly checkpoint: WriterState | undefined;
  /** What the checkpoint that was begun last would have made the file, if it was completed without anybody being told. */
  readonly begun: WriterState | undefined;
  /** Since the last checkpoint, in their order. */
  readonly changes: readonly Change[];
}

/** About what a document takes in the file, with what it is found by: so many bytes a UTF-16 unit of its text. */
export const BYTES_PER_CHARACTER = 3;

export class RowWriter implements MaintainedIndex {
  readonly #connection: DuckDBConnection;
  /** Where the file may grow; absent: it is read alone. */
  readonly #room: StoreRoom | undefined;
  /** As the database has it. */
  #stored: WriterState["stored"];
  #columns: DocumentColumns = { names: [], types: [] };
  readonly #written: WrittenPostings;
  /** Where the text index is of raw text. */
  readonly #segments: WrittenSegments | undefined;
  #sinceCheckpointBytes = 0;
  /** Nothing has been written or removed: the views of postings look at what was built alone. */
  #untouched = false;
  /** Appended since they were summed up. */
  #statisticsRows = 0;
  #checkpoints = 0;
  #atCheckpoint: WriterState | undefined;
  #begun: WriterState | undefined;
  #changes: Change[] = [];
  /** There was no room for the last checkpoint. */
  #isBlocked = false;

  constructor(connection: DuckDBConnection, catalog: WriterState["stored"], room?: StoreRoom) {
    this.#connection = connection;
    this.#room = room;
    this.#stored = catalog;
    this.#written = new WrittenPostings(connection);
    if (catalog.fields.textIndex === "raw") {
      this.#segments = new WrittenSegments(connection, () => this.#stored);
    }
  }

  /** Opens a file as a checkpoint left it. @param state of the writer at that checkpoint */
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

  /** Whether there is something to do between writes. */
  get isDue(): boolean {
    return this.#index.isDue || (this.#sinceCheckpointBytes >= CHECKPOINT_BYTES && !this.#isBlocked);
  }

  /** Does some of it, in steps, each to be run by itself; others may write between them. */
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

  /** What words are found by. */
  get #index(): MaintainedIndex {
    return this.#segments ?? this.#written;
  }

  /** Every event with a smaller row has its segments, where the text index is of raw text. */
  get segmentedRows(): number {
    return this.#segments?.endRow ?? 0;
  }

  /** To be called before anything else. */
  async open(): Promise<void> {
    this.#columns = await this.#readColumns();
  }

  /** About what a checkpoint would write: what is new lies in memory until then. */
  get pendingBytes(): number {
    return this.#sinceCheckpointBytes;
  }

  /** What another writer needs to have the same content again. */
  get log(): WriterLog {
    return { checkpoint: this.#atCheckpoint, begun: this.#begun, changes: this.#changes };
  }

  /** Makes changes again that no checkpoint has written down. */
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

  /** To be called where nothing has been written yet: a baseline has postings that were built, and no others. */
  async showBuilt(): Promise<void> {
    await this.#show(showBuiltPostings);
    this.#untouched = true;
  }

  /** Comes before anything is written or removed. */
  async #touch(): Promise<void> {
    if (!this.#untouched) return;
    await this.#show(showAllPostings);
    this.#untouched = false;
  }

  async #show(show: typeof showBuiltPostings): Promise<void> {
    await transaction(this.#connection, async () => {
      for (const { postings } of this.#stored.fields.allStored()) {
        if (postings !== undefined) await show(this.#connection, postings);
      }
    });
  }

  /** Adds columns for new fields, and changes those that get values of another kind for the first time; all of it or nothing. */
  async extend(changes: FieldChanges): Promise<FieldCatalog> {
    await this.#touch();
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

  /** Removes rows and appends documents, all of it or nothing. Their fields are there. */
  async store(documents: readonly PlannedDocument[], removed: readonly number[]): Promise<void> {
    await this.#tidy();
    await this.#write(documents, removed);
  }

  async #write(documents: readonly PlannedDocument[], removed: readonly number[]): Promise<void> {
    await this.#touch();
    const stored = await transaction(this.#connection, async () => {
      const counts = await this.#deleteRows(removed);
      let postings = 0;
      for (let from = 0; from < documents.length; from += SLICE_DOCUMENTS) {
        const slice = documents.slice(from, from + SLICE_DOCUMENTS);
        await appendDocuments(this.#connection, this.#columns, slice, this.#stored.fields);
        await setImmediate();
        postings += await this.#appendPostings(slice, counts);
      }
      await this.#countTokens(counts);
      return { postings, counted: counts.size };
    });
    // From here on nothing fails: what is stored is not stored again.
    this.#changes.push({ kind: "store", documents, removed });
    const last = documents.at(-1)?.document;
    if (last) this.#stored = { ...this.#stored, nextRow: last.row + 1 };
    this.#written.appended(stored.postings);
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

  /** Appends the postings of documents, unless words are found by segments. Answers how many these are. */
  async #appendPostings(
    documents: readonly PlannedDocument[],
    counts: Map<string, TokenCount>,
  ): Promise<number> {
    const { fields } = this.#stored;
    if (this.#segments !== undefined) return 0;
    let appended = 0;
    for (let from = 0; from < documents.length; from += SLICE_POSTED) {
      const postings = new PostingRows();
      for (const { key, number, texts } of postedTexts(documents.slice(from, from + SLICE_POSTED), fields)) {
        addTo(counts, key, postings.add(number, texts));
      }
      await setImmediate();
      await postings.appendWritten(this.#connection, this.#written.table);
      appended += postings.size;
    }
    return appended;
  }

  /** Removes documents with their postings. Answers what that takes from the statistics. */
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

  /** Tidies up, when enough has been stored. */
  async #tidy(): Promise<void> {
    await this.#written.makeRoom();
    if (this.#statisticsRows > MAX_STATISTICS) {
      await transaction(this.#connection, () => sumStatistics(this.#connection));
      this.#statisticsRows = 0;
    }
    await this.checkpoint(LATEST_CHECKPOINT_BYTES);
  }

  /** Writes down what is new, when it is so much and there is room for it; what there is no room for stays in memory. */
  async checkpoint(bytes: number): Promise<void> {
    if (this.#sinceCheckpointBytes < bytes || this.#sinceCheckpointBytes === 0) return;
    this.#isBlocked = !(await this.#room?.holds(this.#sinceCheckpointBytes));
    if (this.#isBlocked) return;
    await transaction(this.#connection, () => countCheckpoint(this.#connection, this.#checkpoints + 1));
    this.#checkpoints++;
    this.#begun = this.#state;
    await read(this.#connection, raw("CHECKPOINT"));
    this.#atCheckpoint = this.#begun;
    this.#changes = [];
    this.#sinceCheckpointBytes = 0;
    this.#room?.written();
  }

  close(): void {
    this.#connection.closeSync();
  }
}

/** The texts of each field that has postings, by number of row. */
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
  /** Of its postings. */
  number: number;
  texts: [row: number, values: readonly ColumnValue[]][];
}

function addTo(counts: Map<string, TokenCount>, key: string, { documents, tokens }: TokenCount): void {
  const before = counts.get(key) ?? { documents: 0, tokens: 0 };
  counts.set(key, { documents: before.documents + documents, tokens: before.tokens + tokens });
}
