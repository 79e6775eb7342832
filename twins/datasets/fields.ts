/** The fields of a log dataset, inferred from its events. */
import { identifier, type Sql } from "./sql.ts";

/**
 * What a field holds. Columns: `text` VARCHAR, `long` BIGINT, `unsigned_long` UBIGINT, `double` DOUBLE, `boolean` BOOLEAN,
 * `date` TIMESTAMP (microseconds, UTC). A field that holds several values in some event is a LIST of that.
 */
export type FieldType = "text" | "long" | "unsigned_long" | "double" | "boolean" | "date";

export interface Field {
  /** Dotted path: `http.response.status_code`. Case counts. */
  readonly name: string;
  readonly type: FieldType;
  /** Whether the column is a LIST; a single value is then a list of one, and a missing one NULL. */
  readonly multi: boolean;
  /** Name of its column in `documents`. DuckDB's names ignore case, so it can differ from `name`. */
  readonly column: string;
  /** Name of its table of postings; `undefined` when it is not analysed. See `store/log-store.ts`. */
  readonly postings: string | undefined;
}

/** The fields as they are now; a new one is made whenever a write adds a field or changes one. */
export class FieldCatalog {
  readonly #fields: ReadonlyMap<string, Field>;
  /** The field that says when an event happened, if there is one. */
  readonly timeField: Field | undefined;

  constructor(fields: readonly Field[], timeField: string | undefined) {
    this.#fields = new Map(fields.map((field) => [field.name, field]));
    this.timeField = timeField === undefined ? undefined : this.#fields.get(timeField);
  }

  get(name: string): Field | undefined {
    return this.#fields.get(name);
  }

  /** By name, in code point order. */
  all(): Field[] {
    return [...this.#fields.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }
}

/** The field's column in `documents AS d`. */
export function columnOf(field: Field): Sql {
  return identifier(field.column);
}
