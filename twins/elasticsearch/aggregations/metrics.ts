/** `avg`, `sum`, `min`, `max`, `value_count`, `cardinality`. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { Double } from "../json/numbers.ts";
import type { MetricAggregation } from "./aggregation.ts";
import { type AggregationType, declaredType, type Naming } from "./build.ts";
import type { AggregationContext } from "./context.ts";
import { argumentError } from "./errors.ts";
import type { Options } from "./options.ts";
import { type Members, type MetricResult, namesValue, valueResult } from "./result.ts";
import type { Syntax } from "./syntax/declared.ts";
import { fieldOrScript, formattedMembers, long, notNegative, text, valueMembers } from "./syntax/members.ts";
import { numeric, readValues, type ValueKind, type Values } from "./values.ts";

export const anyKind: readonly ValueKind[] = ["keyword", "long", "double", "boolean", "date", "ip"];
export const numericKinds: readonly ValueKind[] = ["double", "long", "boolean", "date"];

/** The kinds that a `date_histogram` accepts. */
export const momentKinds: readonly ValueKind[] = ["date", "long", "double", "boolean"];

/** Counts values, including all of a list. The vendor stores repeated texts of a list once. */
export function countSql({ kind, value, multi }: Values, filter: Sql): Sql {
  if (!multi) return sql`count(${value})${filter}`;
  const length = kind === "keyword" || kind === "ip" ? sql`len(list_distinct(${value}))` : sql`len(${value})`;
  return sql`CAST(coalesce(sum(${length})${filter}, 0) AS BIGINT)`;
}

/** The sum as a double; NULL without values. Sums integers exactly, and doubles with Kahan compensation. */
export function sumSql(values: Values, filter: Sql): Sql {
  const number = numeric(values);
  const one = values.multi ? sql`list_sum(${number})` : number;
  if (values.kind === "double") return sql`fsum(${one})${filter}`;
  return sql`CAST(sum(${one})${filter} AS DOUBLE)`;
}

export function extremeSql(which: "min" | "max", values: Values, filter: Sql): Sql {
  const number = numeric(values);
  const one = values.multi ? sql`${raw(`list_${which}`)}(${number})` : number;
  return sql`CAST(${raw(which)}(${one})${filter} AS DOUBLE)`;
}

/** The formatted value beside a number, such as `value_as_string`. */
export function asString(name: string, value: number, print: Values["print"]): Members {
  return print === undefined || Number.isNaN(value) ? [] : [[name, print(value)]];
}

export function numberOf(value: ResultValue | undefined): number {
  return value === null || value === undefined ? Number.NaN : Number(value);
}

/** A metric of one value, which is `null` without values. */
function singleValue(
  { name, type, meta }: Naming,
  values: Values,
  columns: (filter: Sql) => Sql[],
  metricValue: (columns: readonly Sql[]) => Sql,
  compute: (values: readonly ResultValue[]) => number,
  empty: number,
): MetricAggregation {
  const result = (value: number, text: Members) =>
    valueResult({ typeName: type, meta }, value, [
      ["value", Number.isFinite(value) ? new Double(value) : null],
      ...text,
    ]);
  const textOf = (value: number) => asString("value_as_string", value, values.print);
  return {
    kind: "metric",
    name,
    type,
    meta,
    columns,
    metricValue: (names, property) => (namesValue(property) ? metricValue(names) : undefined),
    result(row) {
      if (row === undefined) return result(empty, type === "sum" ? textOf(empty) : []);
      const value = compute(row);
      return result(value, textOf(value));
    },
  };
}

/** A type that cannot fail after it is built. */
export function metricType(
  parser: string,
  syntax: Syntax,
  build: (naming: Naming, options: Options, context: AggregationContext) => MetricAggregation,
): AggregationType {
  return declaredType(parser, "none", syntax, ({ naming, options }, context) => {
    const metric = build(naming, options, context);
    return () => metric;
  });
}

const first = (columns: readonly Sql[]): Sql => columns[0] ?? raw("NULL");

/** avg, sum, min, max. */
export function simpleMetricType(type: string): AggregationType {
  return metricType(type, { members: formattedMembers, required: fieldOrScript }, buildSimple);
}

function buildSimple(naming: Naming, options: Options, context: AggregationContext): MetricAggregation {
  const values = readValues(options, context, numericKinds);
  switch (naming.type) {
    case "avg":
      return singleValue(
        naming,
        values,
        (filter) => [sumSql(values, filter), countSql(values, filter)],
        ([sum = raw("NULL"), count = raw("NULL")]) => sql`${sum} / nullif(${count}, 0)`,
        ([sum, count]) => (Number(count) === 0 ? Number.NaN : numberOf(sum) / Number(count)),
        Number.NaN,
      );
    case "sum":
      return singleValue(
        naming,
        values,
        (filter) => [sumSql(values, filter)],
        (columns) => sql`coalesce(${first(columns)}, 0)`,
        ([sum]) => Number(sum ?? 0),
        0,
      );
    default: {
      const which = naming.type === "min" ? "min" : "max";
      const none = which === "min" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      const bound = raw(which === "min" ? "CAST('infinity' AS DOUBLE)" : "CAST('-infinity' AS DOUBLE)");
      const metric = singleValue(
        naming,
        values,
        (filter) => [extremeSql(which, values, filter)],
        (columns) => sql`coalesce(${first(columns)}, ${bound})`,
        ([value]) => (value === null || value === undefined ? none : Number(value)),
        none,
      );
      return { ...metric, result: (row) => withoutInfinity(metric.result(row)) };
    }
  }
}

/** Omits the text of an extreme without values, which prints as null. */
function withoutInfinity(result: MetricResult): MetricResult {
  const value = result.metricValue(undefined);
  return Number.isFinite(value) ? result : { ...result, members: [["value", null]] };
}

export const valueCountType = metricType(
  "value_count",
  { members: formattedMembers, required: fieldOrScript },
  (naming, options, context) => countMetric(naming, readValues(options, context, anyKind)),
);

const executionModes = [
  "global_ordinals",
  "segment_ordinals",
  "direct",
  "save_memory_heuristic",
  "save_time_heuristic",
];

export const cardinalityType = declaredType(
  "cardinality",
  "none",
  {
    members: {
      ...valueMembers,
      precision_threshold: long(notNegative("precisionThreshold")),
      execution_hint: text(),
      rehash: long(),
    },
    required: fieldOrScript,
  },
  ({ naming, options }, context) => {
    const values = readValues(options, context, anyKind);
    checkExecutionMode(options.text("execution_hint"));
    return () => countMetric(naming, values);
  },
);

function checkExecutionMode(hint: string | undefined): void {
  if (hint === undefined || executionModes.includes(hint)) return;
  throw argumentError(
    `Invalid execution mode for cardinality aggregation.  Got [${hint}]expected one of [global_ordinal, segment_ordinal, direct]`,
  );
}

/** `value_count`, `cardinality`: counts over values of any kind. */
function countMetric(naming: Naming, values: Values): MetricAggregation {
  const column = (filter: Sql) =>
    naming.type === "cardinality" ? distinctSql(values, filter) : countSql(values, filter);
  const { name, type, meta } = naming;
  return {
    kind: "metric",
    name,
    type,
    meta,
    columns: (filter) => [column(filter)],
    metricValue: (columns, property) =>
      namesValue(property) ? sql`coalesce(${first(columns)}, 0)` : undefined,
    result(row) {
      const value = Number(row?.[0] ?? 0);
      return valueResult({ typeName: type, meta }, value, [["value", value]]);
    },
  };
}

function distinctSql({ value, multi }: Values, filter: Sql): Sql {
  if (!multi) return sql`count(DISTINCT ${value})${filter}`;
  return sql`coalesce(len(list_distinct(flatten(list(${value})${filter}))), 0)`;
}
