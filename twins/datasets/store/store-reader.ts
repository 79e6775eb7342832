/** Reading from a store, with options that hold for every statement. */
import type { FieldCatalog } from "../fields.ts";
import type { Sql } from "../sql.ts";
import type { HeldRows, LogReader, QueryOptions, QueryResult, StoredDocument } from "./log-store.ts";

export class StoreReader implements LogReader {
  readonly #store: LogReader;
  readonly #usual: () => QueryOptions;

  /** @param usual what holds for a statement that says nothing else */
  constructor(store: LogReader, usual: () => QueryOptions = () => ({})) {
    this.#store = store;
    this.#usual = usual;
  }

  get fields(): FieldCatalog {
    return this.#store.fields;
  }

  get stateVersion(): number {
    return this.#store.stateVersion;
  }

  get nextRow(): number {
    return this.#store.nextRow;
  }

  get segmentedRows(): number {
    return this.#store.segmentedRows;
  }

  indexes(): Promise<ReadonlySet<string>> {
    return this.#store.indexes();
  }

  query(statement: Sql, options?: QueryOptions): Promise<QueryResult> {
    return this.#store.query(statement, { ...this.#usual(), ...options });
  }

  hold(statement: Sql, options?: QueryOptions): Promise<HeldRows> {
    return this.#store.hold(statement, { ...this.#usual(), ...options });
  }

  byId(index: string | undefined, ids: readonly string[], options?: QueryOptions): Promise<StoredDocument[]> {
    return this.#store.byId(index, ids, { ...this.#usual(), ...options });
  }
}
