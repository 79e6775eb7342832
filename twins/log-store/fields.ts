/** The fields of a log dataset, inferred from its events. */
import { identifier, joined, raw, type Sql, sql } from "./sql.ts";
import type { Coerced, MisfitKind } from "./store/column-value.ts";
import type { Leaf } from "./store/json-leaves.ts";

/**
 * What a field holds. Columns: `text` and `keyword` (text that is not analysed) VARCHAR, `long` BIGINT, `unsigned_long` UBIGINT, `double` DOUBLE, `boolean` BOOLEAN,
 * `date` TIMESTAMP (microseconds, UTC),
 * `ip` VARCHAR (the 32 hexadecimal digits of an address of version 6, among which those of version 4 have their own block). A field that holds several values in some event is a LIST of that.
 */
export type FieldType = "text" | "keyword" | "long" | "unsigned_long" | "double" | "boolean" | "date" | "ip";

export interface Field {
  /** Dotted path: `http.response.status_code`. Case counts. */
  readonly name: string;
  readonly type: FieldType;
  /** Whether the column is a LIST; a single value is then a list of one, and a missing one NULL. */
  readonly multi: boolean;
  /** The index whose documents alone have it; absent: it is a field of the dataset. */
  readonly index?: string | undefined;
  /** The fields of several indices that this one stands for where these are searched together; it has no column itself. */
  readonly parts?: readonly Field[] | undefined;
  /** What the mapping of its index says of it; absent: it is as dynamic mapping makes it. */
  readonly mapping?: FieldMapping | undefined;
  /** Name of its column in `documents`. DuckDB's names ignore case, so it can differ from `name`. */
  readonly column: string;
  /** Name of its table of postings; `undefined` when it is not analysed, as none is where `textIndex` is `raw`. See `store/log-store.ts`. */
  readonly postings: string | undefined;
  /** How the upload wrote its times, by the name of the format (`dates/time-formats.ts`): writes read it too. */
  readonly timeFormat?: string | undefined;
  /** The upload has `-` and the like among its times, where there is none: writes may have it too. */
  readonly blanks?: boolean | undefined;
}

/** What an index's mapping says of a field beyond what its column holds. */
export interface FieldMapping {
  /** The vendor's name of the type: `integer`, `scaled_float`. */
  readonly type: string;
  /** Of dates: how they are read and shown. */
  readonly format?: string | undefined;
  /** The nested object that it is in, whose objects are documents of their own there. */
  readonly nestedIn?: string | undefined;
  /** Of text: names of the sub-fields that hold its whole values, each with the longest value it holds. */
  readonly keywords?: ReadonlyMap<string, number> | undefined;
  /** Whether queries may look for its values. */
  readonly isSearchable: boolean;
  /** Whether it is sorted and aggregated by. */
  readonly hasDocValues: boolean;
  /** Of keywords: what a text is held as, and looked for; absent: as it is. */
  readonly normalize?: ((text: string) => string) | undefined;
  /** Of numbers with a fraction: the one that the field holds for a value. */
  fraction(value: number): number;
}

/**
 * How an index that has fields of its own maps what is written to it. The twin makes it, the store keeps it.
 */
export interface IndexMapping {
  /** The definition that it is made from, as JSON text: what a snapshot holds of it. @param fields those that the index has */
  definition(fields: readonly NewField[]): string;
  /** The fields that there are before anything is written. */
  readonly fields: readonly NewField[];
  /**
   * Where the values at a dotted name go: fields, none when they are kept in the source alone, or why there may be no such name.
   * @param leaves of one document; none where all that it has is `null`
   * @param known the field of a name, where there is one
   */
  route(
    name: string,
    leaves: readonly Leaf[],
    known: (name: string) => NewField | undefined,
  ): readonly NewField[] | NameMisfit;
  /** What a written value becomes in a field. */
  coerce(leaf: Leaf, field: NewField): Coerced;
}

/** Why a document may not have a name. */
export interface NameMisfit {
  readonly kind: MisfitKind;
  readonly field: string;
  readonly type: string;
  readonly reason: string;
}

/**
 * What words are found by. `fields`: the words of each text field by itself, with their places, as the standard analyzer has them.
 * `raw`: the segments of the whole text of an event, as splunkd has them.
 */
export type TextIndex = "fields" | "raw";

/** A field before it has a place in a database. */
export type NewField = Pick<Field, "name" | "type" | "multi" | "timeFormat" | "blanks" | "index" | "mapping">;

/** What tells a field from those of other indices. No index has a NUL in its name. */
export function fieldKey({ name, index }: Pick<NewField, "name" | "index">): string {
  return index === undefined ? name : `${index}\0${name}`;
}

/** Columns of `documents` that are no fields. DuckDB's names ignore case. */
const ownColumns = ["_row", "_id", "_index", "_version", "_seq_no", "_source", "rowid"];

/** Names that no field at the top of an event has, for the vendor keeps them for itself. */
export const metadataFields: ReadonlySet<string> = new Set(
  ["id", "index", "source", "routing", "version", "seq_no", "primary_term", "field_names", "ignored"].map(
    (name) => `_${name}`,
  ),
);

/** What a catalog has beside the fields of the dataset. */
export interface CatalogExtras {
  /** How the indices that have fields of their own map their documents, by name. */
  readonly indices?: ReadonlyMap<string, IndexMapping>;
  /** How many fields were ever placed; the number of fields when absent. */
  readonly placed?: number;
}

const noIndices: ReadonlyMap<string, IndexMapping> = new Map();

/** The fields as they are now; a new one is made whenever a write adds a field or changes one. */
export class FieldCatalog {
  readonly #stored: ReadonlyMap<string, Field>;
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #own = new Map<string, FieldCatalog>();
  #objects: ReadonlySet<string> | undefined;
  /** The field that says when an event happened, if there is one. */
  readonly timeField: Field | undefined;
  readonly textIndex: TextIndex;
  readonly indices: ReadonlyMap<string, IndexMapping>;
  /** How many fields were ever placed: their columns and postings are numbered. */
  readonly placed: number;

  /** @param fields of the dataset and of all `indices`; without these, all that are looked at */
  constructor(
    fields: readonly Field[],
    timeField: string | undefined,
    textIndex: TextIndex = "fields",
    { indices = noIndices, placed = fields.length }: CatalogExtras = {},
  ) {
    this.textIndex = textIndex;
    this.indices = indices;
    this.placed = placed;
    const seen = indices.size === 0 ? fields : fields.filter(({ index }) => index === undefined);
    this.#stored = new Map(fields.map((field) => [fieldKey(field), field]));
    this.#fields = new Map(seen.map((field) => [field.name, field]));
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
    return byName(this.#fields.values());
  }

  /** The fields of one index: its own where it has any, else those of the dataset. */
  of(index: string): FieldCatalog {
    if (!this.indices.has(index)) return this;
    const known = this.#own.get(index);
    if (known) return known;
    const fields = [...this.#stored.values()].filter((field) => field.index === index);
    const own = new FieldCatalog(fields, undefined, this.textIndex);
    this.#own.set(index, own);
    return own;
  }

  /** The field as it is stored, whichever index it belongs to. */
  stored(field: Pick<NewField, "name" | "index">): Field | undefined {
    return this.#stored.get(fieldKey(field));
  }

  /** Those of this name, of the dataset and of every index. */
  named(name: string): Field[] {
    if (this.indices.size > 0) return this.allStored().filter((field) => field.name === name);
    const only = this.#fields.get(name);
    return only ? [only] : [];
  }

  /** Those of the dataset and of every index. */
  allStored(): Field[] {
    return byName(this.#stored.values());
  }
}

function byName(fields: Iterable<Field>): Field[] {
  return [...fields].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

const columnTypes: Record<FieldType, string> = {
  text: "VARCHAR",
  keyword: "VARCHAR",
  long: "BIGINT",
  unsigned_long: "UBIGINT",
  double: "DOUBLE",
  boolean: "BOOLEAN",
  date: "TIMESTAMP",
  ip: "VARCHAR",
};

/** The type of a field's column: `BIGINT`, `VARCHAR[]`, … */
export function columnTypeOf({ type, multi }: Pick<Field, "type" | "multi">): Sql {
  return raw(columnTypes[type] + (multi ? "[]" : ""));
}

/** The field's column in `documents AS d`. */
export function columnOf(field: Field): Sql {
  return identifier(field.column);
}

/** The field's value in `documents AS d`: of the type of its column. */
export function fieldValue(field: Field): Sql {
  if (!field.parts) return sql`d.${columnOf(field)}`;
  // A document belongs to one index, and has the value of one of them.
  const values = field.parts.map((part) => {
    const value = sql`d.${columnOf(part)}`;
    const listed =
      field.multi && !part.multi ? sql`CASE WHEN ${value} IS NOT NULL THEN [${value}] END` : value;
    return part.type === field.type ? listed : sql`CAST(${listed} AS ${columnTypeOf(field)})`;
  });
  return sql`coalesce(${joined(values, ", ")})`;
}

/** The new fields with their places: column names that differ in more than case, postings for text. */
export function placeFields(catalog: FieldCatalog, added: readonly NewField[]): Field[] {
  const known = catalog.allStored();
  const taken = new Set([...ownColumns, ...known.map(({ column }) => column.toLowerCase())]);
  return added.map((field, index) => {
    const number = catalog.placed + index;
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
