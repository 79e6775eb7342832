/**
 * A connection that only reads. It keeps the statements that it has prepared: a search of the same shape comes again with other
 * values, and to prepare a statement takes about as long as to look a word up.
 *
 * A plan is good for the data that it was made of: DuckDB plans by the statistics of the columns (all rows of an empty table are one
 * group), and makes no new plan when they have changed. So a statement is kept until something is written, and it is prepared and
 * run in one transaction.
 */
import { type DuckDBConnection, type DuckDBPreparedStatement, StatementType } from "@duckdb/node-api";
import { type Sql, withNumbersWritten } from "../sql.ts";
import { rowsOf, typeOf } from "./duckdb.ts";
import type { QueryResult } from "./log-store.ts";

/** How many statements are kept, and how long their texts may be. */
const MOST_KEPT = 32;
const LONGEST_KEPT = 16_384;

type Written = ReturnType<typeof withNumbersWritten>;

/**
 * A plan without values is run again as it is. Not all of DuckDB's operators can be: a join by inequality or ASOF still has in hand
 * what it had, and the whole database is of no more use then.
 */
const combinesRows = /\b(JOIN|WITH|UNION|INTERSECT|EXCEPT|EXISTS|unnest)\b|\bIN \(SELECT\b/i;

function written(statement: Sql): Written {
  return statement.texts.some((text) => combinesRows.test(text)) ? statement : withNumbersWritten(statement);
}

export class Reader {
  readonly #connection: DuckDBConnection;
  /** By their texts, the one used last at the end. None is here while it runs. */
  readonly #prepared = new Map<string, DuckDBPreparedStatement>();
  /** Of the data that these were prepared for. */
  #version = 0;
  #measuring = false;

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /**
   * Runs one statement that only reads.
   * @param version of the data: another one after each write
   * @throws Error for any other, before it does anything; whatever it throws, the reader is of no more use then
   */
  async read(statement: Sql, version: number): Promise<QueryResult> {
    if (version !== this.#version) this.#forget();
    this.#version = version;
    const asked = written(statement);
    const prepared = this.#take(asked.text);
    if (prepared !== undefined) return this.#run(prepared, asked);
    await this.#connection.run("BEGIN TRANSACTION");
    const result = await this.#run(await this.#connection.prepare(asked.text), asked);
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

  async #run(prepared: DuckDBPreparedStatement, { text, values }: Written): Promise<QueryResult> {
    let kept = false;
    try {
      if (prepared.statementType !== StatementType.SELECT) {
        throw new Error("only a statement that reads can be run here");
      }
      if (values.length > 0) prepared.bind([...values], values.map(typeOf));
      const result = await prepared.run();
      kept = text.length <= LONGEST_KEPT && (values.length > 0 || !combinesRows.test(text));
      return { columns: result.columnNames(), rows: await rowsOf(result) };
    } finally {
      if (kept) this.#keep(text, prepared);
      else prepared.destroySync();
    }
  }

  /** How much of the statement that runs is done, from 0 to 1, once `measure` has been called. */
  get share(): number {
    return Math.max(0, Math.min(1, this.#connection.progress.percentage / 100));
  }

  /** Has the progress of statements measured from now on. */
  async measure(): Promise<void> {
    if (this.#measuring) return;
    await this.#connection.run("PRAGMA enable_progress_bar");
    await this.#connection.run("PRAGMA disable_print_progress_bar");
    this.#measuring = true;
  }

  /** Ends what runs. */
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

  #keep(text: string, prepared: DuckDBPreparedStatement): void {
    // Values may be long.
    prepared.clearBindings();
    this.#prepared.set(text, prepared);
    const [oldest] = this.#prepared;
    if (!oldest || this.#prepared.size <= MOST_KEPT) return;
    this.#prepared.delete(oldest[0]);
    oldest[1].destroySync();
  }
}
