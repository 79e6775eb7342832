/**
 * A connection that only reads, with a cache of prepared statements: searches of one shape repeat with other values, and preparing a
 * statement takes about as long as looking a term up.
 *
 * A plan is valid only for the data it was made for: DuckDB plans by the statistics of the columns (an empty table's rows form one
 * group) and does not plan again when these change. So the cache is emptied after each write, and a statement is prepared and run in
 * one transaction.
 */
import { type DuckDBConnection, type DuckDBPreparedStatement, StatementType } from "@duckdb/node-api";
import { type Sql, withNumberLiterals } from "../sql.ts";
import { rowsOf, typeOf } from "./duckdb.ts";
import type { QueryResult } from "./log-store.ts";

/** Bounds of the cache: statements, and UTF-16 units of one statement's text. */
const MAX_CACHED = 32;
const MAX_CACHED_LENGTH = 16_384;

type RunnableStatement = ReturnType<typeof withNumberLiterals>;

/**
 * DuckDB reruns a plan without parameters as it is. Some operators cannot be rerun: a join by inequality or ASOF keeps its state, and
 * that invalidates the whole database.
 */
const unsafeToRerun = /\b(JOIN|WITH|UNION|INTERSECT|EXCEPT|EXISTS|unnest)\b|\bIN \(SELECT\b/i;

function withLiterals(statement: Sql): RunnableStatement {
  return statement.texts.some((text) => unsafeToRerun.test(text)) ? statement : withNumberLiterals(statement);
}

export class Reader {
  readonly #connection: DuckDBConnection;
  /** By text, the most recently used last. A statement is not here while it runs. */
  readonly #prepared = new Map<string, DuckDBPreparedStatement>();
  /** Of the data that the statements were prepared for. */
  #version = 0;
  #measuring = false;

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /**
   * Runs one statement that only reads.
   * @param version of the data: it changes with each write
   * @throws Error for any other statement, before it has an effect; after any error the reader must be closed
   */
  async read(statement: Sql, version: number): Promise<QueryResult> {
    if (version !== this.#version) this.#forget();
    this.#version = version;
    const runnable = withLiterals(statement);
    const prepared = this.#take(runnable.text);
    if (prepared !== undefined) return this.#run(prepared, runnable);
    await this.#connection.run("BEGIN TRANSACTION");
    const result = await this.#run(await this.#connection.prepare(runnable.text), runnable);
    await this.#connection.run("ROLLBACK");
    return result;
  }

  /**
   * Writes the rows of one statement that only reads into a new table, in their order. Else as `read`.
   * @param table made by this program, so it needs no quotes @returns the number of rows
   */
  async materialize(table: string, { text, values }: Sql): Promise<number> {
    await this.#connection.run("BEGIN TRANSACTION");
    // DuckDB accepts nothing but a SELECT in the parentheses.
    const prepared = await this.#connection.prepare(`CREATE TABLE ${table} AS (${text})`);
    try {
      prepared.bind([...values], values.map(typeOf));
      const [[count] = []] = await rowsOf(await prepared.run());
      await this.#connection.run("COMMIT");
      return Number(count);
    } finally {
      prepared.destroySync();
    }
  }

  async #run(prepared: DuckDBPreparedStatement, { text, values }: RunnableStatement): Promise<QueryResult> {
    let isReusable = false;
    try {
      if (prepared.statementType !== StatementType.SELECT) {
        throw new Error("only a statement that reads can be run here");
      }
      if (values.length > 0) prepared.bind([...values], values.map(typeOf));
      const result = await prepared.run();
      isReusable = text.length <= MAX_CACHED_LENGTH && (values.length > 0 || !unsafeToRerun.test(text));
      return { columns: result.columnNames(), rows: await rowsOf(result) };
    } finally {
      if (isReusable) this.#cache(text, prepared);
      else prepared.destroySync();
    }
  }

  /** Progress of the running statement, 0 to 1; needs `measureProgress`. */
  get progress(): number {
    return Math.max(0, Math.min(1, this.#connection.progress.percentage / 100));
  }

  /** Makes DuckDB measure the progress of statements. */
  async measureProgress(): Promise<void> {
    if (this.#measuring) return;
    await this.#connection.run("PRAGMA enable_progress_bar");
    await this.#connection.run("PRAGMA disable_print_progress_bar");
    this.#measuring = true;
  }

  /** Interrupts the running statement. */
  interrupt(): void {
    this.#connection.interrupt();
  }

  close(): void {
    this.#forget();
    this.#connection.closeSync();
  }

  #forget(): void {
    for (const prepared of this.#prepared.values()) prepared.destroySync();
    this.#prepared.clear();
  }

  #take(text: string): DuckDBPreparedStatement | undefined {
    const prepared = this.#prepared.get(text);
    this.#prepared.delete(text);
    return prepared;
  }

  #cache(text: string, prepared: DuckDBPreparedStatement): void {
    // Frees the values, which may be long.
    prepared.clearBindings();
    this.#prepared.set(text, prepared);
    const [oldest] = this.#prepared;
    if (!oldest || this.#prepared.size <= MAX_CACHED) return;
    this.#prepared.delete(oldest[0]);
    oldest[1].destroySync();
  }
}
