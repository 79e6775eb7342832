/**
 * The log store on DuckDB, copy-on-write: it reads the baseline file in place, which other stores may share. The first write makes a
 * copy of its own, which is deleted in the end.
 */
import { mkdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Listeners } from "@offhook/platform/base/listeners";
import { makeTemporaryFolder, type TemporaryFolder } from "@offhook/platform/base/temporary-folder";
import type { HeldState } from "@offhook/platform/world/world";
import type { Logger } from "pino";
import type { FieldCatalog, IndexMapping, TextIndex } from "../fields.ts";
import { raw, type Sql } from "../sql.ts";
import { copyDatabase, removeDatabase } from "./database.ts";
import { DocumentChanges, hasId, loadDocuments, type NewChange, unfitOf } from "./document-changes.ts";
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
  /** Folder for this store's files alone; created when missing. Absent: a temporary folder. */
  folder?: string;
  /** A database file as `layout.ts` makes them; never changed. Absent: an empty store. */
  baselineFile?: string;
  /** Index of baseline rows that name none; `logs` when absent. */
  index?: string;
  /** Must be the baseline's; `fields` when absent. */
  textIndex?: TextIndex;
  /** Memory limit of all its statements together; 256 MB when absent. */
  memoryBytes?: number;
  /** `mapped` when absent. */
  fitting?: Fitting;
  /** A query beyond the memory limit fails, the default, or spills to disk. `disk` is safe only where this program writes every query. */
  beyondMemory?: "fails" | "disk";
  /** Largest size of the store's own file; 8 GiB when absent. */
  limitBytes?: number | undefined;
  log?: Logger;
}

/** @throws UnreadableStore when the baseline is no store, or has another format; StoreFull */
export async function openLogStore(options: LogStoreOptions = {}): Promise<LogStore> {
  const { folder } = options;
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const temporary = folder === undefined ? await makeFolder() : undefined;
  const store = new DuckDbLogStore(options, folder ?? temporary?.path ?? "", temporary);
  try {
    await store.open();
  } catch (error) {
    await temporary?.remove();
    throw error;
  }
  return store;
}

/** @throws StoreFull, whose message does not name the folder */
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
  /** Removed when the store closes. */
  readonly #temporaryFolder: TemporaryFolder | undefined;
  readonly #mutex = new PriorityMutex();
  readonly #listeners = new Listeners<StoreChange>();
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
  /** The previous file, while queries that began with it run; `#closing` resolves when it is closed. */
  #previous: StoreFile | undefined;
  #closing: Promise<void> = Promise.resolve();
  /** Files whose content may have to come back: they stay open. */
  readonly #held = new Set<{ file: StoreFile }>();
  #files = 0;
  readonly #indexes = new IndexNames((statement) => this.query(statement));
  #counts: { stateVersion: number; counts: Promise<ReadonlyMap<string, number>> } | undefined;
  stateVersion = 0;

  constructor(options: LogStoreOptions, folder: string, temporaryFolder: TemporaryFolder | undefined) {
    this.#options = options;
    this.#baselineFile = options.baselineFile;
    this.#folder = folder;
    this.#temporaryFolder = temporaryFolder;
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
    const found = storedDocuments(await this.query(selectDocuments(hasId(ids)), options));
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
      const isUnchanged = this.#file.isUnwritten && this.#baselineFile === baseline.file;
      const file = isUnchanged ? this.#file : await this.#newFile(baseline.file);
      this.#baselineFile = baseline.file;
      await this.#replace(file);
    });
  }

  hold(): Promise<HeldState> {
    return this.#mutex.run(async () => {
      const hold = { file: this.#file };
      const baselineFile = this.#baselineFile;
      this.#held.add(hold);
      return {
        restore: () =>
          this.#mutex.run(async () => {
            this.#baselineFile = baselineFile;
            await this.#replace(hold.file);
          }),
        release: () => this.#mutex.run(async () => this.#release(hold)),
      };
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
    return this.#listeners.add(listener);
  }

  close(): Promise<void> {
    return this.#mutex.run(async () => {
      const files = new Set([...this.#held].map(({ file }) => file));
      if (this.#opened) files.add(this.#opened);
      this.#opened = undefined;
      this.#held.clear();
      for (const left of [...files, this.#previous]) left?.cancelAll();
      for (const file of files) await file.close();
      await this.#closing;
      await this.#temporaryFolder?.remove();
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
    // Events that are indexed by their raw text are seldom replaced or removed.
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
    // A process that was killed may have left one.
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
      // The disk may have become full since.
      if (!(error instanceof UnreadableStore)) await this.#checkRoom(file, baselineFile, error);
      throw error;
    }
  }

  /** @param cause the failure that led here @throws StoreFull when there is no room for a file, or for a copy of the baseline */
  async #checkRoom(file: string, baselineFile: string | undefined, cause?: unknown): Promise<void> {
    const room = new StoreRoom(file, this.#options.limitBytes ?? LIMIT_BYTES);
    const shortage = await room.shortage(baselineFile === undefined ? 1 : (await stat(baselineFile)).size);
    if (shortage) throw room.refusal(shortage, cause);
  }

  /** The writable file; copies the baseline first when the store still shares it. */
  async #ownFile(): Promise<StoreFile> {
    if (!this.#file.isShared) return this.#file;
    const file = await this.#newOwnFile(this.#baselineFile);
    // At most one previous file stays open for its queries.
    await this.#closing;
    this.#switchTo(file);
    return file;
  }

  /** Switches to a file with other content. */
  async #replace(file: StoreFile): Promise<void> {
    // A slow reader of a cursor must not delay a reset.
    this.#previous?.endCursors();
    await this.#closing;
    this.#file.endCursors();
    this.#switchTo(file);
    this.#changes.forget();
    this.#indexes.forget();
    this.#announce({ change: "reset" });
  }

  #switchTo(file: StoreFile): void {
    const before = this.#file;
    if (before === file) return;
    this.#previous = before;
    this.#opened = file;
    this.#leaveUnlessHeld(before);
  }

  /** The caller holds the mutex. */
  #release(hold: { file: StoreFile }): void {
    // A store that closes releases all.
    if (this.#held.delete(hold) && hold.file !== this.#opened) this.#leaveUnlessHeld(hold.file);
  }

  /** Closes a file as soon as the queries that began with it are done. */
  #leaveUnlessHeld(file: StoreFile): void {
    for (const hold of this.#held) if (hold.file === file) return;
    const closing = file.close().catch((error: unknown) => {
      this.#options.log?.warn({ err: error }, "could not remove a database file that is no longer used");
    });
    this.#closing = Promise.all([this.#closing, closing]).then(() => undefined);
  }

  /** The operations inside an exclusive section. */
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
    this.#listeners.tell(numbered);
  }
}
