/**
 * The log store on DuckDB. It reads the baseline where it lies, beside other stores that do; from the first write on it works on
 * a copy, in a file of its own that is thrown away in the end.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import type { FieldCatalog } from "../fields.ts";
import { raw, type Sql, sql } from "../sql.ts";
import { copyDatabase } from "./copy-file.ts";
import { removeDatabase } from "./database.ts";
import { DEFAULT_INDEX } from "./format.ts";
import {
  type ConditionalWrite,
  type DocumentOutcome,
  type DocumentPlace,
  type DocumentWrite,
  type LoadedDocument,
  type LogStore,
  type LogWriter,
  type QueryOptions,
  type QueryResult,
  type RemovedDocument,
  type StoreChange,
  type StoreContent,
  type StoredDocument,
  UnfitDocuments,
  type UnfitValue,
  type WrittenDocument,
} from "./log-store.ts";
import { documentKey, planWrite, type WritePlan } from "./plan-write.ts";
import { StoreFile } from "./store-file.ts";
import { selectDocuments, storedDocuments } from "./stored-documents.ts";
import { Turns } from "./turns.ts";

const MEMORY_LIMIT = "256MB";
const THREADS = 2;
/** Documents of a state that are loaded together. */
const LOADED_TOGETHER = 4096;
/** How many removed documents are remembered, so that one written again goes on with its version. */
const MAX_REMOVED = 10_000;

export interface LogStoreOptions {
  /** Folder for this store's file and no other's; made if it is not there. Absent: one of its own among the machine's temporary files. */
  folder?: string;
  /** A database file as `layout.ts` makes them; never changed. Absent: an empty store. */
  baselineFile?: string;
  /** Index of the baseline's rows that have none of their own; `logs` when absent. */
  index?: string;
  /** As DuckDB writes it; 256MB when absent. */
  memoryLimit?: string;
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
  readonly #removed = new Map<string, number>();
  #opened: StoreFile | undefined;
  #baselineFile: string | undefined;
  /** The file before, while queries that began with it run; and its end. */
  #leaving: StoreFile | undefined;
  #closing: Promise<void> = Promise.resolve();
  #files = 0;
  #maintaining = false;
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

  get fields(): FieldCatalog {
    return this.#file.catalog.fields;
  }

  query(statement: Sql, options?: QueryOptions): Promise<QueryResult> {
    return this.#file.database.query(statement, options);
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
    const state = { fields, nextRow, nextSeqNo, documents: new Map(), removedVersion: () => undefined };
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
        await file.declare(fields, timeField);
        await loadDocuments(file, documents);
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
      for (const left of [file, this.#leaving]) left?.database.cancelQueries();
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
    const { memoryLimit = MEMORY_LIMIT, index = DEFAULT_INDEX } = this.#options;
    if (baselineFile === undefined) return this.#newOwnFile(undefined);
    const shared = await StoreFile.share(this, { file: baselineFile, memoryLimit, threads: THREADS }, index);
    return shared ?? this.#newOwnFile(baselineFile);
  }

  async #newOwnFile(baselineFile: string | undefined): Promise<StoreFile> {
    const { memoryLimit = MEMORY_LIMIT, index = DEFAULT_INDEX } = this.#options;
    const file = join(this.#folder, `store-${this.#files++}.duckdb`);
    // One that a process which was killed has left.
    await removeDatabase(file);
    try {
      if (baselineFile !== undefined) await copyDatabase(baselineFile, file);
      const options = { file, memoryLimit, threads: THREADS };
      return await StoreFile.open(this, options, baselineFile === undefined ? undefined : { index });
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
    await this.#closing;
    this.#changeTo(file);
    this.#removed.clear();
    this.#announce({ stateVersion: ++this.stateVersion, change: "reset" });
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
    const store = this;
    return {
      get fields() {
        return store.fields;
      },
      get stateVersion() {
        return store.stateVersion;
      },
      query: (statement, options) => store.query(statement, options),
      byId: (index, ids, options) => store.byId(index, ids, options),
      write: (documents) => store.#writeAll(documents),
      misfits: (documents) => store.misfits(documents),
      writeEach: (documents) => store.#writeEach(documents),
      remove: (places) => store.#remove(places),
    };
  }

  async #writeAll(documents: readonly DocumentWrite[]): Promise<WrittenDocument[]> {
    const plan = await this.#plan(documents);
    throwUnfit(plan.outcomes);
    await this.#store(plan);
    return plan.outcomes.filter((outcome) => outcome.outcome === "written");
  }

  async #writeEach(documents: readonly ConditionalWrite[]): Promise<DocumentOutcome[]> {
    const plan = await this.#plan(documents);
    await this.#store(plan);
    return plan.outcomes;
  }

  async #plan(documents: readonly ConditionalWrite[]): Promise<WritePlan> {
    const { fields, nextRow, nextSeqNo } = this.#file.catalog;
    const places = documents.flatMap(({ index, id }) => (id === undefined ? [] : [{ index, id }]));
    return planWrite(documents, {
      fields,
      nextRow,
      nextSeqNo,
      documents: await this.#find(places),
      removedVersion: (key) => this.#removed.get(key),
    });
  }

  async #store(plan: WritePlan): Promise<void> {
    const { documents } = plan;
    if (documents.length === 0) return;
    await writePlan(await this.#ownFile(), plan);
    this.#announce({ stateVersion: ++this.stateVersion, change: "write", documents });
    void this.#maintain();
  }

  /** Puts postings into order, a step at a time, as long as there is something to do. */
  async #maintain(): Promise<void> {
    const file = this.#file;
    if (this.#maintaining || !file.due) return;
    this.#maintaining = true;
    try {
      while (file.due && this.#opened === file) {
        for await (const step of file.maintain()) {
          await this.#turns.take(async () => {
            if (this.#opened === file) await step();
          });
          if (this.#opened !== file) return;
        }
      }
    } catch (error) {
      // Lookups are slower than they could be, and still right.
      this.#options.log?.warn({ err: error }, "postings could not be put into order");
    } finally {
      this.#maintaining = false;
    }
  }

  async #remove(places: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]> {
    const there = await this.#find(places);
    const documents = [...there.values()];
    let { nextSeqNo } = this.#file.catalog;
    const removed = places.map((place): RemovedDocument | undefined => {
      const key = documentKey(place);
      const document = there.get(key);
      if (!document) return undefined;
      there.delete(key);
      this.#remember(key, document.version + 1);
      return { version: document.version + 1, seqNo: nextSeqNo++ };
    });
    if (documents.length === 0) return removed;
    const file = await this.#ownFile();
    await file.remove(
      documents.map(({ row }) => row),
      nextSeqNo,
    );
    this.#announce({ stateVersion: ++this.stateVersion, change: "remove", documents });
    return removed;
  }

  /** What is in these places, by `documentKey`. */
  async #find(places: readonly DocumentPlace[]): Promise<Map<string, StoredDocument>> {
    const ids = places.map(({ id }) => id);
    const found = ids.length === 0 ? [] : await this.#file.find(amongIds(ids));
    return new Map(found.map((document) => [documentKey(document), document]));
  }

  #remember(key: string, version: number): void {
    this.#removed.delete(key);
    this.#removed.set(key, version);
    const [oldest] = this.#removed.keys();
    if (this.#removed.size > MAX_REMOVED && oldest !== undefined) this.#removed.delete(oldest);
  }

  #announce(change: StoreChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

function amongIds(ids: readonly string[]): Sql {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return sql`_id = ${only}`;
  return sql`_id IN (SELECT unnest(from_json(${JSON.stringify(ids)}, '["VARCHAR"]')))`;
}

/** Stores what a write comes to. */
async function writePlan(file: StoreFile, { documents, batch, nextSeqNo }: WritePlan): Promise<void> {
  const replaced = documents.flatMap((planned) => planned.replaced ?? []);
  await file.write(
    documents.map(({ document }) => document),
    replaced,
    batch,
    nextSeqNo,
  );
}

/**
 * Stores documents in a file that nobody sees yet, some at a time: it is all of them or nothing without a transaction.
 * @throws UnfitDocuments with all that do not fit
 */
async function loadDocuments(file: StoreFile, documents: readonly LoadedDocument[]): Promise<void> {
  for (let from = 0; from < documents.length; from += LOADED_TOGETHER) {
    const state = { ...file.catalog, documents: new Map(), removedVersion: () => undefined };
    const plan = await planWrite(documents.slice(from, from + LOADED_TOGETHER), state);
    if (unfitOf(plan.outcomes).length > 0) {
      // All that comes after is looked at, too.
      const { outcomes } = await planWrite(documents.slice(from), state);
      throw new UnfitDocuments(
        unfitOf(outcomes).map((value) => ({ ...value, document: value.document + from })),
      );
    }
    await writePlan(file, plan);
  }
}

/** @throws UnfitDocuments */
function throwUnfit(outcomes: readonly DocumentOutcome[]): void {
  const unfit = unfitOf(outcomes);
  if (unfit.length > 0) throw new UnfitDocuments(unfit);
}

function unfitOf(outcomes: readonly DocumentOutcome[]): UnfitValue[] {
  return outcomes.flatMap((outcome, document) =>
    outcome.outcome === "unfit" ? [{ ...outcome.misfit, document }] : [],
  );
}
