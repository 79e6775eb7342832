/** Buckets of documents that fit conditions: range, date_range, filters; and the single ones: filter, missing, global. */
import { joined, raw, type Sql, sql } from "../../datasets/sql.ts";
import { parseDate } from "../dates/date-math.ts";
import { defaultDateFormat } from "../dates/java-format.ts";
import { Double, doubleText } from "../json/numbers.ts";
import { numberIn, textOf, tokenOf } from "../json/token.ts";
import type { Aggregations, BucketsAggregation, KeyColumn, SingleAggregation } from "./aggregation.ts";
import type { AggregationContext } from "./context.ts";
import { argumentError, optionError, parsingError } from "./errors.ts";
import { anyKind, type Naming } from "./metrics.ts";
import { isRecord, MAX_ITEMS, Options } from "./options.ts";
import type { Bucket, Members } from "./result.ts";
import { dateFormatOf, numeric, readValues, type Values, zoneOption } from "./values.ts";

/** A bucket a condition, in their order; a document is in all that it fits. */
interface ConditionBucket {
  condition: Sql;
  key: string;
  /** Before and after the count. */
  before: Members;
}

function conditionBuckets(
  naming: Naming,
  typeName: string,
  children: Aggregations,
  buckets: readonly ConditionBucket[],
  keyed: boolean,
  overlap: boolean,
): BucketsAggregation {
  const conditions = buckets.map(({ condition }) => condition);
  return {
    kind: "buckets",
    ...naming,
    keys: [bucketKey(conditions, overlap)],
    conditions,
    selection: { kind: "all" },
    children,
    result({ rows }, make) {
      const found = new Map(rows.map((row) => [Number(row.keys[0]), row]));
      return {
        kind: "buckets",
        typeName,
        meta: naming.meta,
        members: [],
        keyed,
        buckets: buckets.map(({ key, before }, index): Bucket => {
          const row = found.get(index);
          const members: Members = [...before, ["doc_count", row?.docCount ?? 0]];
          return make(row, { key, position: undefined, members });
        }),
      };
    },
  };
}

/** The index of the condition that a document fits, or a list of all. */
function bucketKey(conditions: readonly Sql[], overlap: boolean): KeyColumn {
  const number = (index: number) => raw(String(index));
  if (!overlap) {
    const cases = conditions.map((condition, index) => sql`WHEN ${condition} THEN ${number(index)}`);
    return { value: sql`CASE ${joined(cases, " ")} END`, list: false, nullable: false };
  }
  const cases = conditions.map((condition, index) => sql`CASE WHEN ${condition} THEN ${number(index)} END`);
  const value = sql`list_filter([${joined(cases, ", ")}], lambda x: x IS NOT NULL)`;
  return { value, list: true, nullable: false };
}

interface Range {
  key: string | undefined;
  from: number | undefined;
  to: number | undefined;
}

export function readRange(
  naming: Naming,
  options: Options,
  children: Aggregations,
  context: AggregationContext,
): BucketsAggregation {
  const isDate = naming.type === "date_range";
  const values = readValues(
    options,
    context,
    isDate ? ["date", "long"] : ["double", "long", "date", "boolean"],
  );
  const keyed = options.boolean("keyed") ?? false;
  const list = options.list("ranges");
  if (list === undefined || list.length === 0)
    throw argumentError(`No [ranges] specified for the [${naming.name}] aggregation`);
  const readBound = isDate || values.kind === "date" ? dateBound(options, context) : numberBound;
  options.done();
  const ranges = list.map((one) => readOneRange(one, naming.type, readBound)).sort(byBounds);
  return conditionBuckets(
    naming,
    naming.type,
    children,
    ranges.map((range) => rangeBucket(range, values, keyed)),
    keyed,
    values.multi || rangesOverlap(ranges),
  );
}

type ReadBound = (value: unknown) => number;

function dateBound(options: Options, context: AggregationContext): ReadBound {
  const { nowMs } = context;
  const format = dateFormatOf(options, context);
  const timeZone = zoneOption(options.any("time_zone"));
  const zone = timeZone === undefined ? {} : { timeZone };
  return (value) =>
    typeof value === "number" && format === defaultDateFormat
      ? value
      : parseDate(textOf(value), { format, nowMs, rounding: "first", ...zone });
}

function numberBound(value: unknown): number {
  const number = typeof value === "string" && value.trim() === "" ? Number.NaN : numberIn(value);
  if (Number.isNaN(number)) throw argumentError(`For input string: "${textOf(value)}"`);
  return number;
}

function readOneRange(json: unknown, type: string, readBound: ReadBound): Range {
  if (!isRecord(json)) throw optionError(`[${type}] ranges doesn't support values of type: ${tokenOf(json)}`);
  const options = new Options("range", json);
  const bound = (name: string) => {
    const value = options.any(name);
    if (value === undefined) return undefined;
    if (typeof value === "object" || typeof value === "boolean") {
      throw optionError(`[range] ${name} doesn't support values of type: ${tokenOf(value)}`);
    }
    return readBound(value);
  };
  const range = { key: options.text("key"), from: bound("from"), to: bound("to") };
  options.done();
  return range;
}

function byBounds(a: Range, b: Range): number {
  const least = Number.NEGATIVE_INFINITY;
  const most = Number.POSITIVE_INFINITY;
  const order = (x: number, y: number) => (x < y ? -1 : x > y ? 1 : 0);
  return order(a.from ?? least, b.from ?? least) || order(a.to ?? most, b.to ?? most);
}

/** @param ranges in the order of their bounds */
function rangesOverlap(ranges: readonly Range[]): boolean {
  return ranges.some(({ from }, index) => {
    const before = ranges[index - 1];
    return before !== undefined && (before.to === undefined || from === undefined || from < before.to);
  });
}

function rangeBucket({ key, from, to }: Range, values: Values, keyed: boolean): ConditionBucket {
  const print = values.print;
  const text = (bound: number | undefined) =>
    bound === undefined ? "*" : (print?.(bound) ?? doubleText(bound));
  const name = key ?? `${text(from)}-${text(to)}`;
  const bound = (member: string, value: number | undefined): Members => {
    if (value === undefined) return [];
    return [
      [member, new Double(value)],
      ...(print ? ([[`${member}_as_string`, print(value)]] as const) : []),
    ];
  };
  return {
    condition: rangeCondition(values, from, to),
    key: name,
    before: [...(keyed ? [] : ([["key", name]] as const)), ...bound("from", from), ...bound("to", to)],
  };
}

/** From a bound on, up to but without the other. */
function rangeCondition(values: Values, from: number | undefined, to: number | undefined): Sql {
  const test = (value: Sql) => {
    const tests: Sql[] = [sql`${value} IS NOT NULL`];
    if (from !== undefined) tests.push(sql`${value} >= ${boundSql(values, from)}`);
    if (to !== undefined) tests.push(sql`${value} < ${boundSql(values, to)}`);
    return joined(tests, " AND ");
  };
  const number = numeric(values);
  return values.multi
    ? sql`len(list_filter(${number}, lambda x: ${test(raw("x"))})) > 0`
    : sql`(${test(number)})`;
}

/** Whole bounds of whole numbers are compared exactly. */
function boundSql({ kind }: Values, bound: number): Sql {
  return kind !== "double" && Number.isSafeInteger(bound)
    ? sql`CAST(${BigInt(bound)} AS BIGINT)`
    : sql`CAST(${bound} AS DOUBLE)`;
}

export function readFilters(
  naming: Naming,
  options: Options,
  children: Aggregations,
  context: AggregationContext,
): BucketsAggregation {
  const filters = options.any("filters");
  const otherBucket = options.boolean("other_bucket");
  const otherKey = options.text("other_bucket_key");
  const keyed = options.boolean("keyed") ?? true;
  options.done();
  const named = isRecord(filters);
  const entries: [string, unknown][] = named
    ? Object.entries(filters)
    : Array.isArray(filters)
      ? filters.map((query, index) => [String(index), query])
      : [];
  if (entries.length === 0) throw argumentError("[filters] cannot be empty.");
  if (entries.length > MAX_ITEMS) {
    throw argumentError(
      `[filters] has ${entries.length} filters, more than the ${MAX_ITEMS} that are answered`,
    );
  }
  const showKey = named && !keyed;
  const bucket = (key: string, condition: Sql): ConditionBucket => ({
    condition,
    key,
    before: showKey ? [["key", key]] : [],
  });
  const buckets = entries.map(([key, query]) => bucket(key, context.compileFilter(query)));
  if (otherBucket ?? otherKey !== undefined) {
    const others = joined(
      buckets.map(({ condition }) => sql`NOT ${condition}`),
      " AND ",
    );
    buckets.push(bucket(otherKey ?? "_other_", sql`(${others})`));
  }
  return conditionBuckets(naming, "filters", children, buckets, named && keyed, true);
}

/** filter: its options are a query. */
export function filterAggregation(
  naming: Naming,
  query: unknown,
  children: Aggregations,
  context: AggregationContext,
): SingleAggregation {
  if (isRecord(query) && Object.keys(query).length === 0) {
    throw parsingError("query malformed, empty clause found");
  }
  return { kind: "single", ...naming, condition: context.compileFilter(query), children };
}

export function readMissing(
  naming: Naming,
  options: Options,
  children: Aggregations,
  context: AggregationContext,
): SingleAggregation {
  const { value, multi } = readValues(options, context, anyKind);
  options.done();
  const condition = multi ? sql`(${value} IS NULL OR len(${value}) = 0)` : sql`(${value} IS NULL)`;
  return { kind: "single", ...naming, condition, children };
}

export function readGlobal(naming: Naming, options: Options, children: Aggregations): SingleAggregation {
  options.done();
  return { kind: "single", ...naming, condition: undefined, children };
}
