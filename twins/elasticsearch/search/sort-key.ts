import { checkDocValues, fielddataError } from "../query/compile/doc-values.ts";

/** Sort keys as SQL: the value to order by, how a hit shows it, and how `search_after` reads it. */

import type { Field } from "@offhook/log-store/fields";
import { ipDigits, parseIp, printIp } from "@offhook/log-store/ip-address";
import { raw, type Sql, type SqlValue, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { parseDate } from "../dates/date-math.ts";
import { formatDate } from "../dates/java-format.ts";
import { mappedType } from "../indices/field-types.ts";
import { javaLong, javaNumber, numberFormatReason } from "../json/java-number.ts";
import { Double, Float } from "../json/numbers.ts";
import type { Json } from "../json/read.ts";
import { textOf } from "../json/token.ts";
import { indexedValue } from "../query/compile/column.ts";
import { targetOf } from "../query/compile/target.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import { VendorError } from "../vendor/error.ts";
import { illegalOnShard, shardFailure } from "../vendor/shard-failure.ts";
import type { FieldSort, Order, Sort, SortMode } from "./sort.ts";

export interface SortKey {
  /** Over `documents AS d`, or `s.score`; NULL for a missing text. */
  value: Sql;
  order: Order;
  nullsFirst: boolean;
  /** Whether a hit's `sort` shows it. */
  isShown: boolean;
  show(value: ResultValue): unknown;
  /** A value of `search_after`, ready to compare. @throws VendorError */
  read(value: Json): SqlValue;
}

/** The field name in a `search_after` error for a key that is no field. */
const NO_FIELD = "null";
const LONG_MAX = 9_223_372_036_854_775_807n;
const LONG_MIN = -9_223_372_036_854_775_808n;

/** @param index the first of the searched indices, for errors */
export function sortKey(sort: Sort, context: QueryContext, index: string): SortKey {
  const { order } = sort;
  const plain = { order, nullsFirst: false };
  if (sort.kind === "score") {
    return {
      ...plain,
      value: raw("s.score"),
      isShown: true,
      show: (value) => new Float(Number(value)),
      read: (value) => Math.fround(parseDouble(value, (text) => unreadableAfter(text, NO_FIELD, index))),
    };
  }
  if (sort.kind === "document") {
    return {
      ...plain,
      value: raw("d._row"),
      isShown: sort.isShown,
      show: identity,
      read: (json) => readLong(json, NO_FIELD, index),
    };
  }
  return fieldKey(sort, context, index);
}

function fieldKey(sort: FieldSort, context: QueryContext, index: string): SortKey {
  const target = targetOf(context, sort.field, "whole");
  checkDocValues(target, index);
  switch (target.kind) {
    case "meta":
      if (target.name === "_id" && context.fidelity === "vendor") {
        throw illegalOnShard(
          "Fielddata access on the _id field is disallowed, you can re-enable it by updating the dynamic cluster setting: indices.id_field_data.enabled",
          index,
        );
      }
      checkWords(sort, "keyword", index);
      return textKey(sort, raw(`d.${target.name}`));
    case "missing":
      if (context.fidelity === "vendor" && sort.unmappedType === undefined) {
        const reason = context.allFields?.get(sort.field)
          ? `it is mandatory to set the [nested] context on the nested sort field: [${sort.field}].`
          : `No mapping found for [${sort.field}] in order to sort on`;
        throw shardFailure({ type: "query_shard_exception", reason }, index);
      }
      return unmappedKey(sort, context, index);
    case "words":
      throw fielddataError(sort.field, index);
    case "keyword": {
      checkWords(sort, target.field.type === "keyword" ? mappedType(target.field) : "keyword", index);
      return textKey(sort, sortValue(target.field, sort, target.ignoreAbove));
    }
    case "ip":
      checkWords(sort, "ip", index);
      return addressKey(sort, target.field, index);
    case "date":
      return dateKey(sort, sql`epoch_ms(${sortValue(target.field, sort)})`, target.field, context);
    case "boolean":
      checkNoFormat(sort, "boolean", index);
      return {
        ...longKey(sort, sql`CAST(${sortValue(target.field, sort)} AS BIGINT)`, index),
        read: (json) => readBoolean(json, index),
      };
    case "number":
      checkNumberFormat(sort, index);
      return numberKey(sort, target.field, index);
  }
}

/** Text keys take neither number modes nor formats. @throws VendorError */
function checkWords(sort: FieldSort, type: string, index: string, name?: string): void {
  const wrong = (reason: string) => shardFailure({ type: "query_shard_exception", reason }, index);
  if (sort.mode === "avg" || sort.mode === "median" || sort.mode === "sum") {
    throw wrong("we only support AVG, MEDIAN and SUM on number based fields");
  }
  if (sort.numericType !== undefined) {
    throw wrong(`[numeric_type] option cannot be set on a non-numeric field, got ${type}`);
  }
  checkNoFormat(sort, type, index, name);
}

function checkNoFormat({ field, format }: FieldSort, type: string, index: string, name = field): void {
  if (format === undefined) return;
  throw illegalOnShard(`Field [${name}] of type [${type}] does not support custom formats`, index);
}

/** Only dates take a sort format. */
function checkNumberFormat({ format }: FieldSort, index: string): void {
  if (format !== undefined) throw illegalOnShard("require a date_time formatter; got [decimal]", index);
}

const listFunctions: Record<SortMode, string> = {
  min: "list_min",
  max: "list_max",
  sum: "list_sum",
  avg: "list_avg",
  median: "list_median",
};

/**
 * The value of a multi-valued field that sorts: by `mode`, else the smallest ascending and the greatest descending.
 */
function sortValue(field: Field, { mode, order }: FieldSort, ignoreAbove?: number): Sql {
  const column = indexedValue(field, ignoreAbove);
  if (!field.multi) return column;
  const numeric = !["text", "keyword", "date", "boolean", "ip"].includes(field.type);
  const fitting = mode !== undefined && (numeric || mode === "min" || mode === "max") ? mode : undefined;
  const name = listFunctions[fitting ?? (order === "asc" ? "min" : "max")];
  return sql`${raw(name)}(${column})`;
}

function textKey(sort: FieldSort, value: Sql): SortKey {
  const { missing, order } = sort;
  const given = missing !== "_last" && missing !== "_first";
  return {
    value: given ? sql`coalesce(${value}, ${textOf(missing)})` : value,
    order,
    nullsFirst: missing === "_first",
    isShown: true,
    show: identity,
    read: (json) => (json === null ? null : textOf(json)),
  };
}

/** Addresses in numeric order, shown in the vendor's notation. */
function addressKey(sort: FieldSort, field: Field, index: string): SortKey {
  const { missing } = sort;
  const read = (json: Json) => {
    if (json === null) return null;
    const address = parseIp(textOf(json));
    if (address === undefined) throw illegalOnShard(`'${textOf(json)}' is not an IP string literal.`, index);
    return ipDigits(address);
  };
  const isPlace = missing === "_last" || missing === "_first";
  const key = textKey({ ...sort, missing: isPlace ? missing : "_last" }, sortValue(field, sort));
  return {
    ...key,
    ...(isPlace ? {} : { value: sql`coalesce(${key.value}, ${read(missing)})` }),
    show: (value) => (value === null ? null : printIp(String(value))),
    read,
  };
}

function numberKey(sort: FieldSort, field: Field, index: string): SortKey {
  const value = sortValue(field, sort);
  const averaged = field.multi && (sort.mode === "avg" || sort.mode === "median");
  const type = sort.numericType ?? (field.type === "double" ? "double" : "long");
  if (type === "double") return doubleKey(sort, sql`CAST(${value} AS DOUBLE)`, field, index);
  const whole = averaged ? sql`round(${value})` : value;
  if (field.type === "unsigned_long" || (field.multi && sort.mode === "sum")) {
    return longKey(sort, sql`CAST(${whole} AS HUGEINT)`, index);
  }
  return longKey(sort, sql`CAST(${whole} AS BIGINT)`, index);
}

function longKey(sort: FieldSort, value: Sql, index: string): SortKey {
  const { field, missing, order } = sort;
  const sentinel =
    missing === "_last" || missing === "_first"
      ? extremeLong(missing, order)
      : parseLong(missing, (text) => numberFormatOnShard(text, index));
  return {
    value: sql`coalesce(${value}, ${sentinel})`,
    order,
    nullsFirst: false,
    isShown: true,
    show: identity,
    read: (json) => readLong(json, field, index),
  };
}

function extremeLong(missing: "_last" | "_first", order: Order): bigint {
  return (missing === "_last") === (order === "asc") ? LONG_MAX : LONG_MIN;
}

/** A fraction with the precision of its mapped type. */
export function decimalOf({ mapping }: Pick<Field, "mapping">, value: number): Double | Float {
  const single = mapping?.type === "float" || mapping?.type === "half_float";
  return single ? new Float(value) : new Double(value);
}

function doubleKey(sort: FieldSort, value: Sql, held: Pick<Field, "mapping">, index: string): SortKey {
  const { field, missing, order } = sort;
  const sentinel =
    missing === "_last" || missing === "_first"
      ? extremeLong(missing, order) === LONG_MAX
        ? Number.POSITIVE_INFINITY
        : Number.NEGATIVE_INFINITY
      : parseDouble(missing, (text) => numberFormatOnShard(text, index));
  return {
    value: sql`coalesce(${value}, ${sentinel})`,
    order,
    nullsFirst: false,
    isShown: true,
    show: (shown) => decimalOf(held, Number(shown)),
    read: (json) => parseDouble(json, (text) => unreadableAfter(text, field, index)),
  };
}

function dateKey(
  sort: FieldSort,
  value: Sql,
  held: Pick<Field, "mapping">,
  { nowMs, index }: QueryContext,
): SortKey {
  const { field, format } = sort;
  const readBy = format ?? held.mapping?.format;
  const dateFormat = readBy === undefined ? {} : { format: readBy };
  const read = (json: Json): SqlValue =>
    typeof json === "string" || typeof json === "boolean"
      ? BigInt(
          asShardFailure(index, () => parseDate(String(json), { nowMs, rounding: "first", ...dateFormat })),
        )
      : readLong(json, field, index);
  const show = (shown: ResultValue) =>
    format === undefined || shown === null ? shown : formatDate(Number(shown), format);
  return { ...longKey(sort, value, index), show, read };
}

const UNMAPPED_NUMBERS: ReadonlySet<string> = new Set([
  ...["long", "integer", "short", "byte", "unsigned_long"],
  ...["double", "float", "half_float"],
]);
const UNMAPPED_TYPES: ReadonlySet<string> = new Set([
  ...UNMAPPED_NUMBERS,
  ...["keyword", "date", "date_nanos", "boolean", "ip", "text", "wildcard", "constant_keyword", "version"],
]);

/** A field that no document has: all hits sort equal. */
function unmappedKey(sort: FieldSort, context: QueryContext, index: string): SortKey {
  const type = sort.unmappedType ?? (sort.missing === "_last" ? "keyword" : "long");
  if (context.fidelity === "vendor") {
    if (!UNMAPPED_TYPES.has(type)) throw illegalOnShard(`No mapper found for type [${type}]`, index);
    if (UNMAPPED_NUMBERS.has(type)) checkNumberFormat(sort, index);
    else if (!type.startsWith("date")) checkWords(sort, type, index, "__anonymous_");
  }
  switch (type) {
    case "text":
      if (context.fidelity === "vendor") throw fielddataError("__anonymous_", index);
      break;
    case "date":
    case "date_nanos":
      return dateKey(sort, raw("CAST(NULL AS BIGINT)"), {}, context);
    case "double":
    case "float":
    case "half_float":
      return doubleKey(sort, raw("CAST(NULL AS DOUBLE)"), {}, index);
    default:
      if (UNMAPPED_NUMBERS.has(type) || type === "boolean") {
        return longKey(sort, raw("CAST(NULL AS BIGINT)"), index);
      }
  }
  return textKey(sort, raw("CAST(NULL AS VARCHAR)"));
}

function identity(value: ResultValue): unknown {
  return value;
}

/** Reads a whole number of `search_after`; text with a fraction rounds down. @throws VendorError */
function readLong(json: Json, field: string, index: string): bigint {
  const isWhole = typeof json === "string" && /^[+-]?\d{1,19}$/.test(json);
  const number = typeof json === "string" && !isWhole ? javaNumber(json) : undefined;
  if (number !== undefined) return javaLong(Math.floor(number));
  return parseLong(json, (text) => unreadableAfter(text, field, index));
}

/** Reads a boolean of `search_after`; booleans sort as 0 and 1. @throws VendorError */
function readBoolean(json: Json, index: string): bigint {
  if (json === true || json === "true") return 1n;
  if (json === false || json === "false") return 0n;
  const unreadable = (text: string) =>
    illegalOnShard(`Cannot parse boolean [${text}], expected either [true] or [false]`, index);
  if (typeof json === "string") throw unreadable(json);
  return parseLong(json, unreadable);
}

/** Truncates a number, or reads the text of a whole one. @throws the error that `refusal` makes for anything else */
function parseLong(json: Json, refusal: (text: string) => VendorError): bigint {
  if (typeof json === "bigint") return json;
  if (typeof json === "number") return BigInt(Math.trunc(json));
  if (typeof json === "string" && /^[+-]?\d{1,30}$/.test(json)) return BigInt(json.replace(/^\+/, ""));
  throw refusal(textOf(json));
}

function parseDouble(json: Json, refusal: (text: string) => VendorError): number {
  if (typeof json === "number" || typeof json === "bigint") return Number(json);
  const number = typeof json === "string" ? javaNumber(json) : undefined;
  if (number === undefined) throw refusal(textOf(json));
  return number;
}

/** Turns a reading error into a shard failure. */
function asShardFailure<Value>(index: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw error instanceof VendorError ? shardFailure(error.cause, index) : error;
  }
}

/** Shard failure for a `missing` that is no number. */
function numberFormatOnShard(text: string, index: string): VendorError {
  return shardFailure(numberFormat(text), index);
}

function unreadableAfter(text: string, field: string, index: string): VendorError {
  const reason = `Failed to parse search_after value for field [${field}].`;
  return shardFailure({ type: "illegal_argument_exception", reason, caused_by: numberFormat(text) }, index);
}

function numberFormat(text: string) {
  return { type: "number_format_exception", reason: numberFormatReason(text) };
}
