/** `fields` and `docvalue_fields`: single fields of a hit, each as a list of its values. */
import { type Field, fieldValue } from "../../datasets/fields.ts";
import { type Sql, sql } from "../../datasets/sql.ts";
import type { ResultValue } from "../../datasets/store/log-store.ts";
import { matchesPattern } from "../../sandbox/star-pattern.ts";
import { illegal } from "../api/parameters.ts";
import { formatDate } from "../dates/java-format.ts";
import type { Json } from "../json/read.ts";
import { namesOf, targetOf } from "../query/compile/target.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import { decimalOf, fielddataError } from "./sort-key.ts";

/** A field, or a pattern of fields, and how its values are written. */
export interface FieldRequest {
  field: string;
  format: string | undefined;
}

/** Most patterns of a search. */
const MAX_PATTERNS = 200;
const DATE_FORMAT = "strict_date_optional_time";

/** @throws VendorError */
export function readFieldRequests(json: Json): FieldRequest[] {
  if (!Array.isArray(json)) throw illegal("[fields] must be an array");
  if (json.length > MAX_PATTERNS) {
    throw illegal(
      `Trying to retrieve too many docvalue_fields. Must be less than or equal to: [${MAX_PATTERNS}] but was [${json.length}].`,
    );
  }
  return json.map((item) => {
    if (typeof item === "string") return { field: item, format: undefined };
    if (typeof item === "object" && item !== null && !Array.isArray(item) && typeof item.field === "string") {
      return { field: item.field, format: typeof item.format === "string" ? item.format : undefined };
    }
    throw illegal("a field is a name, or an object with [field] and [format]");
  });
}

/** A column of the statement that reads the hits, and what is answered of it. */
export interface FieldColumn {
  /** As it is answered: the name, or the name with `.keyword`. */
  name: string;
  value: Sql;
  show(value: ResultValue): unknown[];
}

/** What a search reads as `fields`: a text and its keyword are two, as they are for the vendor. */
export function fieldColumns(requests: readonly FieldRequest[], { fields }: QueryContext): FieldColumn[] {
  const columns = new Map<string, FieldColumn>();
  for (const { field: pattern, format } of requests) {
    for (const field of fields.all()) {
      for (const name of namesOf(field)) {
        if (matchesPattern(name, pattern)) columns.set(name, fieldColumn(field, name, format, "as written"));
      }
    }
  }
  return [...columns.values()];
}

/** What a search reads as `docvalue_fields`. @throws VendorError for text that is analysed */
export function docvalueColumns(
  requests: readonly FieldRequest[],
  context: QueryContext,
  index: string,
): FieldColumn[] {
  const columns = new Map<string, FieldColumn>();
  for (const { field: pattern, format } of requests) {
    const names = pattern.includes("*")
      ? context.fields
          .all()
          .flatMap(namesOf)
          .filter((name) => matchesPattern(name, pattern))
      : [pattern];
    for (const name of names) {
      const target = targetOf(context, name, "whole");
      if (target.kind === "words") {
        if (pattern.includes("*")) continue;
        throw fielddataError(name, index);
      }
      if (target.kind === "missing" || target.kind === "meta") continue;
      columns.set(name, fieldColumn(target.field, name, format, "sorted"));
    }
  }
  return [...columns.values()];
}

function fieldColumn(
  field: Field,
  name: string,
  format: string | undefined,
  order: "as written" | "sorted",
): FieldColumn {
  const column = fieldValue(field);
  const text = field.type === "text" || field.type === "keyword";
  const sorted = text ? sql`list_sort(list_distinct(${column}))` : sql`list_sort(${column})`;
  return {
    name,
    value: field.multi && order === "sorted" ? sorted : column,
    show(value) {
      const items = value === null ? [] : Array.isArray(value) ? value : [value];
      return items.map((item) => showValue(item, field, format));
    },
  };
}

function showValue(value: ResultValue, { type, mapping }: Field, format = mapping?.format): unknown {
  if (type === "double") return decimalOf({ mapping }, Number(value));
  if (type !== "date" || typeof value !== "number") return value;
  // Columns hold microseconds; what the vendor keeps of a date is its milliseconds.
  const epochMs = Math.floor(value);
  return format === "epoch_millis" ? String(epochMs) : formatDate(epochMs, format ?? DATE_FORMAT);
}
