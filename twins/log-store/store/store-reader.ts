/** Reading from a store: with options that hold for every statement, and by the fields as they are. */
import type { FieldCatalog } from "../fields.ts";
import type { Sql } from "../sql.ts";
import type { LogReader, QueryOptions, QueryResult, ResultCursor, StoredDocument } from "./log-store.ts";

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
    return this.#store.query(statement, { ...this.#usual(), ...options });
  }

  openCursor(statement: Sql, options?: QueryOptions): Promise<ResultCursor> {
    return this.#store.openCursor(statement, { ...this.#usual(), ...options });
  }

  byId(index: string | undefined, ids: readonly string[], options?: QueryOptions): Promise<StoredDocument[]> {
    return this.#store.byId(index, ids, { ...this.#usual(), ...options });
  }
}

/** How often a read begins anew. */
const MAX_ATTEMPTS = 5;

/**
 * Reads by statements that are compiled for the fields of the moment. A write that gives a field a second value changes the type of
 * its column: a statement compiled before and run after fails then, and the read begins anew with the fields as they are.
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
