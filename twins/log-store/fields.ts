/** The fields of a log dataset, inferred from its events. */
import { identifier, joined, raw, type Sql, sql } from "./sql.ts";
import type { Coerced, MisfitKind } from "./store/column-value.ts";
import type { Leaf } from "./store/json-leaves.ts";

/**
 * The type of a field, and of its column: `text` and `keyword` (text that is not analysed) VARCHAR, `long` BIGINT, `unsigned_long`
 * UBIGINT, `double` DOUBLE, `boolean` BOOLEAN, `date` TIMESTAMP (microseconds, UTC), `ip` VARCHAR (32 hexadecimal digits, IPv4 mapped
 * into IPv6). The column is a LIST of that type once an event has several values.
 */
export type FieldType = "text" | "keyword" | "long" | "unsigned_long" | "double" | "boolean" | "date" | "ip";

export interface Field {
  /** Dotted path, case-sensitive: `http.response.status_code`. */
  readonly name: string;
  readonly type: FieldType;
  /** Whether the column is a LIST: a single value is a list of one, a missing one NULL. */
  readonly multi: boolean;
  /** The index that the field belongs to; absent: it belongs to the dataset. */
  readonly index?: string | undefined;
  /** Set on a field that combines those of several indices in one search; it has no column of its own. */
  readonly parts?: readonly Field[] | undefined;
  /** From the mapping of its index; absent: as dynamic mapping makes it. */
  readonly mapping?: FieldMapping | undefined;
  /** Its column in `documents`. It can differ from `name`, since DuckDB's names ignore case. */
  readonly column: string;
  /** Its relation of postings (see `store/log-store.ts`); `undefined` when it is not analysed, or the text index is `raw`. */
  readonly postings: string | undefined;
  /** The time format of the upload, by name (`dates/time-formats.ts`); later writes may use it, too. */
  readonly timeFormat?: string | undefined;
  /** The upload has placeholders such as `-` among its times; later writes may have them, too. */
  readonly blanks?: boolean | undefined;
}

/** What an index's mapping says of a field beyond its column's type. */
export interface FieldMapping {
  /** The vendor's type: `integer`, `scaled_float`. */
  readonly type: string;
  /** Of dates: the format for parsing and output. */
  readonly format?: string | undefined;
  /** The path of the `nested` object that contains it. */
  readonly nestedIn?: string | undefined;
  /** Of text: its `keyword` sub-fields by name, each with its `ignore_above`. */
  readonly keywords?: ReadonlyMap<string, number> | undefined;
  /** Whether queries may search it. */
  readonly isSearchable: boolean;
  /** Whether sorts and aggregations may use it. */
  readonly hasDocValues: boolean;
  /** Of keywords: the normalizer, applied to values and to search terms. */
  readonly normalize?: ((text: string) => string) | undefined;
  /** Of numbers with a fraction: rounds a value to what the field can represent. */
  fraction(value: number): number;
}

/**
 * The explicit mapping of an index: how documents written to it become fields. The twin implements it, the store calls it.
 */
export interface IndexMapping {
  /** Its definition as JSON text, for snapshots. @param fields the current fields of the index */
  definition(fields: readonly NewField[]): string;
  /** The declared fields. */
  readonly fields: readonly NewField[];
  /**
   * The fields that the values at a dotted name go to; none when the values stay in the source alone; or why the name is refused.
   * @param leaves of one document; none when all its values are `null`
   * @param known finds the field of a name
   */
  route(
    name: string,
    leaves: readonly Leaf[],
    known: (name: string) => NewField | undefined,
  ): readonly NewField[] | NameMisfit;
  /** Coerces a written value to a field. */
  coerce(leaf: Leaf, field: NewField): Coerced;
}

/** Why a document must not have a name. */
export interface NameMisfit {
  readonly kind: MisfitKind;
  readonly field: string;
  readonly type: string;
  readonly reason: string;
}

/**
 * How text is indexed. `fields`: the terms of each text field with their positions, as by the standard analyzer. `raw`: the segments of
 * an event's whole text, as by splunkd.
 */
export type TextIndex = "fields" | "raw";

/** A field before it has a column. */
export type NewField = Pick<Field, "name" | "type" | "multi" | "timeFormat" | "blanks" | "index" | "mapping">;

/** Unique among the fields of all indices: no index has a NUL in its name. */
export function fieldKey({ name, index }: Pick<NewField, "name" | "index">): string {
  return index === undefined ? name : `${index}\0${name}`;
}

/** Columns of `documents` that are no fields, in lower case: DuckDB's names ignore case. */
const ownColumns = ["_row", "_id", "_index", "_version", "_seq_no", "_source", "rowid"];

/** Names that the vendor reserves at the top level of an event. */
export const metadataFields: ReadonlySet<string> = new Set(
  ["id", "index", "source", "routing", "version", "seq_no", "primary_term", "field_names", "ignored"].map(
    (name) => `_${name}`,
  ),
);

export interface CatalogExtras {
  /** Mappings of the indices that have one, by name. */
  readonly indices?: ReadonlyMap<string, IndexMapping>;
  /** The number of columns ever assigned; the number of fields when absent. */
  readonly placed?: number;
}

const noIndices: ReadonlyMap<string, IndexMapping> = new Map();

/** The fields of a store. Immutable: a write that adds or changes a field makes a new catalog. */
export class FieldCatalog {
  readonly #stored: ReadonlyMap<string, Field>;
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #byIndex = new Map<string, FieldCatalog>();
  #objects: ReadonlySet<string> | undefined;
  /** The field with the time of an event. */
  readonly timeField: Field | undefined;
  readonly textIndex: TextIndex;
  readonly indices: ReadonlyMap<string, IndexMapping>;
  /** The number of columns ever assigned, from which columns and postings get their numbers. */
  readonly placed: number;

  /** @param fields of the dataset and of all `indices`; without `indices`, those of a single view */
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

  /** The names of objects: `http`, given a field `http.status`. */
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

  /** The fields of one index: its own if it has a mapping, else those of the dataset. */
  of(index: string): FieldCatalog {
    if (!this.indices.has(index)) return this;
    const known = this.#byIndex.get(index);
    if (known) return known;
    const fields = [...this.#stored.values()].filter((field) => field.index === index);
    const own = new FieldCatalog(fields, undefined, this.textIndex);
    this.#byIndex.set(index, own);
    return own;
  }

  /** The stored field of this name and index. */
  stored(field: Pick<NewField, "name" | "index">): Field | undefined {
    return this.#stored.get(fieldKey(field));
  }

  /** The fields of this name, of the dataset and of every index. */
  named(name: string): Field[] {
    if (this.indices.size > 0) return this.allStored().filter((field) => field.name === name);
    const only = this.#fields.get(name);
    return only ? [only] : [];
  }

  /** The fields of the dataset and of every index. */
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

export function columnOf(field: Field): Sql {
  return identifier(field.column);
}

/** The field's value in `documents AS d`, of the column's type. */
export function fieldValue(field: Field): Sql {
  if (!field.parts) return sql`d.${columnOf(field)}`;
  // A document belongs to one index, so at most one part has a value.
  const values = field.parts.map((part) => {
    const value = sql`d.${columnOf(part)}`;
    const listed =
      field.multi && !part.multi ? sql`CASE WHEN ${value} IS NOT NULL THEN [${value}] END` : value;
    return part.type === field.type ? listed : sql`CAST(${listed} AS ${columnTypeOf(field)})`;
  });
  return sql`coalesce(${joined(values, ", ")})`;
}

/** Assigns columns, whose names differ in more than case, and postings for text. */
export function assignColumns(catalog: FieldCatalog, added: readonly NewField[]): Field[] {
  const known = catalog.allStored();
  const taken = new Set([...ownColumns, ...known.map(({ column }) => column.toLowerCase())]);
  return added.map((field, index) => {
    const number = catalog.placed + index;
    // Lone surrogates all become U+FFFD in the database.
    let column = Buffer.from(field.name).toString();
    if (taken.has(column.toLowerCase())) column = `${column}~${number}`;
    taken.add(column.toLowerCase());
    const analysed = field.type === "text" && catalog.textIndex === "fields";
    return { ...field, column, postings: analysed ? `postings_${number}` : undefined };
  });
}

/** Usual names of the time field, in order of preference, compared without case. */
const timeFieldNames = [
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

export function isTimeName(name: string): boolean {
  return timeFieldNames.includes(name.toLowerCase());
}

/** Guesses the time field: a date field with a usual name, else the only date field. */
export function likelyTimeField(fields: readonly NewField[]): string | undefined {
  const dates = fields.filter(({ type }) => type === "date").map(({ name }) => name);
  const named = timeFieldNames.map((usual) => dates.find((name) => name.toLowerCase() === usual));
  return named.find((name) => name !== undefined) ?? (dates.length === 1 ? dates[0] : undefined);
}
