/**
 * The rows that a statement has found, kept in their order until they are dropped, to be read part by part by who has not room for all
 * of them. They are a table in the database in memory beside the store's: where the store may spill, what does not fit lies on disk.
 */
import { raw, type Sql } from "../sql.ts";
import { type HeldRows, QueryInterrupted, type QueryOptions, type QueryResult } from "./log-store.ts";

export interface HeldParts {
  readonly table: string;
  readonly count: number;
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult>;
  drop(table: string): Promise<void>;
}

export class HeldTable implements HeldRows {
  readonly count: number;
  readonly from: Sql;
  /** Settles when they are not held any more. */
  readonly over: Promise<void>;
  readonly #parts: HeldParts;
  readonly #ending = new AbortController();
  #dropping: Promise<void> | undefined;
  #end = () => {};

  constructor(parts: HeldParts) {
    this.#parts = parts;
    this.count = parts.count;
    this.from = raw(heldTable(parts.table));
    this.over = new Promise((resolve) => {
      this.#end = resolve;
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

  /** Ends what reads them: nobody can from now on. */
  end(): void {
    this.#ending.abort();
    this.drop().catch(() => {});
  }

  async #drop(): Promise<void> {
    try {
      await this.#parts.drop(this.#parts.table);
    } finally {
      this.#end();
    }
  }
}

/** @param name of the process's own */
export function heldTable(name: string): string {
  return `memory.main.${name}`;
}
