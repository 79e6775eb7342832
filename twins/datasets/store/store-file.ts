/** A store's database file while it is open: its fields, its next numbers, and what is written to it. */
import { setImmediate } from "node:timers/promises";
import { BIGINT, type DuckDBConnection, VARCHAR } from "@duckdb/node-api";
import type { FieldCatalog, NewField, TextIndex } from "../fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { appendColumns, appendDocuments, type DocumentColumns } from "./append.ts";
import type { Batch } from "./batch.ts";
import { Database, type DatabaseOptions, transaction } from "./database.ts";
import { read } from "./duckdb.ts";
import {
  addFields,
  createTables,
  isNamed,
  nameIndex,
  postingsNumber,
  readCatalog,
  type StoreCatalog,
  showAllPostings,
  showBuiltPostings,
  sumStatistics,
  widenFields,
} from "./layout.ts";
import type { StoredDocument } from "./log-store.ts";
import { PostingRows, type TokenCount, tokensOf } from "./posting-rows.ts";
import { selectDocuments, storedDocuments } from "./stored-documents.ts";
import { WrittenPostings } from "./written-postings.ts";
import { WrittenSegments } from "./written-segments.ts";

/** Without a write-ahead log DuckDB keeps what is new in memory until it is told to write it down. */
const CHECKPOINT_BYTES = 16 << 20;
/** Documents that are appended before others have their turn on the event loop. */
const SLICE_DOCUMENTS = 256;
/** Rows of statistics that are summed up whenever they are asked for. */
const MAX_STATISTICS = 2048;
const statisticsTypes = [VARCHAR, BIGINT, BIGINT];

/** How a file is opened, whoever it belongs to. */
export type FileOptions = Omit<DatabaseOptions, "holder">;

export class StoreFile {
  readonly database: Database;
  /** Whether it is a baseline where it lies, which cannot be written to. */
  readonly isShared: boolean;
  readonly #writer: DuckDBConnection;
  #catalog: StoreCatalog;
  #columns: DocumentColumns = { names: [], types: [] };
  readonly #written: WrittenPostings;
  /** Where the text index is of raw text. */
  readonly #segments: WrittenSegments | undefined;
  #sinceCheckpointBytes = 0;
  /** Nothing has been written or removed: the views of postings look at what was built alone. */
  #untouched = false;
  /** Appended since they were summed up. */
  #statisticsRows = 0;

  constructor(database: Database, writer: DuckDBConnection, catalog: StoreCatalog, isShared: boolean) {
    this.database = database;
    this.isShared = isShared;
    this.#writer = writer;
    this.#catalog = catalog;
    this.#written = new WrittenPostings(writer);
    if (catalog.fields.textIndex === "raw") {
      this.#segments = new WrittenSegments(writer, () => this.#catalog);
    }
  }

  /**
   * Opens a baseline where it lies, to read it.
   * @returns `undefined` when its rows have to be put under the index first: it takes a copy. @throws UnreadableStore
   */
  static async share(owner: object, options: FileOptions, index: string): Promise<StoreFile | undefined> {
    const database = await Database.open(owner, { ...options, holder: "others" });
    try {
      const file = await database.turn(async () => {
        const reader = await database.connect();
        return new StoreFile(database, reader, await readCatalog(reader), true);
      });
      if (isNamed(file.catalog, index)) return file;
      await file.close();
      return undefined;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** @param origin what the file is a copy of; or, for one that is made, what words are found by. @throws UnreadableStore */
  static async open(
    owner: object,
    options: FileOptions,
    origin: { index: string } | { textIndex: TextIndex },
  ): Promise<StoreFile> {
    const database = await Database.open(owner, { ...options, holder: "itself" });
    try {
      return await database.turn(async () => {
        const writer = await database.connect();
        if ("textIndex" in origin) await createTables(writer, origin.textIndex);
        const catalog = await readCatalog(writer);
        if ("index" in origin) await nameIndex(writer, catalog, origin.index);
        const file = new StoreFile(database, writer, catalog, false);
        await file.#readColumns();
        if ("index" in origin) await file.#showBuilt();
        return file;
      });
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** Adds fields that no document has yet. */
  declare(added: readonly NewField[], timeField: string | undefined): Promise<void> {
    return this.database.turn(async () => {
      const fields = await addFields(this.#writer, this.#catalog.fields, added, timeField);
      this.#catalog = { ...this.#catalog, fields };
      await this.#readColumns();
    });
  }

  get catalog(): StoreCatalog {
    return this.#catalog;
  }

  /** Every event with a smaller row has its segments, where the text index is of raw text. */
  get segmentedRows(): number {
    return this.#segments?.endRow ?? 0;
  }

  /** Documents of these ids, on the writer's own connection: what the current turn has written is seen. */
  find(predicate: Sql): Promise<StoredDocument[]> {
    return this.database.turn(async () =>
      storedDocuments(await read(this.#writer, selectDocuments(predicate))),
    );
  }

  /** Stores documents, without those they replace. */
  write(
    documents: readonly StoredDocument[],
    replaced: readonly StoredDocument[],
    batch: Batch,
    nextSeqNo: number,
  ): Promise<void> {
    return this.database.turn(async () => {
      await this.#touch();
      const fields = await this.#extend(batch);
      let postings = 0;
      const counted = await transaction(this.#writer, async () => {
        const counts = await this.#deleteRows(replaced.map(({ row }) => row));
        for (let from = 0; from < documents.length; from += SLICE_DOCUMENTS) {
          const slice = documents.slice(from, from + SLICE_DOCUMENTS);
          postings += await this.#append(slice, fields, batch, counts);
        }
        await this.#countTokens(counts);
        return counts.size;
      });
      const last = documents.at(-1);
      this.#catalog = {
        fields,
        nextRow: last ? last.row + 1 : this.#catalog.nextRow,
        nextSeqNo,
      };
      const bytes = documents.reduce((sum, { source }) => sum + source.length * 3, 0);
      if (postings > 0) await this.#written.appended(postings);
      await this.#stored(bytes, counted);
    });
  }

  remove(rows: readonly number[], nextSeqNo: number): Promise<void> {
    return this.database.turn(async () => {
      await this.#touch();
      const counted = await transaction(this.#writer, async () => {
        const counts = await this.#deleteRows(rows);
        await this.#countTokens(counts);
        return counts.size;
      });
      this.#catalog = { ...this.#catalog, nextSeqNo };
      await this.#stored(0, counted);
    });
  }

  /** Whether `maintain` has something to do. */
  get due(): boolean {
    return (this.#segments ?? this.#written).due;
  }

  /** Keeps words quick to look up. Each step is to be run by itself; others may write between them. */
  async *maintain(): AsyncGenerator<() => Promise<void>> {
    const kept = this.#segments ?? this.#written;
    for await (const step of kept.maintain()) yield () => this.database.turn(step);
  }

  async close(): Promise<void> {
    await this.database.turn(async () => this.#writer.closeSync());
    await this.database.close();
  }

  /** A baseline has postings that were built, and no others. */
  async #showBuilt(): Promise<void> {
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
    await transaction(this.#writer, async () => {
      for (const { postings } of this.#catalog.fields.all()) {
        if (postings !== undefined) await show(this.#writer, postings);
      }
    });
  }

  /** Columns for new fields, and lists where a field has several values for the first time. */
  async #extend(batch: Batch): Promise<FieldCatalog> {
    let { fields } = this.#catalog;
    const widened = new Set(
      [...batch.columns]
        .filter(([name, { multi }]) => multi && fields.get(name)?.multi === false)
        .map(([name]) => name),
    );
    const { added } = batch;
    if (widened.size === 0 && added.length === 0) return fields;
    if (widened.size > 0) fields = await widenFields(this.#writer, fields, widened);
    if (added.length > 0) fields = await addFields(this.#writer, fields, added);
    this.#catalog = { ...this.#catalog, fields };
    await this.#readColumns();
    return fields;
  }

  async #readColumns(): Promise<void> {
    const result = await this.#writer.run("SELECT * FROM documents LIMIT 0");
    this.#columns = { names: result.columnNames(), types: result.columnTypes() };
  }

  /** Appends documents with their postings. Answers how many these are. */
  async #append(
    documents: readonly StoredDocument[],
    fields: FieldCatalog,
    batch: Batch,
    counts: Map<string, TokenCount>,
  ): Promise<number> {
    await appendDocuments(this.#writer, this.#columns, documents, fields, batch);
    await setImmediate();
    if (this.#segments !== undefined) return 0;
    const postings = new PostingRows();
    for (const [name, { values }] of batch.columns) {
      const { postings: table } = fields.get(name) ?? {};
      if (table === undefined) continue;
      const texts = documents.flatMap(({ row }) => {
        const text = values.get(row);
        return text ? [[row, text] as const] : [];
      });
      addTo(counts, name, postings.add(postingsNumber(table), texts));
    }
    await setImmediate();
    await postings.appendWritten(this.#writer, this.#written.table);
    return postings.size;
  }

  /** Removes documents with their postings. Answers what that takes from the statistics. */
  async #deleteRows(rows: readonly number[]): Promise<Map<string, TokenCount>> {
    const counts = new Map<string, TokenCount>();
    if (rows.length === 0) return counts;
    const texts = this.#catalog.fields.all().filter(({ postings }) => postings !== undefined);
    const numbers = sql`(SELECT unnest(from_json(${JSON.stringify(rows)}, '["BIGINT"]')))`;
    if (texts.length > 0) {
      const columns = joined(
        texts.map(({ column }) => identifier(column)),
        ", ",
      );
      const found = await read(this.#writer, sql`SELECT ${columns} FROM documents WHERE _row IN ${numbers}`);
      for (const [index, field] of texts.entries()) {
        for (const row of found.rows) {
          const value = row[index] ?? null;
          const values = Array.isArray(value) ? value.map(String) : value === null ? [] : [String(value)];
          const { length } = tokensOf(values);
          if (length > 0) addTo(counts, field.name, { documents: -1, tokens: -length });
        }
      }
    }
    await read(this.#writer, sql`DELETE FROM documents WHERE _row IN ${numbers}`);
    if (this.#segments === undefined) await read(this.#writer, sql`INSERT INTO removed_rows ${numbers}`);
    return counts;
  }

  async #countTokens(counts: ReadonlyMap<string, TokenCount>): Promise<void> {
    if (counts.size === 0) return;
    const values = [...counts.values()];
    await appendColumns(this.#writer, "counted_tokens", statisticsTypes, [
      [...counts.keys()],
      values.map(({ documents }) => BigInt(documents)),
      values.map(({ tokens }) => BigInt(tokens)),
    ]);
  }

  /** Counts what was stored, and tidies up after enough of it. */
  async #stored(bytes: number, statistics: number): Promise<void> {
    this.#statisticsRows += statistics;
    if (this.#statisticsRows > MAX_STATISTICS) {
      await transaction(this.#writer, () => sumStatistics(this.#writer));
      this.#statisticsRows = 0;
    }
    this.#sinceCheckpointBytes += bytes;
    if (this.#sinceCheckpointBytes < CHECKPOINT_BYTES) return;
    this.#sinceCheckpointBytes = 0;
    await read(this.#writer, raw("CHECKPOINT"));
  }
}

function addTo(counts: Map<string, TokenCount>, name: string, { documents, tokens }: TokenCount): void {
  const before = counts.get(name) ?? { documents: 0, tokens: 0 };
  counts.set(name, { documents: before.documents + documents, tokens: before.tokens + tokens });
}
