/**
 * The log store on DuckDB. It reads the baseline where it lies, beside other stores that do; from the first write on it works on
 * a copy, in a file of its own that is thrown away in the end.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import type { FieldCatalog, TextIndex } from "../fields.ts";
import { raw, type Sql } from "../sql.ts";
import { copyDatabase } from "./copy-file.ts";
import { removeDatabase } from "./database.ts";
import { amongIds, DocumentChanges, loadDocuments, type NewChange, unfitOf } from "./document-changes.ts";
import { DEFAULT_INDEX } from "./format.ts";
import { IndexNames } from "./index-names.ts";
import type {
  ConditionalWrite,
  DocumentOutcome,
  DocumentPlace,
  DocumentWrite,
  Fitting,
  HeldRows,
  LogStore,
  LogWriter,
  QueryOptions,
  QueryResult,
  RemovedDocument,
  StoreChange,
  StoreContent,
  StoredDocument,
  UnfitValue,
  WrittenDocument,
} from "./log-store.ts";
import { planWrite } from "./plan-write.ts";
import { type FileOptions, StoreFile } from "./store-file.ts";
import { StoreReader } from "./store-reader.ts";
import { selectDocuments, storedDocuments } from "./stored-documents.ts";
import { Turns } from "./turns.ts";

const MEMORY_LIMIT = "256MB";
const THREADS = 2;

export interface LogStoreOptions {
  /** Folder for this store's file and no other's; made if it is not there. Absent: one of its own among the machine's temporary files. */
  folder?: string;
  /** A database file as `layout.ts` makes them; never changed. Absent: an empty store. */
  baselineFile?: string;
  /** Index of the baseline's rows that have none of their own; `logs` when absent. */
  index?: string;
  /** What words are found by; the baseline has the same. `fields` when absent. */
  textIndex?: TextIndex;
  /** As DuckDB writes it; 256MB when absent. */
  memoryLimit?: string;
  /** `mapped` when absent. */
  fitting?: Fitting;
  /** What becomes of a query that needs more memory than there is; `disk` only where this program writes every query. `fails` when absent. */
  beyondMemory?: "fails" | "disk";
  log?: Logger;
}

/** @throws UnreadableStore when the baseline is no store, or of another format. */
export async function openLogStore(options: LogStoreOptions = {}): Promise<LogStore> {
  const { folder } = options;
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const made = folder === undefined ? await mkdtemp(join(tmpdir(), "offhook-store-")) : undefined;
  const store = new DuckDbLogStore(options, folder ?? made ?? "", made);
  try {
    await store.open();
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw error;
  }
  return store;
}

class DuckDbLogStore implements LogStore {
  readonly #options: LogStoreOptions;
  readonly #folder: string;
  /** The folder that goes with the store. */
  readonly #madeFolder: string | undefined;
  readonly #turns = new Turns();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #changes = new DocumentChanges({
    fitting: () => this.#fitting,
    file: () => this.#file,
    ownFile: () => this.#ownFile(),
    writing: (documents) => {
      for (const { document } of documents) this.#indexes.add(document.index);
    },
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

  constructor(options: LogStoreOptions, folder: string, madeFolder: string | undefined) {
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

  hold(statement: Sql, options?: QueryOptions): Promise<HeldRows> {
    return this.#file.hold(statement, options);
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

  exclusively<Result>(work: (writer: LogWriter) => Promise<Result>): Promise<Result> {
    return this.#turns.take(() => work(this.#writer()));
  }

  reset(baseline: { file: string | undefined } = { file: this.#baselineFile }): Promise<void> {
    return this.#turns.take(async () => {
      const file = await this.#newFile(baseline.file);
      this.#baselineFile = baseline.file;
      await this.#replace(file);
    });
  }

  load({ fields, timeField, documents }: StoreContent): Promise<void> {
    return this.#turns.take(async () => {
      const file = await this.#newFile(undefined);
      try {
        await file.extend({ added: fields, widened: new Set(), timeField });
        await loadDocuments(file, documents, this.#fitting);
      } catch (error) {
        await file.close();
        throw error;
      }
      await this.#replace(file);
    });
  }

  watch(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  close(): Promise<void> {
    return this.#turns.take(async () => {
      const file = this.#opened;
      this.#opened = undefined;
      for (const left of [file, this.#leaving]) left?.database.cancelAll();
      await file?.close();
      await this.#closing;
      if (this.#madeFolder !== undefined) await rm(this.#madeFolder, { recursive: true, force: true });
    });
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
    const { memoryLimit = MEMORY_LIMIT, beyondMemory = "fails", textIndex = "fields" } = this.#options;
    const spillFolder = beyondMemory === "disk" ? join(this.#folder, "spilled") : undefined;
    // Events of raw text are what has happened: they stay.
    const replacing = textIndex === "raw" ? "seldom" : "often";
    return { file, memoryLimit, threads: THREADS, replacing, spillFolder, log: this.#options.log };
  }

  async #newOwnFile(baselineFile: string | undefined): Promise<StoreFile> {
    const { index = DEFAULT_INDEX, textIndex = "fields" } = this.#options;
    const file = join(this.#folder, `store-${this.#files++}.duckdb`);
    // One that a process which was killed has left.
    await removeDatabase(file);
    try {
      if (baselineFile !== undefined) await copyDatabase(baselineFile, file);
      const origin = baselineFile === undefined ? { textIndex } : { index };
      return await StoreFile.open(this, this.#fileOptions(file), origin);
    } catch (error) {
      await removeDatabase(file);
      throw error;
    }
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
    for (const left of [this.#opened, this.#leaving]) left?.database.endHeld();
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
    });
  }

  #announce(change: NewChange): void {
    const numbered = { stateVersion: ++this.stateVersion, ...change };
    for (const listener of [...this.#listeners]) listener(numbered);
  }
}
