/** Where an aggregation takes its values from, and how they are printed. */

import { type TimeZone, utc } from "../../datasets/dates/time-zone.ts";
import { type FieldType, fieldValue } from "../../datasets/fields.ts";
import { raw, type Sql, sql } from "../../datasets/sql.ts";
import { lookupTable } from "../../sandbox/lookup-table.ts";
import { parseDate } from "../dates/date-math.ts";
import { defaultDateFormat, readDateFormat } from "../dates/java-format.ts";
import { readTimeZone } from "../dates/read-time-zone.ts";
import { textOf } from "../json/token.ts";
import { keptValue } from "../query/compile/column.ts";
import { textBehind } from "../query/compile/target.ts";
import { fielddataError } from "../search/sort-key.ts";
import { illegalOnShard } from "../shard-failure.ts";
import type { AggregationContext } from "./context.ts";
import { readDecimalFormat } from "./decimal-format.ts";
import { argumentError } from "./errors.ts";
import type { Options } from "./options.ts";

export type ValueKind = "keyword" | "long" | "double" | "boolean" | "date";

export interface Values {
  readonly kind: ValueKind;
  /** The value of a document `d`: of the column's own type, a LIST when `multi`; NULL when it has none. */
  readonly value: Sql;
  readonly multi: boolean;
  /** Whether any document can have a value: the field exists, or there is a value for where it is missing. */
  readonly mapped: boolean;
  /** How a value is printed beside itself; `undefined` when it is not. */
  readonly print: ((value: number) => string) | undefined;
  readonly zone: TimeZone;
  /** Reads a value given in the request as a number of the field: a date as milliseconds. */
  read(value: unknown, what: string): number;
}

const kinds: Record<FieldType, ValueKind> = {
  text: "keyword",
  keyword: "keyword",
  long: "long",
  unsigned_long: "long",
  double: "double",
  boolean: "boolean",
  date: "date",
};

const columnTypes: Record<ValueKind, string> = {
  keyword: "VARCHAR",
  long: "BIGINT",
  double: "DOUBLE",
  boolean: "BOOLEAN",
  date: "TIMESTAMP",
};

/** Reads `field`, `missing`, `format`, `time_zone`, `value_type`. */
export function readValues(
  options: Options,
  context: AggregationContext,
  accepted: readonly ValueKind[],
): Values {
  const name = options.text("field");
  if (options.has("script")) {
    throw argumentError(`[${options.type}] scripts are not supported: name a [field]`);
  }
  if (name === undefined) {
    throw argumentError(`Required one of fields [field, script], but none were specified. `);
  }
  const missing = options.any("missing");
  const format = options.text("format") ?? context.fields.get(name)?.mapping?.format;
  const zoneName = zoneOption(options.any("time_zone"));
  const zone = zoneName === undefined ? utc : readTimeZone(zoneName);
  const valueType = options.text("value_type");
  const source = fieldValues(name, context);
  const kind = source?.kind ?? unmappedKind(valueType, missing, accepted);
  if (source && !accepted.includes(source.kind)) {
    throw illegalOnShard(
      `Field [${name}] of type [${source.kind}] is not supported for aggregation [${options.type}]`,
      context.index,
    );
  }
  const read = reader(kind, format, zoneName, context);
  const bare = source?.value ?? raw(`CAST(NULL AS ${columnTypes[kind]})`);
  const multi = source?.multi ?? false;
  return {
    kind,
    value: missing === undefined ? bare : withMissing(bare, multi, kind, missing, read),
    multi,
    mapped: source !== undefined || missing !== undefined,
    print: printer(kind, format, zone),
    zone,
    read,
  };
}

/** How dates of the request are read: as it says, or as the field's mapping does. */
export function dateFormatOf(options: Options, { fields }: Pick<AggregationContext, "fields">): string {
  const mapped = fields.get(options.text("field") ?? "")?.mapping?.format;
  return options.text("format") ?? mapped ?? defaultDateFormat;
}

/** The time zone of a request: its name, or hours. */
export function zoneOption(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  if (typeof value !== "number")
    throw argumentError(`[time_zone] must be a time zone's name or a number of hours`);
  return `${value < 0 ? "-" : "+"}${String(Math.abs(value)).padStart(2, "0")}:00`;
}

export function fieldValues(
  name: string,
  context: AggregationContext,
): { kind: ValueKind; value: Sql; multi: boolean } | undefined {
  if (name === "_index" || name === "_id") return { kind: "keyword", value: raw(`d.${name}`), multi: false };
  const field = context.fields.get(name);
  if (field) {
    if (field.type === "text" && context.fidelity === "vendor") throw fielddataError(name, context.index);
    return { kind: kinds[field.type], value: fieldValue(field), multi: field.multi };
  }
  const behind = textBehind(context.fields, name);
  if (!behind) return undefined;
  const { field: parent, ignoreAbove } = behind;
  const limit = context.fidelity === "vendor" ? ignoreAbove : undefined;
  return { kind: "keyword", value: keptValue(parent, limit), multi: parent.multi };
}

const valueTypes = lookupTable<ValueKind>({
  string: "keyword",
  long: "long",
  double: "double",
  number: "double",
  date: "date",
  boolean: "boolean",
});

function unmappedKind(
  valueType: string | undefined,
  missing: unknown,
  accepted: readonly ValueKind[],
): ValueKind {
  if (valueType !== undefined) {
    const kind = valueTypes[valueType];
    if (kind) return kind;
    throw argumentError(`Unknown value type [${valueType}]`);
  }
  const guess: ValueKind =
    typeof missing === "boolean"
      ? "boolean"
      : typeof missing === "number"
        ? Number.isInteger(missing)
          ? "long"
          : "double"
        : "keyword";
  return accepted.includes(guess) ? guess : (accepted[0] ?? "keyword");
}

function reader(
  kind: ValueKind,
  format: string | undefined,
  timeZone: string | undefined,
  { nowMs }: AggregationContext,
): (value: unknown, what: string) => number {
  const zoned = timeZone === undefined ? {} : { timeZone };
  return (value, what) => {
    if (typeof value === "number") return value;
    if (typeof value === "bigint") return Number(value);
    if (kind === "date" && typeof value === "string") {
      return parseDate(value, { format: format ?? defaultDateFormat, nowMs, rounding: "first", ...zoned });
    }
    if (kind === "boolean" && typeof value === "boolean") return value ? 1 : 0;
    if (kind === "boolean" && (value === "true" || value === "false")) return value === "true" ? 1 : 0;
    if (typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)))
      return Number(value);
    throw argumentError(`failed to parse [${what}]: For input string: "${textOf(value)}"`);
  };
}

function withMissing(
  value: Sql,
  multi: boolean,
  kind: ValueKind,
  missing: unknown,
  read: (value: unknown, what: string) => number,
): Sql {
  const substitute = literal(kind, missing, read);
  return multi ? sql`coalesce(${value}, [${substitute}])` : sql`coalesce(${value}, ${substitute})`;
}

/** A value of the request as one of the column's type. */
export function literal(
  kind: ValueKind,
  value: unknown,
  read: (value: unknown, what: string) => number,
): Sql {
  switch (kind) {
    case "keyword":
      return sql`${textOf(value)}`;
    case "long": {
      const number = typeof value === "bigint" ? value : read(value, "missing");
      return typeof number === "bigint" || Number.isInteger(number)
        ? sql`CAST(${BigInt(number)} AS BIGINT)`
        : sql`CAST(${number} AS DOUBLE)`;
    }
    case "double":
      return sql`CAST(${read(value, "missing")} AS DOUBLE)`;
    case "boolean":
      return sql`CAST(${read(value, "missing") !== 0} AS BOOLEAN)`;
    case "date":
      return sql`make_timestamp_ms(CAST(${BigInt(Math.floor(read(value, "missing")))} AS BIGINT))`;
  }
}

function printer(
  kind: ValueKind,
  format: string | undefined,
  zone: TimeZone,
): ((value: number) => string) | undefined {
  if (kind === "date") {
    const dateFormat = readDateFormat(format ?? defaultDateFormat);
    return (value) => dateFormat.format(Math.floor(value), zone);
  }
  if (kind === "boolean") return (value) => (value === 0 ? "false" : "true");
  if (kind === "keyword" || format === undefined) return undefined;
  return readDecimalFormat(format);
}

/** The value as a number, a LIST of numbers when it is one: dates in milliseconds, booleans as 0 and 1. */
export function numeric({ kind, value, multi }: Values): Sql {
  const convert = kind === "date" ? "epoch_ms(x)" : kind === "boolean" ? "CAST(x AS INTEGER)" : undefined;
  if (convert === undefined) return value;
  if (multi) return sql`list_transform(${value}, lambda x: ${raw(convert)})`;
  return kind === "date" ? sql`epoch_ms(${value})` : sql`CAST(${value} AS INTEGER)`;
}
