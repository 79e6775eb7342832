/** A sort as SQL: the value that hits are ordered by, how it is answered, and what comes after a value. */
import { columnOf, type Field } from "../../datasets/fields.ts";
import { raw, type Sql, type SqlValue, sql } from "../../datasets/sql.ts";
import type { ResultValue } from "../../datasets/store/log-store.ts";
import { parseDate } from "../dates/date-math.ts";
import { formatDate } from "../dates/java-format.ts";
import { Double, Float } from "../json/numbers.ts";
import type { Json } from "../json/read.ts";
import { targetOf } from "../query/compile/target.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import { illegalOnShard, shardFailure } from "../shard-failure.ts";
import type { FieldSort, Order, Sort, SortMode } from "./sort.ts";

export interface SortKey {
  /** Over `documents AS d`, or over `s.score`; NULL for text that is missing. */
  value: Sql;
  order: Order;
  nullsFirst: boolean;
  /** Whether it stands in a hit's `sort`. */
  answered: boolean;
  show(value: ResultValue): unknown;
  /** A value of `search_after`, as it is compared. @throws VendorError */
  read(value: Json): SqlValue;
}

const LONG_MAX = 9_223_372_036_854_775_807n;
const LONG_MIN = -9_223_372_036_854_775_808n;

/** @param index the first of the indices searched, for errors */
export function sortKey(sort: Sort, context: QueryContext, index: string): SortKey {
  const { order } = sort;
  const plain = { order, nullsFirst: false };
  if (sort.kind === "score") {
    return {
      ...plain,
      value: raw("s.score"),
      answered: true,
      show: (value) => new Float(Number(value)),
      read: (value) => Math.fround(Number(value)),
    };
  }
  if (sort.kind === "document") {
    return { ...plain, value: raw("d._row"), answered: sort.answered, show: same, read: readLong };
  }
  return fieldKey(sort, context, index);
}

function fieldKey(sort: FieldSort, context: QueryContext, index: string): SortKey {
  const target = targetOf(context, sort.field, "whole");
  switch (target.kind) {
    case "meta":
      return textKey(sort, raw(`d.${target.name}`));
    case "missing":
      if (context.fidelity === "vendor" && sort.unmappedType === undefined) {
        const reason = `No mapping found for [${sort.field}] in order to sort on`;
        throw shardFailure({ type: "query_shard_exception", reason }, index);
      }
      return unmappedKey(sort);
    case "words":
      throw fielddataError(sort.field, index);
    case "keyword":
      return textKey(sort, chosen(target.field, sort));
    case "date":
      return dateKey(sort, sql`epoch_ms(${chosen(target.field, sort)})`, context);
    case "boolean":
      return longKey(sort, sql`CAST(${chosen(target.field, sort)} AS BIGINT)`, (value) => value !== 0);
    case "number":
      return numberKey(sort, target.field);
  }
}

/** Of text that is analysed there are no whole values to sort or aggregate by. */
export function fielddataError(field: string, index: string) {
  return illegalOnShard(
    `Fielddata is disabled on [${field}] in [${index}]. Text fields are not optimised for operations that require per-document field data like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead. Alternatively, set fielddata=true on [${field}] in order to load field data by uninverting the inverted index. Note that this can use significant memory.`,
    index,
  );
}

const listFunctions: Record<SortMode, string> = {
  min: "list_min",
  max: "list_max",
  sum: "list_sum",
  avg: "list_avg",
  median: "list_median",
};

/** The one value of a field that counts: of several the smallest when ascending, else the greatest, unless told. */
function chosen(field: Field, { mode, order }: FieldSort): Sql {
  const column = sql`d.${columnOf(field)}`;
  if (!field.multi) return column;
  const numeric = field.type !== "text" && field.type !== "date" && field.type !== "boolean";
  const fitting = mode !== undefined && (numeric || mode === "min" || mode === "max") ? mode : undefined;
  const name = listFunctions[fitting ?? (order === "asc" ? "min" : "max")];
  return sql`${raw(name)}(${column})`;
}

function textKey(sort: FieldSort, value: Sql): SortKey {
  const { missing, order } = sort;
  const given = missing !== "_last" && missing !== "_first";
  return {
    value: given ? sql`coalesce(${value}, ${String(missing)})` : value,
    order,
    nullsFirst: missing === "_first",
    answered: true,
    show: same,
    read: (json) => (json === null ? null : String(json)),
  };
}

function numberKey(sort: FieldSort, field: Field): SortKey {
  const value = chosen(field, sort);
  const averaged = field.multi && (sort.mode === "avg" || sort.mode === "median");
  const type = sort.numericType ?? (field.type === "double" ? "double" : "long");
  if (type === "double") return doubleKey(sort, sql`CAST(${value} AS DOUBLE)`);
  const whole = averaged ? sql`round(${value})` : value;
  if (field.type === "unsigned_long" || (field.multi && sort.mode === "sum")) {
    return longKey(sort, sql`CAST(${whole} AS HUGEINT)`);
  }
  return longKey(sort, sql`CAST(${whole} AS BIGINT)`);
}

function longKey(sort: FieldSort, value: Sql, show: (value: ResultValue) => unknown = same): SortKey {
  const { missing, order } = sort;
  const sentinel = missing === "_last" || missing === "_first" ? edge(missing, order) : readLong(missing);
  return {
    value: sql`coalesce(${value}, ${sentinel})`,
    order,
    nullsFirst: false,
    answered: true,
    show,
    read: (json) => (typeof json === "boolean" ? BigInt(json) : readLong(json)),
  };
}

function edge(missing: "_last" | "_first", order: Order): bigint {
  return (missing === "_last") === (order === "asc") ? LONG_MAX : LONG_MIN;
}

function doubleKey(sort: FieldSort, value: Sql): SortKey {
  const { missing, order } = sort;
  const sentinel =
    missing === "_last" || missing === "_first"
      ? edge(missing, order) === LONG_MAX
        ? Number.POSITIVE_INFINITY
        : Number.NEGATIVE_INFINITY
      : Number(missing);
  return {
    value: sql`coalesce(${value}, ${sentinel})`,
    order,
    nullsFirst: false,
    answered: true,
    show: (shown) => new Double(Number(shown)),
    read: (json) => Number(json),
  };
}

function dateKey(sort: FieldSort, value: Sql, { nowMs }: QueryContext): SortKey {
  const { format } = sort;
  const dateFormat = format === undefined ? {} : { format };
  const read = (json: Json): SqlValue =>
    typeof json === "string"
      ? BigInt(parseDate(json, { nowMs, rounding: "first", ...dateFormat }))
      : readLong(json);
  const key = longKey(
    {
      ...sort,
      missing:
        typeof sort.missing === "string" && !sort.missing.startsWith("_")
          ? String(read(sort.missing))
          : sort.missing,
    },
    value,
  );
  const show = (shown: ResultValue) =>
    format !== undefined && typeof shown === "number" ? formatDate(shown, format) : shown;
  return { ...key, show, read };
}

/** A field that nothing has a value of: all hits are equal. */
function unmappedKey(sort: FieldSort): SortKey {
  const text =
    sort.unmappedType === "keyword" || (sort.unmappedType === undefined && sort.missing === "_last");
  return text ? textKey(sort, raw("CAST(NULL AS VARCHAR)")) : longKey(sort, raw("CAST(NULL AS BIGINT)"));
}

function same(value: ResultValue): unknown {
  return value;
}

function readLong(json: Json): bigint {
  if (typeof json === "bigint") return json;
  if (typeof json === "number") return BigInt(Math.trunc(json));
  if (typeof json === "string" && /^-?\d{1,30}$/.test(json)) return BigInt(json);
  throw illegalOnShard(
    `Failed to parse search_after value for a field of type [LONG]: ${String(json)}`,
    "_na_",
  );
}
