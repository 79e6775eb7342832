/** A store's open database file: its catalog, reads, buffered writes, and recovery when DuckDB invalidates the database. */
import { truncate } from "node:fs/promises";
import { dirname } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Logger } from "pino";
import type { IndexMapping, TextIndex } from "../fields.ts";
import type { Sql } from "../sql.ts";
import { Database, type DatabaseOptions, usedBytes } from "./database.ts";
import { IndexMaintenance } from "./index-maintenance.ts";
import {
  checkpointsOf,
  createCheckpoints,
  createTables,
  isNamed,
  nameIndex,
  readCatalog,
  type StoreCatalog,
} from "./layout.ts";
import {
  QueryInterrupted,
  type QueryOptions,
  type QueryResult,
  QueueFull,
  type ResultCursor,
  type StoreFull,
} from "./log-store.ts";
import type { PlannedDocument, WritePlan } from "./plan-write.ts";
import { PriorityMutex } from "./priority-mutex.ts";
import { BYTES_PER_CHARACTER, type FieldChanges, RowWriter } from "./row-writer.ts";
import { StoreRoom } from "./store-room.ts";
import { WriteBuffer } from "./write-buffer.ts";

export interface FileOptions extends Omit<DatabaseOptions, "holder"> {
  log: Logger | undefined;
  /** Largest size of the file. */
  limitBytes: number;
  /** Resolves when the previous file has freed its space. */
  whenFreed(): Promise<void>;
}

/** A copy of a baseline, with the index for rows that name none; or an empty file. */
type Origin = { index: string } | { textIndex: TextIndex };

interface Opened {
  database: Database;
  writer: RowWriter;
}

export class StoreFile {
  readonly #owner: object;
  readonly #options: FileOptions;
  /** `undefined`: a baseline, read in place, which cannot be written to. */
  readonly #origin: Origin | undefined;
  readonly #room: StoreRoom;
  #database: Database;
  #writer: RowWriter;
  /** Serializes the writer. */
  readonly #mutex = new PriorityMutex();
  readonly #buffer: WriteBuffer<PlannedDocument>;
  #maintenance: IndexMaintenance;
  /** Includes the buffered writes. */
  #catalog: StoreCatalog;
  /** As it was before the first write. */
  readonly #originalCatalog: StoreCatalog;
  #extending: Promise<void> = Promise.resolve();
  /** Resolves when the databases that DuckDB invalidated are closed. */
  #abandoned: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Size of the last write, when it was refused. */
  #refusedBytes = 0;

  private constructor(
    owner: object,
    options: FileOptions,
    origin: Origin | undefined,
    room: StoreRoom,
    { database, writer, catalog }: Opened & { catalog: StoreCatalog },
  ) {
    this.#owner = owner;
    this.#options = options;
    this.#origin = origin;
    this.#room = room;
    this.#database = database;
    this.#writer = writer;
    this.#catalog = catalog;
    this.#originalCatalog = catalog;
    this.#buffer = new WriteBuffer(
      (documents) => this.#store(documents, []),
      ({ document }) => document.source.length,
    );
    this.#maintenance = this.#newMaintenance();
  }

  /**
   * Opens a baseline in place, to read it.
   * @returns `undefined` when its rows must first be put under another index, which takes a copy @throws UnreadableStore
   */
  static async share(owner: object, options: FileOptions, index: string): Promise<StoreFile | undefined> {
    const room = new StoreRoom(options.file, options.limitBytes);
    const opened = await openDatabase(owner, { ...options, holder: "others" }, readBaseline);
    const file = new StoreFile(owner, options, undefined, room, opened);
    if (isNamed(file.catalog, index)) return file;
    await file.close();
    return undefined;
  }

  /** @throws UnreadableStore, StoreFull */
  static async open(owner: object, options: FileOptions, origin: Origin): Promise<StoreFile> {
    const room = new StoreRoom(options.file, options.limitBytes);
    const opened = await openDatabase(owner, { ...options, holder: "itself" }, (connection) =>
      begin(connection, origin, room),
    );
    return new StoreFile(owner, options, origin, room, opened);
  }

  /** Whether it is a baseline, read in place, which cannot be written to. */
  get isShared(): boolean {
    return this.#origin === undefined;
  }

  /** Whether it still has the content that it was opened with. */
  get isUnwritten(): boolean {
    return this.#catalog === this.#originalCatalog; // Every change makes another one.
  }

  /** As a read that begins now sees it. */
  get catalog(): StoreCatalog {
    return this.#catalog;
  }

  /** With the text index `raw`: the segments of every event with a smaller row are indexed. */
  get segmentedRows(): number {
    return this.#writer.segmentedRows;
  }

  /** Runs one statement that reads; it sees every earlier write. @throws QueryInterrupted, QueueFull, StoreFull */
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult> {
    return this.#read((database) => database.query(statement, options, this.#flushFirst()));
  }

  /** Materializes the rows of one statement that reads; it sees every earlier write. @throws QueryInterrupted, QueueFull, StoreFull */
  openCursor(statement: Sql, options?: QueryOptions): Promise<ResultCursor> {
    return this.#read((database) => database.openCursor(statement, options, this.#flushFirst()));
  }

  /** Resolves when all writes are in the database. */
  flush(): Promise<void> {
    return this.#buffer.flush();
  }

  /** Adds and changes fields. The buffered documents fit the changed fields as well. */
  async extend(changes: FieldChanges): Promise<void> {
    const extending = this.#change(() => this.#writer.extend(changes)).then((fields) => {
      this.#catalog = { ...this.#catalog, fields };
    });
    this.#extending = extending.catch(() => {}); // The caller gets the error.
    await extending;
  }

  /** Resolves when the last change of the fields is over. The database has it a moment before `catalog`. */
  fieldsSettled(): Promise<void> {
    return this.#extending;
  }

  /** Gives an index a mapping of its own, and adds the fields that it lacks. */
  async define(index: string, mapping: IndexMapping): Promise<void> {
    const { fields } = this.#catalog;
    const added = mapping.fields.filter((field) => !fields.stored(field));
    await this.extend({ added, widened: new Set(), texts: new Set(), defined: { index, mapping } });
  }

  /** Removes the fields of an index that has no documents. */
  async drop(index: string): Promise<void> {
    await this.extend({ added: [], widened: new Set(), texts: new Set(), dropped: index });
  }

  /**
   * Stores documents, and removes those they replace; later reads see it. The caller holds the store's mutex.
   * @throws StoreFull, and then nothing is stored
   */
  async write({ documents, changes, nextSeqNo }: WritePlan): Promise<void> {
    const last = documents.at(-1);
    if (!last) return;
    await this.#reserve(documents.reduce((sum, { document }) => sum + document.source.length, 0));
    if (changes.added.length > 0 || changes.widened.size > 0 || changes.texts.size > 0)
      await this.extend(changes);
    const replaced = documents.flatMap((planned) => planned.replaced ?? []).map(({ row }) => row);
    if (replaced.length === 0) {
      await this.#buffer.waitForRoom();
      this.#buffer.add(documents);
    } else {
      await this.#buffer.flush();
      await this.#store(documents, replaced);
    }
    this.#catalog = { ...this.#catalog, nextRow: last.document.row + 1, nextSeqNo };
  }

  /** @throws StoreFull: a removal takes room too, and frees none before the next checkpoint */
  async remove(rows: readonly number[], nextSeqNo: number): Promise<void> {
    await this.#reserve(rows.length);
    await this.#buffer.flush();
    await this.#store([], rows);
    this.#catalog = { ...this.#catalog, nextSeqNo };
  }

  /** Why there is no room for writes at this moment; `undefined`: there is. */
  async refusal(): Promise<StoreFull | undefined> {
    await this.#options.whenFreed();
    this.#room.forget();
    const shortage = await this.#room.shortage(this.#pendingBytes + Math.max(this.#refusedBytes, 1));
    return shortage && this.#room.refusal(shortage);
  }

  /** Ends every query that runs or waits, and every cursor. */
  cancelAll(): void {
    this.#database.cancelAll();
  }

  /** Ends all cursors, also those that are being read. */
  endCursors(): void {
    this.#database.endCursors();
  }

  /** Waits for running work, and drops what is in the buffer alone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#maintenance.stop();
    await this.#buffer.close();
    await this.#mutex.run(() => this.#database.change(async () => this.#writer.close()));
    await this.#database.close();
    await this.#abandoned;
  }

  get #pendingBytes(): number {
    return this.#writer.pendingBytes + this.#buffer.characters * BYTES_PER_CHARACTER;
  }

  #newMaintenance(): IndexMaintenance {
    return new IndexMaintenance(
      this.#writer,
      (step) => this.#mutex.runInBackground(() => this.#changeDatabase(step)),
      this.#options.log,
    );
  }

  #flushFirst(): (() => Promise<void>) | undefined {
    return this.#buffer.isEmpty ? undefined : () => this.#buffer.flush();
  }

  /** Makes sure that there is room for documents with so many characters, and for all that is pending. @throws StoreFull */
  async #reserve(characters: number): Promise<void> {
    const bytes = characters * BYTES_PER_CHARACTER;
    this.#refusedBytes = 0;
    if (await this.#room.holds(this.#pendingBytes + bytes)) return;
    await this.#options.whenFreed();
    // A checkpoint may take less room than estimated.
    await this.#buffer.flush();
    await this.#change(() => this.#writer.checkpoint(0));
    const shortage = await this.#room.shortage(this.#pendingBytes + bytes);
    if (!shortage) return;
    this.#refusedBytes = bytes;
    throw this.#room.refusal(shortage);
  }

  async #store(documents: readonly PlannedDocument[], removed: readonly number[]): Promise<void> {
    await this.#change(() => this.#writer.store(documents, removed));
    void this.#maintenance.start();
  }

  /** Changes the database; retries once on the recovered database when DuckDB invalidates it. */
  #change<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#mutex.run(async () => {
      const database = this.#database;
      try {
        return await this.#changeDatabase(work);
      } catch (error) {
        if (database === this.#database) throw await this.#withoutPath(error);
      }
      try {
        return await this.#changeDatabase(work);
      } catch (error) {
        throw await this.#withoutPath(error);
      }
    });
  }

  /** Runs a change. When DuckDB invalidates the database, recovers it and rethrows. */
  async #changeDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
    const database = this.#database;
    try {
      return await database.change(work);
    } catch (error) {
      if (!(await database.isUsable())) await this.#recover(error);
      throw error;
    }
  }

  /** Reads; retries once on the recovered database when DuckDB has invalidated it. */
  async #read<Result>(read: (database: Database) => Promise<Result>): Promise<Result> {
    const database = this.#database;
    try {
      return await read(database);
    } catch (error) {
      if (error instanceof QueryInterrupted || error instanceof QueueFull || this.#isClosed) throw error;
      if (database === this.#database) {
        if (await database.isUsable()) throw await this.#withoutPath(error);
        await this.#mutex.run(async () => {
          if (database === this.#database) await this.#recover(error);
        });
      }
      return read(this.#database);
    }
  }

  /** Reopens the file, and restores its content. The caller holds the mutex. */
  async #recover(error: unknown): Promise<void> {
    if (this.#isClosed) return;
    const { log } = this.#options;
    log?.error({ err: error }, "DuckDB invalidated the database of a log store; reopening it");
    this.#maintenance.stop();
    const [database, writer] = [this.#database, this.#writer];
    const opened = this.#origin === undefined ? await this.#openShared() : await this.#openOwn(this.#origin);
    this.#database = opened.database;
    this.#writer = opened.writer;
    this.#maintenance = this.#newMaintenance();
    writer.close();
    database.endCursors();
    this.#abandoned = Promise.all([this.#abandoned, database.leave()]).catch((reason: unknown) => {
      log?.warn({ err: reason }, "could not close a database that DuckDB had invalidated");
    });
  }

  #openShared(): Promise<Opened> {
    return openDatabase(this.#owner, { ...this.#options, holder: "others" }, readBaseline);
  }

  async #openOwn(origin: Origin): Promise<Opened> {
    const { checkpoint, begun, changes } = this.#writer.log;
    const options: DatabaseOptions = { ...this.#options, holder: "itself" };
    const opened = await openDatabase(this.#owner, options, async (connection) => {
      // A checkpoint can complete in the file and still report an error.
      const isComplete = begun !== undefined && (await checkpointsOf(connection)) === begun.checkpoints;
      // A failed checkpoint leaves unused blocks behind those of the one before.
      await truncate(options.file, await usedBytes(connection));
      const state = isComplete ? begun : checkpoint;
      const writer = state
        ? await RowWriter.resume(connection, state, this.#room)
        : (await begin(connection, origin, this.#room)).writer;
      await writer.replay(isComplete ? [] : changes);
      return { writer };
    });
    if (begun !== checkpoint) await this.#room.checkpointFailed();
    return opened;
  }

  /** Hides the file's path: an error that names it becomes StoreFull on a full disk, else a general error, and is logged. */
  async #withoutPath(error: unknown): Promise<unknown> {
    const { file, spillFolder, log } = this.#options;
    const folders = [dirname(file), ...(spillFolder === undefined ? [] : [dirname(spillFolder)])];
    if (!(error instanceof Error) || !folders.some((folder) => error.message.includes(folder))) return error;
    log?.error({ err: error }, "a log store's database failed");
    const shortage = await this.#room.shortage(this.#pendingBytes + 1);
    if (shortage) return this.#room.refusal(shortage, error);
    return new Error("the log store's database failed; the twins' log says why", { cause: error });
  }
}

/** Opens a database file and its writer; leaves nothing open when that fails. */
async function openDatabase<More extends { writer: RowWriter }>(
  owner: object,
  options: DatabaseOptions,
  work: (connection: DuckDBConnection) => Promise<More>,
): Promise<More & { database: Database }> {
  const database = await Database.open(owner, options);
  try {
    const more = await database.turn(async () => work(await database.connect()));
    return { ...more, database };
  } catch (error) {
    await database.leave();
    throw error;
  }
}

async function readBaseline(connection: DuckDBConnection) {
  const catalog = await readCatalog(connection);
  return { writer: new RowWriter(connection, catalog), catalog };
}

/** Creates the tables of an empty store, or takes over those of the copied baseline. */
async function begin(connection: DuckDBConnection, origin: Origin, room: StoreRoom) {
  if ("textIndex" in origin) await createTables(connection, origin.textIndex);
  const catalog = await readCatalog(connection);
  if ("index" in origin) await nameIndex(connection, catalog, origin.index);
  await createCheckpoints(connection);
  const writer = new RowWriter(connection, catalog, room);
  await writer.open();
  if ("index" in origin) await writer.showBuilt();
  return { writer, catalog };
}
