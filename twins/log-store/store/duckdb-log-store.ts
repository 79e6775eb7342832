/**
 * The log store on DuckDB. It reads the baseline where it lies, beside other stores that do; from the first write on it works on
 * a copy, in a file of its own that is thrown away in the end.
 */
import { mkdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeTemporaryFolder, type TemporaryFolder } from "@offhook/platform/base/temporary-folder";
import type { Logger } from "pino";
import type { FieldCatalog, IndexMapping, TextIndex } from "../fields.ts";
import { raw, type Sql } from "../sql.ts";
import { copyDatabase, removeDatabase } from "./database.ts";
import { amongIds, DocumentChanges, loadDocuments, type NewChange, unfitOf } from "./document-changes.ts";
import { DEFAULT_INDEX } from "./format.ts";
import { IndexNames } from "./index-names.ts";
import { UnreadableStore } from "./layout.ts";
import {
  type ConditionalWrite,
  type DocumentOutcome,
  type DocumentPlace,
  type DocumentWrite,
  type Fitting,
  type LogStore,
  type LogWriter,
  type QueryOptions,
  type QueryResult,
  type RemovedDocument,
  type ResultCursor,
  type StoreChange,
  type StoreContent,
  type StoredDocument,
  StoreFull,
  type UnfitValue,
  type WrittenDocument,
} from "./log-store.ts";
import { planWrite } from "./plan-write.ts";
import { PriorityMutex } from "./priority-mutex.ts";
import { type FileOptions, StoreFile } from "./store-file.ts";
import { StoreReader } from "./store-reader.ts";
import { StoreRoom } from "./store-room.ts";
import { selectDocuments, storedDocuments } from "./stored-documents.ts";

const MEMORY_BYTES = 256_000_000;
const THREADS = 2;
const LIMIT_BYTES = 8 * 1024 ** 3;

export interface LogStoreOptions {
  /** Folder for this store's file and no other's; made if it is not there. Absent: one of its own among the machine's temporary files. */
  folder?: string;
  /** A database file as `layout.ts` makes them; never changed. Absent: an empty store. */
  baselineFile?: string;
  /** Index of the baseline's rows that have none of their own; `logs` when absent. */
  index?: string;
  /** What words are found by; the baseline has the same. `fields` when absent. */
  textIndex?: TextIndex;
  /** What all of its statements may take together; 256 MB when absent. */
  memoryBytes?: number;
  /** `mapped` when absent. */
  fitting?: Fitting;
  /** What becomes of a query that needs more memory than there is; `disk` only where this program writes every query. `fails` when absent. */
  beyondMemory?: "fails" | "disk";
  /** How large the store's own file may become; 8 GiB when absent. */
  limitBytes?: number | undefined;
  log?: Logger;
}

/** @throws UnreadableStore when the baseline is no store, or of another format. */
export async function openLogStore(options: LogStoreOptions = {}): Promise<LogStore> {
  const { folder } = options;
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const made = folder === undefined ? await makeFolder() : undefined;
  const store = new DuckDbLogStore(options, folder ?? made?.path ?? "", made);
  try {
    await store.open();
  } catch (error) {
    await made?.remove();
    throw error;
  }
  return store;
}

/** @throws StoreFull, or Error without the folder's place */
async function makeFolder(): Promise<TemporaryFolder> {
  try {
    return await makeTemporaryFolder(tmpdir(), "offhook-store-");
  } catch (error) {
    throw new StoreFull("the machine's temporary folder cannot be written to: make room on its disk", {
      cause: error,
    });
  }
}

class DuckDbLogStore implements LogStore {
  readonly #options: LogStoreOptions;
  readonly #folder: string;
  /** The folder that goes with the store. */
  readonly #madeFolder: TemporaryFolder | undefined;
  readonly #mutex = new PriorityMutex();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #changes = new DocumentChanges({
    fitting: () => this.#fitting,
    file: () => this.#file,
    ownFile: () => this.#ownFile(),
    writing: (documents) => {
      for (const { document } of documents) this.#indexes.add(document.index);
    },
    refused: () => this.#indexes.forget(),
    changed: (change) => this.#announce(change),
  });
  #opened: StoreFile | undefined;
  #baselineFile: string | undefined;
  /** The file before, while queries that began with it run; and its end. */
  #leaving: StoreFile | undefined;
  #closing: Promise<void> = Promise.resolve();
  #files = 0;
  readonly #indexes = new IndexNames((statement) => this.query(statement));
  #counts: { stateVersion: number; counts: Promise<ReadonlyMap<string, number>> } | undefined;
  stateVersion = 0;

  constructor(options: LogStoreOptions, folder: string, madeFolder: TemporaryFolder | undefined) {
    this.#options = options;
    this.#baselineFile = options.baselineFile;
    this.#folder = folder;
    this.#madeFolder = madeFolder;
  }

  async open(): Promise<void> {
    this.#opened = await this.#newFile(this.#baselineFile);
  }

  get #fitting(): Fitting {
    return this.#options.fitting ?? "mapped";
  }

  get fields(): FieldCatalog {
    return this.#file.catalog.fields;
  }

  fieldsSettled(): Promise<void> {
    return this.#file.fieldsSettled();
  }

  get nextRow(): number {
    return this.#file.catalog.nextRow;
  }

  get segmentedRows(): number {
    return this.#file.segmentedRows;
  }

  indexes(): Promise<ReadonlySet<string>> {
    return this.#indexes.names();
  }

  query(statement: Sql, options?: QueryOptions): Promise<QueryResult> {
    return this.#file.query(statement, options);
  }

  openCursor(statement: Sql, options?: QueryOptions): Promise<ResultCursor> {
    return this.#file.openCursor(statement, options);
  }

  async byId(
    index: string | undefined,
    ids: readonly string[],
    options?: QueryOptions,
  ): Promise<StoredDocument[]> {
    if (ids.length === 0) return [];
    const found = storedDocuments(await this.query(selectDocuments(amongIds(ids)), options));
    return index === undefined ? found : found.filter((document) => document.index === index);
  }

  counts(): Promise<ReadonlyMap<string, number>> {
    const { stateVersion } = this;
    if (this.#counts?.stateVersion !== stateVersion) {
      const counts = this.query(raw("SELECT _index, count(*) FROM documents GROUP BY 1")).then(
        ({ rows }) => new Map(rows.map(([index, count]) => [String(index), Number(count)])),
      );
      this.#counts = { stateVersion, counts };
      counts.catch(() => {
        this.#counts = undefined;
      });
    }
    return this.#counts.counts;
  }

  write(documents: readonly DocumentWrite[]): Promise<WrittenDocument[]> {
    return this.exclusively((writer) => writer.write(documents));
  }

  async misfits(documents: readonly DocumentWrite[]): Promise<UnfitValue[]> {
    const { fields, nextRow, nextSeqNo } = this.#file.catalog;
    const place = { nextRow, nextSeqNo, documents: new Map(), removedVersion: () => undefined };
    const state = { fields, fitting: this.#fitting, ...place };
    return unfitOf((await planWrite(documents, state)).outcomes);
  }

  writeEach(documents: readonly ConditionalWrite[]): Promise<DocumentOutcome[]> {
    return this.exclusively((writer) => writer.writeEach(documents));
  }

  remove(places: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]> {
    return this.exclusively((writer) => writer.remove(places));
  }

  defineIndex(index: string, mapping: IndexMapping): Promise<void> {
    return this.exclusively((writer) => writer.defineIndex(index, mapping));
  }

  removeIndex(index: string): Promise<void> {
    return this.exclusively((writer) => writer.removeIndex(index));
  }

  exclusively<Result>(work: (writer: LogWriter) => Promise<Result>): Promise<Result> {
    return this.#mutex.run(() => work(this.#writer()));
  }

  reset(baseline: { file: string | undefined } = { file: this.#baselineFile }): Promise<void> {
    return this.#mutex.run(async () => {
      const file = await this.#newFile(baseline.file);
      this.#baselineFile = baseline.file;
      await this.#replace(file);
    });
  }

  load({ fields, timeField, indices = new Map(), documents }: StoreContent): Promise<void> {
    return this.#mutex.run(async () => {
      const file = await this.#newFile(undefined);
      try {
        await file.extend({ added: fields, widened: new Set(), texts: new Set(), timeField });
        for (const [index, mapping] of indices) await file.define(index, mapping);
        await loadDocuments(file, documents, this.#fitting);
      } catch (error) {
        await file.close();
        throw error;
      }
      await this.#replace(file);
    });
  }

  async refusal(): Promise<StoreFull | undefined> {
    if (!this.#file.isShared) return this.#file.refusal();
    try {
      await this.#checkRoom(this.#nextFile, this.#baselineFile);
      return undefined;
    } catch (error) {
      if (error instanceof StoreFull) return error;
      throw error;
    }
  }

  watch(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  close(): Promise<void> {
    return this.#mutex.run(async () => {
      const file = this.#opened;
      this.#opened = undefined;
      for (const left of [file, this.#leaving]) left?.cancelAll();
      await file?.close();
      await this.#closing;
      await this.#madeFolder?.remove();
    });
  }

  get #nextFile(): string {
    return join(this.#folder, `store-${this.#files}.duckdb`);
  }

  get #file(): StoreFile {
    if (!this.#opened) throw new Error("the store is closed");
    return this.#opened;
  }

  async #newFile(baselineFile: string | undefined): Promise<StoreFile> {
    if (baselineFile === undefined) return this.#newOwnFile(undefined);
    const { index = DEFAULT_INDEX } = this.#options;
    const shared = await StoreFile.share(this, this.#fileOptions(baselineFile), index);
    return shared ?? this.#newOwnFile(baselineFile);
  }

  #fileOptions(file: string): FileOptions {
    const { memoryBytes = MEMORY_BYTES, beyondMemory = "fails", textIndex = "fields" } = this.#options;
    const spillFolder = beyondMemory === "disk" ? join(this.#folder, "spilled") : undefined;
    // Events of raw text are what has happened: they stay.
    const replacing = textIndex === "raw" ? "seldom" : "often";
    const { limitBytes = LIMIT_BYTES, log } = this.#options;
    return {
      file,
      memoryBytes,
      threads: THREADS,
      replacing,
      spillFolder,
      limitBytes,
      whenFreed: () => this.#closing,
      log,
    };
  }

  async #newOwnFile(baselineFile: string | undefined): Promise<StoreFile> {
    const { index = DEFAULT_INDEX, textIndex = "fields" } = this.#options;
    const file = this.#nextFile;
    this.#files++;
    // One that a process which was killed has left.
    await removeDatabase(file);
    try {
      if (baselineFile !== undefined) {
        await this.#checkRoom(file, baselineFile);
        await copyDatabase(baselineFile, file);
      }
      const origin = baselineFile === undefined ? { textIndex } : { index };
      return await StoreFile.open(this, this.#fileOptions(file), origin);
    } catch (error) {
      await removeDatabase(file);
      // The disk may have been filled meanwhile.
      if (!(error instanceof UnreadableStore)) await this.#checkRoom(file, baselineFile, error);
      throw error;
    }
  }

  /** @param cause what went wrong without room @throws StoreFull when there is none for a file, or a copy of the baseline */
  async #checkRoom(file: string, baselineFile: string | undefined, cause?: unknown): Promise<void> {
    const room = new StoreRoom(file, this.#options.limitBytes ?? LIMIT_BYTES);
    const shortage = await room.shortage(baselineFile === undefined ? 1 : (await stat(baselineFile)).size);
    if (shortage) throw room.refusal(shortage, cause);
  }

  /** The file that can be written to. */
  async #ownFile(): Promise<StoreFile> {
    if (!this.#file.isShared) return this.#file;
    const file = await this.#newOwnFile(this.#baselineFile);
    // One at most is kept for queries that began with it.
    await this.#closing;
    this.#changeTo(file);
    return file;
  }

  /** Has other content from here on. */
  async #replace(file: StoreFile): Promise<void> {
    // Who reads slowly keeps nobody from beginning anew.
    for (const left of [this.#opened, this.#leaving]) left?.endCursors();
    await this.#closing;
    this.#changeTo(file);
    this.#changes.forget();
    this.#indexes.forget();
    this.#announce({ change: "reset" });
  }

  /** Works on another file from here on. */
  #changeTo(file: StoreFile): void {
    const before = this.#file;
    this.#leaving = before;
    this.#opened = file;
    this.#closing = before.close().catch((error: unknown) => {
      this.#options.log?.warn({ err: error }, "a database that is no longer used could not be removed");
    });
  }

  /** What may be done while nobody else writes. */
  #writer(): LogWriter {
    return Object.assign(new StoreReader(this), {
      write: this.#changes.write.bind(this.#changes),
      misfits: this.misfits.bind(this),
      writeEach: this.#changes.writeEach.bind(this.#changes),
      remove: this.#changes.remove.bind(this.#changes),
      defineIndex: this.#changes.defineIndex.bind(this.#changes),
      removeIndex: this.#changes.removeIndex.bind(this.#changes),
    });
  }

  #announce(change: NewChange): void {
    const numbered = { stateVersion: ++this.stateVersion, ...change };
    for (const listener of [...this.#listeners]) listener(numbered);
  }
}
