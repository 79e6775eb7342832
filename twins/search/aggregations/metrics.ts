/** avg, sum, min, max, value_count, cardinality. */
import { raw, type Sql, sql } from "../../datasets/sql.ts";
import type { ResultValue } from "../../datasets/store/log-store.ts";
import { Double } from "../json/numbers.ts";
import type { MetricAggregation } from "./aggregation.ts";
import type { AggregationContext } from "./context.ts";
import type { JsonRecord, Options } from "./options.ts";
import { type Members, type MetricResult, namesValue, valueResult } from "./result.ts";
import { numeric, readValues, type ValueKind, type Values } from "./values.ts";

export interface Naming {
  name: string;
  type: string;
  meta: JsonRecord | undefined;
}

export const anyKind: readonly ValueKind[] = ["keyword", "long", "double", "boolean", "date"];
export const numericKinds: readonly ValueKind[] = ["double", "long", "boolean", "date"];

/** How many values; each of a list. The vendor keeps a text of a list once. */
export function countSql({ kind, value, multi }: Values, filter: Sql): Sql {
  if (!multi) return sql`count(${value})${filter}`;
  const length = kind === "keyword" ? sql`len(list_distinct(${value}))` : sql`len(${value})`;
  return sql`CAST(coalesce(sum(${length})${filter}, 0) AS BIGINT)`;
}

/** The sum as a double; NULL when there are no values. Whole numbers are added exactly, others with compensation. */
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

/** What a result prints beside a figure, for a reader. */
export function asString(name: string, value: number, print: Values["print"]): Members {
  return print === undefined || Number.isNaN(value) ? [] : [[name, print(value)]];
}

export function numberOf(value: ResultValue | undefined): number {
  return value === null || value === undefined ? Number.NaN : Number(value);
}

/** A metric of one figure, which is `null` when there is none. */
function singleValue(
  { name, type, meta }: Naming,
  values: Values,
  columns: (filter: Sql) => Sql[],
  figure: (columns: readonly Sql[]) => Sql,
  compute: (values: readonly ResultValue[]) => number,
  empty: number,
): MetricAggregation {
  const result = (value: number, hasValues: boolean) =>
    valueResult({ typeName: type, meta }, value, [
      ["value", Number.isFinite(value) ? new Double(value) : null],
      ...(hasValues ? asString("value_as_string", value, values.print) : []),
    ]);
  return {
    kind: "metric",
    name,
    type,
    meta,
    columns,
    figure: (names, property) => (namesValue(property) ? figure(names) : undefined),
    result: (row) => (row === undefined ? result(empty, type === "sum") : result(compute(row), true)),
  };
}

const first = (columns: readonly Sql[]): Sql => columns[0] ?? raw("NULL");

export function readSimpleMetric(
  naming: Naming,
  options: Options,
  context: AggregationContext,
): MetricAggregation {
  const values = readValues(options, context, numericKinds);
  options.done();
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

/** An extreme of nothing is printed as null alone. */
function withoutInfinity(result: MetricResult): MetricResult {
  const value = result.figure(undefined);
  return Number.isFinite(value) ? result : { ...result, members: [["value", null]] };
}

/** value_count, cardinality: whole numbers of any values. */
export function readCountMetric(
  naming: Naming,
  options: Options,
  context: AggregationContext,
): MetricAggregation {
  const values = readValues(options, context, anyKind);
  if (naming.type === "cardinality") {
    for (const accepted of ["precision_threshold", "execution_hint", "rehash"]) options.any(accepted);
  }
  options.done();
  const column = (filter: Sql) =>
    naming.type === "cardinality" ? distinctSql(values, filter) : countSql(values, filter);
  const { name, type, meta } = naming;
  return {
    kind: "metric",
    name,
    type,
    meta,
    columns: (filter) => [column(filter)],
    figure: (columns, property) => (namesValue(property) ? sql`coalesce(${first(columns)}, 0)` : undefined),
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
