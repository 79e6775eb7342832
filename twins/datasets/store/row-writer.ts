/** Writes rows into a store's database, with what they are found by. One thing after the other: whoever calls sees to it. */
import { setImmediate } from "node:timers/promises";
import { BIGINT, type DuckDBConnection, VARCHAR } from "@duckdb/node-api";
import type { FieldCatalog, NewField } from "../fields.ts";
import { identifier, joined, raw, sql } from "../sql.ts";
import { appendColumns, appendDocuments, type DocumentColumns } from "./append.ts";
import type { ColumnValue } from "./coerce.ts";
import { transaction } from "./database.ts";
import { read } from "./duckdb.ts";
import { listOf } from "./fitted.ts";
import {
  addFields,
  postingsNumber,
  type StoreCatalog,
  showAllPostings,
  showBuiltPostings,
  sumStatistics,
  widenFields,
} from "./layout.ts";
import type { PlannedDocument } from "./plan-write.ts";
import { PostingRows, type TokenCount, tokensOf } from "./posting-rows.ts";
import type { KeptIndex } from "./upkeep.ts";
import { WrittenPostings } from "./written-postings.ts";
import { WrittenSegments } from "./written-segments.ts";

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
  /** Names of those that hold several values from then on. */
  readonly widened: ReadonlySet<string>;
  /** The one found by name when absent. */
  readonly timeField?: string | undefined;
}

export class RowWriter implements KeptIndex {
  readonly #connection: DuckDBConnection;
  /** As the database has it. */
  #stored: Pick<StoreCatalog, "fields" | "nextRow">;
  #columns: DocumentColumns = { names: [], types: [] };
  readonly #written: WrittenPostings;
  /** Where the text index is of raw text. */
  readonly #segments: WrittenSegments | undefined;
  #sinceCheckpointBytes = 0;
  /** Nothing has been written or removed: the views of postings look at what was built alone. */
  #untouched = false;
  /** Appended since they were summed up. */
  #statisticsRows = 0;

  constructor(connection: DuckDBConnection, catalog: StoreCatalog) {
    this.#connection = connection;
    this.#stored = catalog;
    this.#written = new WrittenPostings(connection);
    if (catalog.fields.textIndex === "raw") {
      this.#segments = new WrittenSegments(connection, () => this.#stored);
    }
  }

  /** Whether there is something to do between writes. */
  get due(): boolean {
    return this.#index.due || this.#sinceCheckpointBytes >= CHECKPOINT_BYTES;
  }

  /** Does some of it, in steps, each to be run by itself; others may write between them. */
  async *maintain(): AsyncGenerator<() => Promise<void>> {
    if (!this.#index.due) {
      yield () => this.#checkpoint(CHECKPOINT_BYTES);
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
  get #index(): KeptIndex {
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
      for (const { postings } of this.#stored.fields.all()) {
        if (postings !== undefined) await show(this.#connection, postings);
      }
    });
  }

  /** Adds columns for new fields, and makes lists of those that get several values for the first time; all of it or nothing. */
  async extend(batch: FieldChanges): Promise<FieldCatalog> {
    await this.#touch();
    const fields = await transaction(this.#connection, () => this.#extended(batch));
    this.#stored = { ...this.#stored, fields };
    this.#columns = await this.#readColumns();
    return fields;
  }

  async #extended({ added, widened, timeField }: FieldChanges): Promise<FieldCatalog> {
    let { fields } = this.#stored;
    if (widened.size > 0) fields = await widenFields(this.#connection, fields, widened);
    return addFields(this.#connection, fields, added, timeField);
  }

  /** Removes rows and appends documents, all of it or nothing. Their fields are there. */
  async store(documents: readonly PlannedDocument[], removed: readonly number[]): Promise<void> {
    await this.#touch();
    await this.#tidy();
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
    const last = documents.at(-1)?.document;
    if (last) this.#stored = { ...this.#stored, nextRow: last.row + 1 };
    this.#written.appended(stored.postings);
    this.#statisticsRows += stored.counted;
    this.#sinceCheckpointBytes += documents.reduce(
      (sum, { document }) => sum + document.source.length * 3,
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
      for (const { name, number, texts } of postedTexts(documents.slice(from, from + SLICE_POSTED), fields)) {
        addTo(counts, name, postings.add(number, texts));
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
    const texts = this.#stored.fields.all().filter(({ postings }) => postings !== undefined);
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
          if (length > 0) addTo(counts, field.name, { documents: -1, tokens: -length });
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
    await this.#checkpoint(LATEST_CHECKPOINT_BYTES);
  }

  /** Writes down what is new, when it is so much. */
  async #checkpoint(bytes: number): Promise<void> {
    if (this.#sinceCheckpointBytes < bytes) return;
    await read(this.#connection, raw("CHECKPOINT"));
    this.#sinceCheckpointBytes = 0;
  }

  close(): void {
    this.#connection.closeSync();
  }
}

/** The texts of each field that has postings, by number of row. */
function postedTexts(documents: readonly PlannedDocument[], fields: FieldCatalog): PostedTexts[] {
  const posted = new Map<string, PostedTexts>();
  for (const { document, fields: fitted, values } of documents) {
    for (const [index, { name }] of fitted.entries()) {
      const { postings } = fields.get(name) ?? {};
      const value = values[index];
      if (postings === undefined || value === undefined) continue;
      const texts = posted.get(name) ?? { name, number: postingsNumber(postings), texts: [] };
      posted.set(name, texts);
      texts.texts.push([document.row, listOf(value)]);
    }
  }
  return [...posted.values()];
}

interface PostedTexts {
  name: string;
  /** Of its postings. */
  number: number;
  texts: [row: number, values: readonly ColumnValue[]][];
}

function addTo(counts: Map<string, TokenCount>, name: string, { documents, tokens }: TokenCount): void {
  const before = counts.get(name) ?? { documents: 0, tokens: 0 };
  counts.set(name, { documents: before.documents + documents, tokens: before.tokens + tokens });
}
