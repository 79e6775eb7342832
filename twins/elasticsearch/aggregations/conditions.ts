/** Buckets by conditions: `range`, `date_range`; and the single bucket `missing`. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { Double, doubleText } from "../json/numbers.ts";
import { textOf } from "../json/token.ts";
import type { Aggregations, BucketsAggregation, KeyColumn } from "./aggregation.ts";
import { type Building, type Create, declaredType, type Naming } from "./build.ts";
import { argumentError } from "./errors.ts";
import { anyKind, momentKinds } from "./metrics.ts";
import { isRecord, Options } from "./options.ts";
import type { Bucket, Members } from "./result.ts";
import type { Member, Syntax } from "./syntax/declared.ts";
import { fieldOrScript, flag, formattedMembers, objects, timeZone, valueMembers } from "./syntax/members.ts";
import { numeric, readValues, type ValueKind, type Values } from "./values.ts";

const scalars = ["VALUE_STRING", "VALUE_NUMBER", "VALUE_BOOLEAN"];
const rangeKinds: readonly ValueKind[] = ["double", "long", "date", "boolean"];

/** A bucket of the documents that meet a condition; a document can be in several. */
export interface ConditionBucket {
  condition: Sql;
  key: string;
  /** Members before the count. */
  before: Members;
}

interface ConditionBuckets {
  naming: Naming;
  typeName: string;
  children: Aggregations;
  buckets: readonly ConditionBucket[];
  keyed: boolean;
  /** Whether a document can be in several buckets. */
  overlap: boolean;
}

export function conditionBuckets({
  naming,
  typeName,
  children,
  buckets,
  keyed,
  overlap,
}: ConditionBuckets): BucketsAggregation {
  const conditions = buckets.map(({ condition }) => condition);
  return {
    kind: "buckets",
    ...naming,
    keys: [bucketKey(conditions, { overlap })],
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

/** The index of the first condition that a document meets, or with `overlap` a list of all. */
function bucketKey(conditions: readonly Sql[], { overlap }: { overlap: boolean }): KeyColumn {
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

const range: Syntax = {
  members: { key: { tokens: scalars, read: textOf }, from: bound(), to: bound() },
};

/** A number, or a text in the field's format. */
function bound(): Member {
  return { tokens: ["VALUE_NUMBER", "VALUE_STRING", "VALUE_NULL"], read: (value) => value ?? undefined };
}

const rangeMembers = { ...formattedMembers, keyed: flag, ranges: objects("range", range) };

export const rangeType = declaredType(
  "range",
  "many",
  { members: rangeMembers, required: fieldOrScript },
  (building, context) => buildRanges(building, readValues(building.options, context, rangeKinds)),
);

export const dateRangeType = declaredType(
  "date_range",
  "many",
  { members: { ...rangeMembers, time_zone: timeZone }, required: fieldOrScript },
  (building, context) => buildRanges(building, readValues(building.options, context, momentKinds)),
);

function buildRanges(
  { naming, options, buildChildren }: Building,
  values: Values,
): Create<BucketsAggregation> {
  const keyed = options.boolean("keyed") ?? false;
  // With a format of its own, a number is text in that format.
  const read =
    values.kind === "date" && options.has("format")
      ? (value: unknown) => values.read(textOf(value))
      : values.read;
  const ranges = (options.list("ranges") ?? []).map((one) => readRange(one, read)).sort(compareBounds);
  if (ranges.length === 0) throw argumentError(`No [ranges] specified for the [${naming.name}] aggregation`);
  const create = buildChildren();
  return () =>
    conditionBuckets({
      naming,
      typeName: naming.type,
      children: create(),
      buckets: ranges.map((one) => rangeBucket(one, values, { keyed })),
      keyed,
      overlap: values.multi || rangesOverlap(ranges),
    });
}

function readRange(json: unknown, read: Values["read"]): Range {
  const options = new Options("range", isRecord(json) ? json : {});
  const bound = (name: string) => (options.has(name) ? read(options.any(name)) : undefined);
  return { key: options.text("key"), from: bound("from"), to: bound("to") };
}

function compareBounds(a: Range, b: Range): number {
  const least = Number.NEGATIVE_INFINITY;
  const most = Number.POSITIVE_INFINITY;
  const order = (x: number, y: number) => (x < y ? -1 : x > y ? 1 : 0);
  return order(a.from ?? least, b.from ?? least) || order(a.to ?? most, b.to ?? most);
}

/** @param ranges sorted by their bounds */
function rangesOverlap(ranges: readonly Range[]): boolean {
  return ranges.some(({ from }, index) => {
    const before = ranges[index - 1];
    return before !== undefined && (before.to === undefined || from === undefined || from < before.to);
  });
}

function rangeBucket(
  { key, from, to }: Range,
  values: Values,
  { keyed }: { keyed: boolean },
): ConditionBucket {
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

/** The lower bound is inclusive, the upper one exclusive. */
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

/** Compares whole bounds exactly, other bounds as doubles. */
function boundSql({ kind }: Values, bound: number): Sql {
  return kind !== "double" && Number.isSafeInteger(bound)
    ? sql`CAST(${BigInt(bound)} AS BIGINT)`
    : sql`CAST(${bound} AS DOUBLE)`;
}

export const missingType = declaredType(
  "missing",
  "one",
  { members: valueMembers, required: fieldOrScript },
  ({ naming, options, buildChildren }, context) => {
    const { value, multi } = readValues(options, context, anyKind);
    const create = buildChildren();
    const condition = multi ? sql`(${value} IS NULL OR len(${value}) = 0)` : sql`(${value} IS NULL)`;
    return () => ({ kind: "single", ...naming, condition, children: create() });
  },
);
