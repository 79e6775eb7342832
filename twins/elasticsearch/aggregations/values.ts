/** Where an aggregation takes its values from, and how they are printed. */

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
  /** The value of a document `d`: of the column's own type, a LIST when `multi`; NULL when it has none. */
  readonly value: Sql;
  readonly multi: boolean;
  /** Whether no mapping has the field. */
  readonly unmapped: boolean;
  /** Whether any document can have a value: the field exists, or there is a value for where it is missing. */
  readonly mapped: boolean;
  /** How a value is printed beside itself; `undefined` when it is not. */
  readonly print: ((value: number) => string) | undefined;
  readonly zone: TimeZone;
  /** Reads a value given in the request as a number of the field: a date as milliseconds. */
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

/** Reads `field`, `missing`, `format`, `time_zone`, `value_type`. @param accepted kinds; the first is that of an unmapped field */
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
  const bare = source?.value ?? raw(`CAST(NULL AS ${columnTypes[fieldKind]})`);
  const multi = source?.multi ?? false;
  const { kind, value } =
    missing === undefined
      ? { kind: fieldKind, value: bare }
      : withMissing(bare, multi, fieldKind, missing, read);
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

/** @throws VendorError for a format that values of the kind are not printed with */
function checkFormat(options: Options, name: string, kind: ValueKind): void {
  const refuse = (what: string) =>
    argumentError(`Field [${name}] of type [${kind}] does not support custom ${what}`);
  if (options.has("format") && (kind === "keyword" || kind === "boolean" || kind === "ip"))
    throw refuse("formats");
  if (options.has("time_zone") && kind !== "date") throw refuse("time zones");
}

function fieldValues(
  name: string,
  context: AggregationContext,
): { kind: ValueKind; value: Sql; multi: boolean } | undefined {
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

function withMissing(
  value: Sql,
  multi: boolean,
  kind: ValueKind,
  missing: unknown,
  read: (value: unknown) => number,
): { kind: ValueKind; value: Sql } {
  if (kind === "keyword") return substituted(value, multi, kind, sql`${textOf(missing)}`);
  if (kind === "ip") return substituted(value, multi, kind, addressLiteral(missing));
  const number = typeof missing === "bigint" ? missing : read(missing);
  if (kind === "boolean" && number !== 0 && number !== 1) {
    return substituted(cast(value, "BIGINT", multi), multi, kind, integerSql(number));
  }
  if (kind === "long" && typeof number === "number" && !Number.isInteger(number)) {
    return substituted(cast(value, "DOUBLE", multi), multi, "double", sql`CAST(${number} AS DOUBLE)`);
  }
  return substituted(value, multi, kind, literal(kind, number));
}

/** An address of the request as a value of its column. @throws VendorError for what is none */
export function addressLiteral(value: unknown): Sql {
  const address = parseIp(textOf(value));
  if (address === undefined) throw argumentError(`'${textOf(value)}' is not an IP string literal.`);
  return sql`${ipDigits(address)}`;
}

function substituted(value: Sql, multi: boolean, kind: ValueKind, substitute: Sql) {
  if (!multi) return { kind, value: sql`coalesce(${value}, ${substitute})` };
  return {
    kind,
    value: sql`CASE WHEN coalesce(len(${value}), 0) = 0 THEN [${substitute}] ELSE ${value} END`,
  };
}

function cast(value: Sql, type: string, multi: boolean): Sql {
  return sql`CAST(${value} AS ${raw(multi ? `${type}[]` : type)})`;
}

function integerSql(number: number | bigint): Sql {
  return sql`CAST(${typeof number === "bigint" ? number : BigInt(Math.trunc(number))} AS BIGINT)`;
}

/** A number of the request as a value of the column's type. */
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

/** The value as a number, a LIST of numbers when it is one: dates in milliseconds, booleans as 0 and 1. */
export function numeric({ kind, value, multi }: Values): Sql {
  const convert = kind === "date" ? "epoch_ms(x)" : kind === "boolean" ? "CAST(x AS INTEGER)" : undefined;
  if (convert === undefined) return value;
  if (multi) return sql`list_transform(${value}, lambda x: ${raw(convert)})`;
  return kind === "date" ? sql`epoch_ms(${value})` : sql`CAST(${value} AS INTEGER)`;
}
