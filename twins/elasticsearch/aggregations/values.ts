/** The source of an aggregation's values, and their formats. */

import { type TimeZone, utc } from "@offhook/log-store/dates/time-zone";
import { type FieldType, fieldValue } from "@offhook/log-store/fields";
import { ipDigits, parseIp } from "@offhook/log-store/ip-address";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { parseDate } from "../dates/date-math.ts";
import { defaultDateFormat, readDateFormat } from "../dates/java-format.ts";
import { readTimeZone } from "../dates/read-time-zone.ts";
import { javaDouble } from "../json/java-number.ts";
import { textOf } from "../json/token.ts";
import { indexedValue } from "../query/compile/column.ts";
import { checkDocValues, fielddataError } from "../query/compile/doc-values.ts";
import { targetOf, textBehind } from "../query/compile/target.ts";
import type { AggregationContext } from "./context.ts";
import { readDecimalFormat } from "./decimal-format.ts";
import { argumentError } from "./errors.ts";
import type { Options } from "./options.ts";

export type ValueKind = "keyword" | "long" | "double" | "boolean" | "date" | "ip";

export interface Values {
  readonly kind: ValueKind;
  /** The value of a document `d` in the column's type, a LIST when `multi`; NULL without a value. */
  readonly value: Sql;
  readonly multi: boolean;
  /** Whether the field has no mapping. */
  readonly unmapped: boolean;
  /** Whether any document can have a value: the field exists, or `missing` substitutes one. */
  readonly mapped: boolean;
  /** Formats a value for `…_as_string`; absent: there is none. */
  readonly print: ((value: number) => string) | undefined;
  readonly zone: TimeZone;
  /** Parses a value of the request to a number of the field, dates to milliseconds. */
  read(value: unknown): number;
}

const kinds: Record<FieldType, ValueKind> = {
  text: "keyword",
  keyword: "keyword",
  long: "long",
  unsigned_long: "long",
  double: "double",
  boolean: "boolean",
  date: "date",
  ip: "ip",
};

const columnTypes: Record<ValueKind, string> = {
  keyword: "VARCHAR",
  long: "BIGINT",
  double: "DOUBLE",
  boolean: "BOOLEAN",
  date: "TIMESTAMP",
  ip: "VARCHAR",
};

/** Reads `field`, `missing`, `format`, `time_zone`, `value_type`. @param accepted kinds; an unmapped field has the first */
export function readValues(
  options: Options,
  context: AggregationContext,
  accepted: readonly ValueKind[],
): Values {
  const name = options.text("field");
  if (options.has("script") || name === undefined) {
    throw argumentError(`[${options.type}] scripts are not supported: name a [field]`);
  }
  const missing = options.any("missing");
  const zoneName = options.text("time_zone");
  const zone = zoneName === undefined ? utc : readTimeZone(zoneName);
  const source = fieldValues(name, context);
  const fieldKind = source?.kind ?? valueTypes[options.text("value_type") ?? ""] ?? accepted[0] ?? "keyword";
  if (source) checkFormat(options, name, source.kind);
  const format = options.text("format") ?? context.fields.get(name)?.mapping?.format;
  const print = printer(fieldKind, format, zone);
  const read = reader(fieldKind, format, zoneName, context);
  const column: Column = source ?? {
    kind: fieldKind,
    value: raw(`CAST(NULL AS ${columnTypes[fieldKind]})`),
    multi: false,
  };
  const { kind, value, multi } = missing === undefined ? column : substituteMissing(column, missing, read);
  if (source && !accepted.includes(source.kind)) {
    throw argumentError(
      `Field [${name}] of type [${source.kind}] is not supported for aggregation [${options.type}]`,
    );
  }
  return {
    kind,
    value,
    multi,
    unmapped: source === undefined,
    mapped: source !== undefined || missing !== undefined,
    print,
    zone,
    read,
  };
}

/** @throws VendorError for a format that the kind does not support */
function checkFormat(options: Options, name: string, kind: ValueKind): void {
  const refuse = (what: string) =>
    argumentError(`Field [${name}] of type [${kind}] does not support custom ${what}`);
  if (options.has("format") && (kind === "keyword" || kind === "boolean" || kind === "ip"))
    throw refuse("formats");
  if (options.has("time_zone") && kind !== "date") throw refuse("time zones");
}

type Column = Pick<Values, "kind" | "value" | "multi">;

function fieldValues(name: string, context: AggregationContext): Column | undefined {
  if (name === "_id" && context.fidelity === "vendor") {
    throw argumentError(
      "Fielddata access on the _id field is disallowed, you can re-enable it by updating the dynamic cluster setting: indices.id_field_data.enabled",
    );
  }
  if (name === "_index" || name === "_id") return { kind: "keyword", value: raw(`d.${name}`), multi: false };
  const field = context.fields.get(name);
  if (field) {
    if (field.type === "text" && context.fidelity === "vendor") throw fielddataError(name, context.index);
    checkDocValues(targetOf(context, name, "whole"), context.index);
    return { kind: kinds[field.type], value: fieldValue(field), multi: field.multi };
  }
  const behind = textBehind(context.fields, name);
  if (!behind) return undefined;
  const { field: parent, ignoreAbove } = behind;
  const limit = context.fidelity === "vendor" ? ignoreAbove : undefined;
  return { kind: "keyword", value: indexedValue(parent, limit), multi: parent.multi };
}

const valueTypes = lookupTable<ValueKind>({
  string: "keyword",
  long: "long",
  double: "double",
  number: "double",
  date: "date",
  boolean: "boolean",
  ip: "ip",
});

function reader(
  kind: ValueKind,
  format: string | undefined,
  timeZone: string | undefined,
  { nowMs }: AggregationContext,
): (value: unknown) => number {
  const zoned = timeZone === undefined ? {} : { timeZone };
  return (value) => {
    if (typeof value === "number" || typeof value === "bigint") return Number(value);
    if (kind === "date") {
      const options = { format: format ?? defaultDateFormat, nowMs, rounding: "first" as const, ...zoned };
      return parseDate(textOf(value), options);
    }
    const text = textOf(value);
    if (kind !== "boolean") return javaDouble(text);
    if (text === "true" || text === "false") return text === "true" ? 1 : 0;
    throw argumentError(`Cannot parse boolean [${text}], expected either [true] or [false]`);
  };
}

/** Substitutes a value where documents have none. The column's kind may change, so that it can hold the value. */
function substituteMissing(column: Column, missing: unknown, read: (value: unknown) => number): Column {
  const { kind } = column;
  if (kind === "keyword") return substitute(column, sql`${textOf(missing)}`);
  if (kind === "ip") return substitute(column, addressLiteral(missing));
  const number = typeof missing === "bigint" ? missing : read(missing);
  if (kind === "boolean" && number !== 0 && number !== 1) {
    return substitute(cast(column, "BIGINT"), integerSql(number));
  }
  if (kind === "long" && typeof number === "number" && !Number.isInteger(number)) {
    return { ...substitute(cast(column, "DOUBLE"), sql`CAST(${number} AS DOUBLE)`), kind: "double" };
  }
  return substitute(column, literal(kind, number));
}

/** Converts an address of the request to its column's notation. @throws VendorError for an invalid address */
export function addressLiteral(value: unknown): Sql {
  const address = parseIp(textOf(value));
  if (address === undefined) throw argumentError(`'${textOf(value)}' is not an IP string literal.`);
  return sql`${ipDigits(address)}`;
}

function substitute({ kind, value, multi }: Column, missing: Sql): Column {
  const substituted = multi
    ? sql`CASE WHEN coalesce(len(${value}), 0) = 0 THEN [${missing}] ELSE ${value} END`
    : sql`coalesce(${value}, ${missing})`;
  return { kind, value: substituted, multi };
}

function cast({ kind, value, multi }: Column, type: string): Column {
  return { kind, value: sql`CAST(${value} AS ${raw(multi ? `${type}[]` : type)})`, multi };
}

function integerSql(number: number | bigint): Sql {
  return sql`CAST(${typeof number === "bigint" ? number : BigInt(Math.trunc(number))} AS BIGINT)`;
}

/** Converts a number of the request to the column's type. */
function literal(kind: Exclude<ValueKind, "keyword" | "ip">, number: number | bigint): Sql {
  switch (kind) {
    case "long":
      return integerSql(number);
    case "double":
      return sql`CAST(${Number(number)} AS DOUBLE)`;
    case "boolean":
      return sql`CAST(${Number(number) !== 0} AS BOOLEAN)`;
    case "date":
      return sql`make_timestamp_ms(CAST(${BigInt(Math.floor(Number(number)))} AS BIGINT))`;
  }
}

function printer(
  kind: ValueKind,
  format: string | undefined,
  zone: TimeZone,
): ((value: number) => string) | undefined {
  if (kind === "date") {
    const dateFormat = readDateFormat(format ?? defaultDateFormat);
    return (value) => dateFormat.format(value, zone);
  }
  if (kind === "boolean") return (value) => (value === 0 ? "false" : "true");
  if (kind === "keyword" || kind === "ip" || format === undefined) return undefined;
  return readDecimalFormat(format);
}

/** The value as a number, or a LIST of numbers: dates in milliseconds, booleans as 0 and 1. */
export function numeric({ kind, value, multi }: Values): Sql {
  const convert = kind === "date" ? "epoch_ms(x)" : kind === "boolean" ? "CAST(x AS INTEGER)" : undefined;
  if (convert === undefined) return value;
  if (multi) return sql`list_transform(${value}, lambda x: ${raw(convert)})`;
  return kind === "date" ? sql`epoch_ms(${value})` : sql`CAST(${value} AS INTEGER)`;
}
