/** Reading from a store: with default options, and by the current fields. */
import type { FieldCatalog } from "../fields.ts";
import type { Sql } from "../sql.ts";
import type { LogReader, QueryOptions, QueryResult, ResultCursor, StoredDocument } from "./log-store.ts";

export class StoreReader implements LogReader {
  readonly #store: LogReader;
  readonly #defaults: () => QueryOptions;

  /** @param defaults options of statements that set no others */
  constructor(store: LogReader, defaults: () => QueryOptions = () => ({})) {
    this.#store = store;
    this.#defaults = defaults;
  }

  get fields(): FieldCatalog {
    return this.#store.fields;
  }

  fieldsSettled(): Promise<void> {
    return this.#store.fieldsSettled();
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
    return this.#store.query(statement, { ...this.#defaults(), ...options });
  }

  openCursor(statement: Sql, options?: QueryOptions): Promise<ResultCursor> {
    return this.#store.openCursor(statement, { ...this.#defaults(), ...options });
  }

  byId(index: string | undefined, ids: readonly string[], options?: QueryOptions): Promise<StoredDocument[]> {
    return this.#store.byId(index, ids, { ...this.#defaults(), ...options });
  }
}

const MAX_ATTEMPTS = 5;

/**
 * Reads with statements compiled for the current fields, and retries when these change. A write that gives a field a second value
 * changes the type of its column, so that a statement compiled before and run afterwards fails.
 * @param read may run several times
 * @throws what `read` throws
 */
export async function withCurrentFields<Result>(
  store: Pick<LogReader, "fields" | "fieldsSettled">,
  read: (fields: FieldCatalog) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const { fields } = store;
    try {
      return await read(fields);
    } catch (error) {
      await store.fieldsSettled();
      if (store.fields === fields || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
