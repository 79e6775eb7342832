/**
 * One DuckDB database file, locked down: no statement can read, write, load or configure anything outside it. Its statements queue at
 * the process's query gate, have a deadline, and can be cancelled.
 */
import { constants, copyFile, rm } from "node:fs/promises";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { raw, type Sql, sql } from "../sql.ts";
import { read } from "./duckdb.ts";
import { QueryInterrupted, type QueryOptions, type QueryResult, type ResultCursor } from "./log-store.ts";
import { checkBetweenChunks, programFunctions } from "./program-functions.ts";
import { type QueryGate, queryGate } from "./query-gate.ts";
import { Reader } from "./reader.ts";
import { CursorTable, cursorTable } from "./result-cursor.ts";
import { raceAbort, SharedMemory } from "./shared-memory.ts";
import { TableCache } from "./table-cache.ts";

/** Name under which the file is attached, beside the in-memory database that DuckDB starts with. */
export const DATABASE = "store";
/** Before the first block: DuckDB's file header, and two database headers, of which the later counts. */
const HEADER_BYTES = 3 * 4096;
const DEADLINE_MS = 30_000;
/** An interrupt just before a statement begins has no effect, so interrupts are repeated until the statement has ended. */
const INTERRUPT_AGAIN_MS = 20;
/** Interval of progress callbacks. */
const PROGRESS_MS = 100;

const MAX_SPILLED = "4GB";

/**
 * The order matters: the last setting locks the others. There is no write-ahead log, for the file is deleted after use and need not
 * survive a crash.
 */
const settings = ({ file, holder, replacing, spillFolder = "" }: DatabaseOptions) => [
  `ATTACH ${quoted(file)} AS ${DATABASE} (${holder === "others" ? "READ_ONLY" : "RECOVERY_MODE no_wal_writes"})`,
  "PRAGMA disable_checkpoint_on_shutdown",
  // A checkpoint needs room on the disk, so the writer checkpoints itself, after checking the room.
  "SET checkpoint_threshold = '1000TB'",
  `SET temp_directory = ${quoted(spillFolder)}`,
  `SET max_temp_directory_size = '${MAX_SPILLED}'`,
  ...(replacing === "seldom" ? ["SET max_vacuum_tasks = 0"] : []),
  // It would materialize a view that a statement names twice, such as the postings of a million events, in memory.
  "SET disabled_optimizers = 'common_subplan'",
  "SET autoinstall_known_extensions = false",
  "SET autoload_known_extensions = false",
  "SET allow_community_extensions = false",
  // Late materialization: a top-N query up to this size sorts its keys first, then fetches the other columns of the rows it found.
  "SET GLOBAL late_materialization_max_rows = 200000",
  "SET enable_external_access = false",
  "SET lock_configuration = true",
];

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export interface DatabaseOptions {
  file: string;
  /** `itself`: this database alone uses the file, and removes it in the end. `others`: it is shared and read-only. */
  holder: "itself" | "others";
  /** Limit for all its statements together. */
  memoryBytes: number;
  threads: number;
  /**
   * How often documents are replaced or removed one by one. `often`: each checkpoint vacuums, merging row groups that are no longer
   * full, which takes twice as long as the rest of the checkpoint. `seldom`: it does not.
   */
  replacing: "often" | "seldom";
  /**
   * Where statements spill what does not fit in memory; absent: they fail. DuckDB lets every statement write there, so set it only
   * where no statement's text comes from outside.
   */
  spillFolder?: string | undefined;
}

export class Database {
  /** Its share of the gate: the store, whichever database file it uses now. */
  readonly #owner: object;
  readonly #gate: QueryGate;
  readonly #instance: DuckDBInstance;
  readonly #memory: SharedMemory;
  /** Removed on close. */
  readonly #ownFile: string | undefined;
  readonly #idle: Reader[] = [];
  readonly #running = new Set<Promise<unknown>>();
  readonly #cancels = new Set<() => void>();
  /** Of the data: it grows when a write begins, and when it ends. */
  #version = 0;
  readonly #tables = new TableCache(() => this.#instance.connect());
  readonly #cursors = new Set<CursorTable>();
  /** How many were ever opened. */
  #cursorCount = 0;
  /** How often all cursors were ended. */
  #cursorEnds = 0;

  constructor(
    owner: object,
    gate: QueryGate,
    instance: DuckDBInstance,
    { file, holder, memoryBytes }: DatabaseOptions,
  ) {
    this.#owner = owner;
    this.#gate = gate;
    this.#instance = instance;
    this.#memory = new SharedMemory(memoryBytes);
    this.#ownFile = holder === "itself" ? file : undefined;
  }

  /** Opens the file, or creates it. */
  static async open(owner: object, options: DatabaseOptions, gate = queryGate): Promise<Database> {
    const { memoryBytes, threads } = options;
    const instance = await DuckDBInstance.create(":memory:", {
      memory_limit: `${memoryBytes}B`,
      threads: String(threads),
    });
    try {
      const connection = await instance.connect();
      for (const setting of settings(options)) await connection.run(setting);
      for (const one of programFunctions()) connection.registerScalarFunction(one);
      connection.closeSync();
    } catch (error) {
      instance.closeSync();
      throw error;
    }
    return new Database(owner, gate, instance, options);
  }

  /** A connection to this database's tables, which the caller closes. */
  async connect(): Promise<DuckDBConnection> {
    const connection = await this.#instance.connect();
    await connection.run(`USE ${DATABASE}`);
    return connection;
  }

  /**
   * Runs one statement that reads, on a connection of its own.
   * @param before awaited first, within the deadline
   * @throws QueryInterrupted, QueueFull, OutOfMemory, and what `before` throws
   */
  query(statement: Sql, options?: QueryOptions, before?: () => Promise<void>): Promise<QueryResult> {
    return this.#runOver(statement, (reader) => reader.read(statement, this.#version), options, before);
  }

  /** Materializes the rows of one statement that reads. The database does not close before the cursor is dropped. Else as `query`. */
  openCursor(statement: Sql, options?: QueryOptions, before?: () => Promise<void>): Promise<ResultCursor> {
    return this.#track(this.#openCursor(statement, options, before));
  }

  /** Runs work in the gate; once more, alone, when it ran out of memory beside others. @throws OutOfMemory, QueueFull */
  turn<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const inGate = () => this.#gate.run(this.#owner, work, signal);
    return this.#track(this.#memory.run(inGate, signal));
  }

  /** As `turn`, for work that writes. */
  change<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.turn(async () => {
      this.#version++;
      try {
        return await work();
      } finally {
        this.#version++;
      }
    });
  }

  /**
   * Whether statements can run: DuckDB invalidates a database for good when a checkpoint fails, or on an internal error. The file
   * is then as the last checkpoint left it.
   */
  async isUsable(): Promise<boolean> {
    return this.#track(this.#probe());
  }

  /** Ends every query that runs or waits, and every cursor. */
  cancelAll(): void {
    for (const cancel of [...this.#cancels]) cancel();
    this.endCursors();
  }

  /** Ends all cursors, also those that are being read or opened. */
  endCursors(): void {
    this.#cursorEnds++;
    for (const cursor of [...this.#cursors]) cursor.end();
  }

  /** Waits for running work, closes, and removes the file if it is the database's own. */
  async close(): Promise<void> {
    await this.leave();
    if (this.#ownFile !== undefined) await removeDatabase(this.#ownFile);
  }

  /** Waits for running work, and closes; the file stays. */
  async leave(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    for (const reader of this.#idle.splice(0)) reader.close();
    await this.#tables.close();
    this.#instance.closeSync();
  }

  async #probe(): Promise<boolean> {
    try {
      const connection = await this.connect();
      try {
        await connection.run("SELECT 1 FROM catalog LIMIT 0");
      } finally {
        connection.closeSync();
      }
      return true;
    } catch {
      return false;
    }
  }

  /** Runs a statement while the cached tables that it reads are present. */
  #runOver<Result>(
    { cached }: Sql,
    work: (reader: Reader) => Promise<Result>,
    options?: QueryOptions,
    before?: () => Promise<void>,
  ): Promise<Result> {
    if (cached.length === 0) return this.#run(work, options, before);
    return this.#run((reader) => this.#tables.withTables(cached, () => work(reader)), options, before);
  }

  async #openCursor(
    statement: Sql,
    options?: QueryOptions,
    before?: () => Promise<void>,
  ): Promise<ResultCursor> {
    const table = `cursor_${this.#cursorCount++}`;
    const ends = this.#cursorEnds;
    const work = (reader: Reader) => reader.materialize(cursorTable(table), statement);
    const count = await this.#runOver(statement, work, options, before);
    const cursor = new CursorTable({
      table,
      count,
      query: this.query.bind(this),
      drop: (name) => this.#track(this.#drop(name)),
    });
    this.#cursors.add(cursor);
    void this.#track(cursor.closed.then(() => this.#cursors.delete(cursor)));
    if (this.#cursorEnds > ends) cursor.end();
    return cursor;
  }

  async #drop(table: string): Promise<void> {
    const connection = await this.#instance.connect();
    try {
      await connection.run(`DROP TABLE ${cursorTable(table)}`);
    } finally {
      connection.closeSync();
    }
  }

  async #run<Result>(
    work: (reader: Reader) => Promise<Result>,
    { signal, deadlineMs = DEADLINE_MS, progress }: QueryOptions = {},
    before?: () => Promise<void>,
  ): Promise<Result> {
    const startedAt = performance.now();
    const ending = new AbortController();
    let reason: "deadline" | "cancelled" | undefined;
    const end = (why: "deadline" | "cancelled") => {
      reason ??= why;
      ending.abort();
    };
    const cancel = () => end("cancelled");
    this.#cancels.add(cancel);
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const timer = setTimeout(() => end("deadline"), deadlineMs);
    const endIfOver = () => {
      if (performance.now() - startedAt > deadlineMs) end("deadline");
    };
    try {
      const run = () =>
        this.turn(
          () => checkBetweenChunks(endIfOver, this.#interruptible(work, ending.signal, progress)),
          ending.signal,
        );
      if (before === undefined) return await run();
      return await this.#track(raceAbort(before(), ending.signal).then(run));
    } catch (error) {
      if (reason) throw new QueryInterrupted(reason, performance.now() - startedAt);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#cancels.delete(cancel);
      signal?.removeEventListener("abort", cancel);
    }
  }

  async #interruptible<Result>(
    work: (reader: Reader) => Promise<Result>,
    signal: AbortSignal,
    progress: QueryOptions["progress"],
  ): Promise<Result> {
    const reader = this.#idle.pop() ?? new Reader(await this.connect());
    let again: NodeJS.Timeout | undefined;
    const interrupt = () => {
      reader.interrupt();
      again ??= setInterval(() => reader.interrupt(), INTERRUPT_AGAIN_MS);
    };
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      if (progress !== undefined) await reader.measureProgress();
      signal.throwIfAborted();
      const asking = progress && setInterval(() => progress(reader.progress), PROGRESS_MS);
      const result = await work(reader).finally(() => clearInterval(asking));
      this.#idle.push(reader);
      return result;
    } catch (error) {
      reader.close();
      throw error;
    } finally {
      clearInterval(again);
      signal.removeEventListener("abort", interrupt);
    }
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#running.add(work);
    const done = () => this.#running.delete(work);
    work.then(done, done);
    return work;
  }
}

/** Runs work in a transaction, rolled back when it throws. */
export async function transaction<Result>(
  connection: DuckDBConnection,
  work: () => Promise<Result>,
): Promise<Result> {
  await read(connection, raw("BEGIN"));
  try {
    const result = await work();
    await read(connection, raw("COMMIT"));
    return result;
  } catch (error) {
    // The first error is the one to report; DuckDB may have rolled back already.
    await read(connection, raw("ROLLBACK")).catch(() => {});
    throw error;
  }
}

/** Bytes from the beginning of a database's file that its last checkpoint uses. */
export async function usedBytes(connection: DuckDBConnection): Promise<number> {
  const { rows } = await read(
    connection,
    sql`SELECT block_size, total_blocks FROM pragma_database_size() WHERE database_name = ${DATABASE}`,
  );
  const [[blockBytes, blocks] = []] = rows;
  return HEADER_BYTES + Number(blockBytes) * Number(blocks);
}

/** Copies a database file; the copy shares its blocks where the file system can. */
export function copyDatabase(from: string, to: string): Promise<void> {
  return copyFile(from, to, constants.COPYFILE_FICLONE);
}

/** Removes a database file and its write-ahead log. */
export async function removeDatabase(file: string): Promise<void> {
  for (const path of [file, `${file}.wal`]) await rm(path, { force: true });
}
