/** The fields of a log dataset, inferred from its events. */
import { identifier, raw, type Sql } from "./sql.ts";

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
  /** Name of its table of postings; `undefined` when it is not analysed, as none is where `textIndex` is `raw`. See `store/log-store.ts`. */
  readonly postings: string | undefined;
}

/**
 * What words are found by. `fields`: the words of each text field by itself, with their places, as the standard analyzer has them.
 * `raw`: the segments of the whole text of an event, as splunkd has them.
 */
export type TextIndex = "fields" | "raw";

/** A field before it has a place in a database. */
export type NewField = Pick<Field, "name" | "type" | "multi">;

/** Columns of `documents` that are no fields. DuckDB's names ignore case. */
const ownColumns = ["_row", "_id", "_index", "_version", "_seq_no", "_source", "rowid"];

/** Names that no field at the top of an event has, for the vendor keeps them for itself. */
export const metadataFields: ReadonlySet<string> = new Set(
  ["id", "index", "source", "routing", "version", "seq_no", "primary_term", "field_names", "ignored"].map(
    (name) => `_${name}`,
  ),
);

/** The fields as they are now; a new one is made whenever a write adds a field or changes one. */
export class FieldCatalog {
  readonly #fields: ReadonlyMap<string, Field>;
  #objects: ReadonlySet<string> | undefined;
  /** The field that says when an event happened, if there is one. */
  readonly timeField: Field | undefined;
  readonly textIndex: TextIndex;

  constructor(fields: readonly Field[], timeField: string | undefined, textIndex: TextIndex = "fields") {
    this.textIndex = textIndex;
    this.#fields = new Map(fields.map((field) => [field.name, field]));
    this.timeField = timeField === undefined ? undefined : this.#fields.get(timeField);
  }

  get size(): number {
    return this.#fields.size;
  }

  /** Names that are objects: `http` when there is a field `http.status`. */
  get objects(): ReadonlySet<string> {
    if (this.#objects) return this.#objects;
    const objects = new Set<string>();
    for (const name of this.#fields.keys()) {
      for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
        objects.add(name.slice(0, dot));
      }
    }
    this.#objects = objects;
    return objects;
  }

  get(name: string): Field | undefined {
    return this.#fields.get(name);
  }

  /** By name, in code point order. */
  all(): Field[] {
    return [...this.#fields.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }
}

const columnTypes: Record<FieldType, string> = {
  text: "VARCHAR",
  long: "BIGINT",
  unsigned_long: "UBIGINT",
  double: "DOUBLE",
  boolean: "BOOLEAN",
  date: "TIMESTAMP",
};

/** The type of a field's column: `BIGINT`, `VARCHAR[]`, … */
export function columnTypeOf({ type, multi }: Pick<Field, "type" | "multi">): Sql {
  return raw(columnTypes[type] + (multi ? "[]" : ""));
}

/** The field's column in `documents AS d`. */
export function columnOf(field: Field): Sql {
  return identifier(field.column);
}

/** The new fields with their places: column names that differ in more than case, postings for text. */
export function placeFields(catalog: FieldCatalog, added: readonly NewField[]): Field[] {
  const known = catalog.all();
  const taken = new Set([...ownColumns, ...known.map(({ column }) => column.toLowerCase())]);
  return added.map((field, index) => {
    const number = known.length + index;
    // Halves of a surrogate pair are all one in a database's text.
    let column = Buffer.from(field.name).toString();
    if (taken.has(column.toLowerCase())) column = `${column}~${number}`;
    taken.add(column.toLowerCase());
    const analysed = field.type === "text" && catalog.textIndex === "fields";
    return { ...field, column, postings: analysed ? `postings_${number}` : undefined };
  });
}

/** Names of the field that says when an event happened; the first that an event has wins. Case does not count. */
const timeNames = [
  "_time",
  "@timestamp",
  "timestamp",
  "time",
  "ts",
  "date",
  "datetime",
  "date_time",
  "event_time",
  "eventtime",
  "event.created",
  "event.start",
  "created_at",
  "created",
  "logged_at",
];

/** Whether a name says that its values are times. */
export function isTimeName(name: string): boolean {
  return timeNames.includes(name.toLowerCase());
}

/** The field that most likely says when an event happened: a date of a usual name, else the only date there is. */
export function likelyTimeField(fields: readonly NewField[]): string | undefined {
  const dates = fields.filter(({ type }) => type === "date").map(({ name }) => name);
  const named = timeNames.map((usual) => dates.find((name) => name.toLowerCase() === usual));
  return named.find((name) => name !== undefined) ?? (dates.length === 1 ? dates[0] : undefined);
}
