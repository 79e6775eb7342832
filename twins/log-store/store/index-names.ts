/** The indexes that a store's events are in: asked for once, and kept up to date by what is written. */
import { raw, type Sql } from "../sql.ts";
import type { QueryResult } from "./log-store.ts";

export class IndexNames {
  readonly #query: (statement: Sql) => Promise<QueryResult>;
  #stored: Promise<string[]> | undefined;
  #written = new Set<string>();

  constructor(query: (statement: Sql) => Promise<QueryResult>) {
    this.#query = query;
  }

  /** Of every event that is there, or is being written; those whose events are all removed may be among them. */
  async names(): Promise<ReadonlySet<string>> {
    this.#stored ??= this.#ask();
    return new Set([...(await this.#stored), ...this.#written]);
  }

  /** Comes before the events are stored: whoever sees them finds their index. */
  add(index: string): void {
    this.#written.add(index);
  }

  /** The store has other content. */
  forget(): void {
    this.#stored = undefined;
    this.#written = new Set();
  }

  async #ask(): Promise<string[]> {
    try {
      const { rows } = await this.#query(raw("SELECT DISTINCT _index FROM documents"));
      return rows.map(([name]) => String(name));
    } catch (error) {
      this.#stored = undefined;
      throw error;
    }
  }
}
