/**
 * A result cursor on DuckDB: the rows of a statement, materialized in their order in a table of the in-memory database beside the
 * store's, and read slice by slice. Where the store may spill, the rows that do not fit in memory lie on disk.
 */
import { raw, type Sql } from "../sql.ts";
import { QueryInterrupted, type QueryOptions, type QueryResult, type ResultCursor } from "./log-store.ts";

export interface CursorParts {
  readonly table: string;
  readonly count: number;
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult>;
  drop(table: string): Promise<void>;
}

export class CursorTable implements ResultCursor {
  readonly count: number;
  readonly from: Sql;
  /** Settles when the rows have been dropped. */
  readonly closed: Promise<void>;
  readonly #parts: CursorParts;
  readonly #ending = new AbortController();
  #dropping: Promise<void> | undefined;
  #close = () => {};

  constructor(parts: CursorParts) {
    this.#parts = parts;
    this.count = parts.count;
    this.from = raw(cursorTable(parts.table));
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  async query(statement: Sql, options: QueryOptions = {}): Promise<QueryResult> {
    const ending = this.#ending.signal;
    if (ending.aborted) throw new QueryInterrupted("cancelled", 0);
    const { signal } = options;
    const both = new AbortController();
    const abort = () => both.abort();
    for (const one of [signal, ending]) one?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    try {
      return await this.#parts.query(statement, { ...options, signal: both.signal });
    } finally {
      for (const one of [signal, ending]) one?.removeEventListener("abort", abort);
    }
  }

  drop(): Promise<void> {
    this.#dropping ??= this.#drop();
    return this.#dropping;
  }

  /** Interrupts the queries that read the rows, and drops these. */
  end(): void {
    this.#ending.abort();
    this.drop().catch(() => {});
  }

  async #drop(): Promise<void> {
    try {
      await this.#parts.drop(this.#parts.table);
    } finally {
      this.#close();
    }
  }
}

/** The qualified name of a cursor's table. @param name made by this program, so it needs no quotes */
export function cursorTable(name: string): string {
  return `memory.main.${name}`;
}
