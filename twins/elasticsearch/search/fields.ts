/** `fields` and `docvalue_fields`: single fields of a hit, each as a list of its values. */

import type { Field, FieldType } from "@offhook/log-store/fields";
import { printIp } from "@offhook/log-store/ip-address";
import { type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { readDecimalFormat } from "../aggregations/decimal-format.ts";
import { formatDate } from "../dates/java-format.ts";
import { keywordsOf, mappedType, namesOf } from "../indices/field-types.ts";
import type { ContentParser } from "../json/content-parser.ts";
import { ObjectParser, textField, textOrNullField } from "../json/object-parser.ts";
import { indexedValue } from "../query/compile/column.ts";
import { checkDocValues, fielddataError } from "../query/compile/doc-values.ts";
import { type Target, targetOf } from "../query/compile/target.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import { illegalArgument } from "../vendor/error.ts";
import type { Fidelity } from "../vendor/fidelity.ts";
import { illegalOnShard, shardFailure } from "../vendor/shard-failure.ts";
import { decimalOf } from "./sort-key.ts";

/** A field or pattern of fields, and the format of its values. */
export interface FieldRequest {
  field: string;
  format: string | undefined;
}

/** Bounds the columns of the statement that reads the hits. */
const MAX_PATTERNS = 200;
const numbers: ReadonlySet<FieldType> = new Set(["long", "unsigned_long", "double"]);
const DATE_FORMAT = "strict_date_optional_time";

const parser = new ObjectParser<Partial<FieldRequest>>("fetch_field_and_format", {
  field: textField((field, request) => {
    request.field = field;
  }),
  format: textOrNullField((format, request) => {
    request.format = format;
  }),
  include_unmapped: {
    tokens: ["VALUE_BOOLEAN", "VALUE_STRING", "VALUE_NULL"],
    read: (content) => content.token === "VALUE_NULL" || content.boolean(),
  },
});

/** Reads a list of names and `{field, format}` objects that starts at the current token. @throws VendorError */
export function readFieldRequests(content: ContentParser): FieldRequest[] {
  const requests: FieldRequest[] = [];
  while (content.next() !== "END_ARRAY") {
    const { field, format } = content.isValue ? { field: content.text() } : parser.parse(content, {});
    if (field === undefined) throw illegalArgument("Required [field]");
    requests.push({ field, format });
  }
  if (requests.length > MAX_PATTERNS) {
    throw illegalArgument(
      `Trying to retrieve too many docvalue_fields. Must be less than or equal to: [${MAX_PATTERNS}] but was [${requests.length}].`,
    );
  }
  return requests;
}

/** A column of the statement that reads the hits, and how the hit shows it. */
export interface FieldColumn {
  /** The name in the answer: that of the field, or that of its keyword. */
  name: string;
  value: Sql;
  show(value: ResultValue): unknown[];
}

/** Columns of `fields`. A text and its keyword are two fields, as for the vendor. */
export function fieldColumns(
  requests: readonly FieldRequest[],
  { fields, fidelity }: QueryContext,
  index: string,
): FieldColumn[] {
  const columns = new Map<string, FieldColumn>();
  for (const { field: pattern, format } of requests) {
    for (const field of fields.all()) {
      for (const name of namesOf(field)) {
        if (!matchesPattern(name, pattern)) continue;
        if (format !== undefined && fidelity === "vendor") checkFormat(field, name, index);
        columns.set(name, fieldColumn(field, name, format, "as written", fidelity));
      }
    }
  }
  return [...columns.values()];
}

/** Only dates take a format in `fields`. @throws VendorError */
function checkFormat(field: Field, name: string, index: string): void {
  if (field.type === "date") return;
  const isText = field.type === "text" || field.type === "keyword";
  const reason = `Field [${name}]${isText ? "" : ` of type [${mappedType(field)}]`} doesn't support formats.`;
  const cause = { type: "illegal_argument_exception", reason };
  throw shardFailure({ ...cause, reason: `error fetching [${name}]: ${reason}`, caused_by: cause }, index);
}

/** Columns of `docvalue_fields`. @throws VendorError for analysed text */
export function docvalueColumns(
  requests: readonly FieldRequest[],
  context: QueryContext,
  index: string,
): FieldColumn[] {
  // The last request for a field wins.
  const asked = new Map<string, FieldRequest>();
  for (const request of requests)
    for (const name of docvalueNames(request, context)) asked.set(name, request);
  return [...asked].flatMap(([name, { field: pattern, format }]) => {
    const target = targetOf(context, name, "whole");
    const type = formatlessType(target);
    if (format !== undefined && type !== undefined && context.fidelity === "vendor") {
      throw illegalOnShard(`Field [${name}] of type [${type}] does not support custom formats`, index);
    }
    if (target.kind === "words") {
      if (pattern.includes("*")) return [];
      throw fielddataError(name, index);
    }
    checkDocValues(target, index);
    return target.kind === "missing" || target.kind === "meta"
      ? []
      : [fieldColumn(target.field, name, format, "sorted", context.fidelity)];
  });
}

function docvalueNames({ field: pattern }: FieldRequest, { fields }: QueryContext): string[] {
  if (!pattern.includes("*")) return [pattern];
  return fields
    .all()
    .flatMap(namesOf)
    .filter((name) => matchesPattern(name, pattern));
}

/** The type of a field that takes no format; `undefined` for one that does. */
function formatlessType(target: Target): string | undefined {
  switch (target.kind) {
    case "words":
      return "text";
    case "boolean":
    case "ip":
      return target.kind;
    case "keyword":
      return target.field.type === "keyword" ? mappedType(target.field) : "keyword";
    default:
      return undefined;
  }
}

function fieldColumn(
  field: Field,
  name: string,
  format: string | undefined,
  order: "as written" | "sorted",
  fidelity: Fidelity,
): FieldColumn {
  const limit = fidelity === "vendor" ? keywordsOf(field).get(name.slice(field.name.length + 1)) : undefined;
  const column = indexedValue(field, limit);
  const text = field.type === "text" || field.type === "keyword" || field.type === "ip";
  const sorted = text ? sql`list_sort(list_distinct(${column}))` : sql`list_sort(${column})`;
  const show = printer(field, format);
  return {
    name,
    value: field.multi && order === "sorted" ? sorted : column,
    show: (value) => (value === null ? [] : Array.isArray(value) ? value : [value]).map(show),
  };
}

/** Prints values by a pattern: Java's DecimalFormat for numbers, DateTimeFormatter for dates. */
function printer(field: Field, format: string | undefined): (value: ResultValue) => unknown {
  if (format === undefined || !numbers.has(field.type)) return (value) => showValue(value, field, format);
  const print = readDecimalFormat(format);
  return (value) => print(Number(value));
}

function showValue(value: ResultValue, { type, mapping }: Field, format = mapping?.format): unknown {
  if (type === "ip") return printIp(String(value));
  if (type === "double") return decimalOf({ mapping }, Number(value));
  if (type !== "date" || typeof value !== "number") return value;
  // Columns hold microseconds, the vendor's dates milliseconds.
  const epochMs = Math.floor(value);
  return format === "epoch_millis" ? String(epochMs) : formatDate(epochMs, format ?? DATE_FORMAT);
}
