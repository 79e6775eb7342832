/** The names of the indices in a store: queried once, then updated by writes. */
import { raw, type Sql } from "../sql.ts";
import type { QueryResult } from "./log-store.ts";

export class IndexNames {
  readonly #query: (statement: Sql) => Promise<QueryResult>;
  #stored: Promise<string[]> | undefined;
  #written = new Set<string>();

  constructor(query: (statement: Sql) => Promise<QueryResult>) {
    this.#query = query;
  }

  /** The indices of all events that are stored or being written. Some may be empty by now. */
  async names(): Promise<ReadonlySet<string>> {
    this.#stored ??= this.#queryNames();
    return new Set([...(await this.#stored), ...this.#written]);
  }

  /** Call it before events are stored: whoever reads them must find their index. */
  add(index: string): void {
    this.#written.add(index);
  }

  /** The store has other content. */
  forget(): void {
    this.#stored = undefined;
    this.#written = new Set();
  }

  async #queryNames(): Promise<string[]> {
    try {
      const { rows } = await this.#query(raw("SELECT DISTINCT _index FROM documents"));
      return rows.map(([name]) => String(name));
    } catch (error) {
      this.#stored = undefined;
      throw error;
    }
  }
}
