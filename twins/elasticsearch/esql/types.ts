/**
 * The types of ES|QL.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-rest.html
 */
import { raw, type Sql } from "@offhook/log-store/sql";

/**
 * SQL types: `keyword`, `text` VARCHAR; `integer` INTEGER; `long` BIGINT; `unsigned_long` UBIGINT; `double` DOUBLE;
 * `boolean` BOOLEAN; `datetime` TIMESTAMP; `ip` UHUGEINT (the 128 bits of an IPv6 address); `version` VARCHAR (see
 * `functions/version.ts`); `source` VARCHAR (JSON). A time span is a constant without SQL. `unknown` is the type after
 * a reported problem.
 */
export type DataType =
  | "null"
  | "boolean"
  | "keyword"
  | "text"
  | "integer"
  | "long"
  | "unsigned_long"
  | "double"
  | "datetime"
  | "ip"
  | "version"
  | "date_period"
  | "time_duration"
  | "source"
  | "unknown";

const sqlTypes: Readonly<Record<DataType, string>> = {
  null: "VARCHAR",
  boolean: "BOOLEAN",
  keyword: "VARCHAR",
  text: "VARCHAR",
  integer: "INTEGER",
  long: "BIGINT",
  unsigned_long: "UBIGINT",
  double: "DOUBLE",
  datetime: "TIMESTAMP",
  ip: "UHUGEINT",
  version: "VARCHAR",
  date_period: "VARCHAR",
  time_duration: "VARCHAR",
  source: "VARCHAR",
  unknown: "VARCHAR",
};

export function sqlType(type: DataType): Sql {
  return raw(sqlTypes[type]);
}

/** The type's name in `columns` of an answer. */
export function outputType(type: DataType): string {
  if (type === "datetime") return "date";
  return type === "source" ? "_source" : type;
}

export function isNumeric(type: DataType): boolean {
  return type === "integer" || type === "long" || type === "unsigned_long" || type === "double";
}

export function isWhole(type: DataType): boolean {
  return type === "integer" || type === "long" || type === "unsigned_long";
}

export function isString(type: DataType): boolean {
  return type === "keyword" || type === "text";
}

export function isTimeSpan(type: DataType): boolean {
  return type === "date_period" || type === "time_duration";
}

/** The common type of two signed numbers. */
export function widest(a: DataType, b: DataType): DataType {
  if (a === "double" || b === "double") return "double";
  if (a === "unsigned_long" && b === "unsigned_long") return "unsigned_long";
  return a === "integer" && b === "integer" ? "integer" : "long";
}

/** Types that a parameter accepts, with the vendor's label: `numeric`, `string`, `boolean or datetime`. */
export interface TypeSet {
  label: string;
  types: ReadonlySet<DataType>;
}

function typeSet(label: string, ...types: DataType[]): TypeSet {
  return { label, types: new Set(types) };
}

const signed: DataType[] = ["integer", "long", "double"];
const strings: DataType[] = ["keyword", "text"];
export const typeSets = {
  any: typeSet("any", "boolean", ...strings, ...signed, "unsigned_long", "datetime", "ip", "version"),
  boolean: typeSet("boolean", "boolean"),
  string: typeSet("string", ...strings),
  numeric: typeSet("numeric", ...signed, "unsigned_long"),
  signed: typeSet("numeric except unsigned_long", ...signed),
  whole: typeSet("whole number except unsigned_long", "integer", "long"),
  wholeOrUnsigned: typeSet("whole number", "integer", "long", "unsigned_long"),
  integer: typeSet("integer", "integer"),
  double: typeSet("double", "double"),
  datetime: typeSet("datetime", "datetime"),
  ip: typeSet("ip", "ip"),
  timeSpan: typeSet("dateperiod or timeduration", "date_period", "time_duration"),
};

export function anyOf(label: string, ...sets: TypeSet[]): TypeSet {
  return { label, types: new Set(sets.flatMap(({ types }) => [...types])) };
}
