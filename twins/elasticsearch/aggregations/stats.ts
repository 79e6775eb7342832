/** `stats` and `extended_stats`. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { Double, doubleText } from "../json/numbers.ts";
import type { MetricAggregation } from "./aggregation.ts";
import type { Naming } from "./build.ts";
import type { AggregationContext } from "./context.ts";
import { argumentError } from "./errors.ts";
import { asString, countSql, extremeSql, metricType, numberOf, numericKinds, sumSql } from "./metrics.ts";
import type { Options } from "./options.ts";
import type { Members, MetricResult } from "./result.ts";
import type { Place } from "./syntax/declared.ts";
import { double, fieldOrScript, formattedMembers } from "./syntax/members.ts";
import { numeric, readValues, type Values } from "./values.ts";

export interface Stats {
  count: number;
  sum: number;
  min: number;
  max: number;
}

export interface ExtendedStats extends Stats {
  sumOfSquares: number;
}

export const noStats: ExtendedStats = {
  count: 0,
  sum: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  sumOfSquares: 0,
};

export const DEFAULT_SIGMA = 2;

type Print = Values["print"];

export const statsType = metricType(
  "stats",
  { members: formattedMembers, required: fieldOrScript },
  buildStats,
);

export const extendedStatsType = metricType(
  "extended_stats",
  { members: { ...formattedMembers, sigma: double(checkSigma) }, required: fieldOrScript },
  buildStats,
);

function checkSigma(sigma: number, { name }: Place): void {
  if (sigma >= 0) return;
  throw argumentError(
    `[sigma] must be greater than or equal to 0. Found [${doubleText(sigma)}] in [${name}]`,
  );
}

function buildStats(naming: Naming, options: Options, context: AggregationContext): MetricAggregation {
  const values = readValues(options, context, numericKinds);
  const sigma = naming.type === "extended_stats" ? (options.number("sigma") ?? DEFAULT_SIGMA) : undefined;
  const { name, type, meta } = naming;
  return {
    kind: "metric",
    name,
    type,
    meta,
    columns(filter) {
      const columns = [
        countSql(values, filter),
        sumSql(values, filter),
        extremeSql("min", values, filter),
        extremeSql("max", values, filter),
      ];
      return sigma === undefined ? columns : [...columns, squaresSql(values, filter)];
    },
    metricValue: (columns, property) => metricValueSql(columns, property ?? "", sigma ?? DEFAULT_SIGMA),
    result(row) {
      const stats = row === undefined ? noStats : readStats(row);
      return sigma === undefined
        ? statsResult(naming, stats, values.print)
        : extendedStatsResult(naming, stats, sigma, values.print);
    },
  };
}

function squaresSql(values: Values, filter: Sql): Sql {
  const number = numeric(values);
  const squares = values.multi
    ? sql`list_sum(list_transform(${number}, lambda x: CAST(x AS DOUBLE) * CAST(x AS DOUBLE)))`
    : sql`CAST(${number} AS DOUBLE) * CAST(${number} AS DOUBLE)`;
  return sql`fsum(${squares})${filter}`;
}

function readStats([count, sum, min, max, sumOfSquares]: readonly ResultValue[]): ExtendedStats {
  if (Number(count) === 0) return noStats;
  return {
    count: Number(count),
    sum: numberOf(sum),
    min: numberOf(min),
    max: numberOf(max),
    sumOfSquares: Number(sumOfSquares ?? 0),
  };
}

/** A value over the columns, to order buckets by. */
function metricValueSql(columns: readonly Sql[], property: string, sigma: number): Sql | undefined {
  const [count = raw("0"), sum = raw("0"), min = raw("0"), max = raw("0"), squares] = columns;
  const average = sql`${sum} / nullif(${count}, 0)`;
  switch (property) {
    case "count":
      return count;
    case "sum":
      return sql`coalesce(${sum}, 0)`;
    case "min":
      return sql`coalesce(${min}, CAST('infinity' AS DOUBLE))`;
    case "max":
      return sql`coalesce(${max}, CAST('-infinity' AS DOUBLE))`;
    case "avg":
      return average;
  }
  if (!squares) return undefined;
  const spread = sql`(${squares} - ${sum} * ${sum} / nullif(${count}, 0))`;
  const variance = sql`greatest(${spread} / nullif(${count}, 0), 0)`;
  const sampling = sql`greatest(${spread} / nullif(${count} - 1, 0), 0)`;
  switch (property) {
    case "sum_of_squares":
      return squares;
    case "variance":
    case "variance_population":
      return variance;
    case "variance_sampling":
      return sampling;
    case "std_deviation":
    case "std_deviation_population":
      return sql`sqrt(${variance})`;
    case "std_deviation_sampling":
      return sql`sqrt(${sampling})`;
    case "std_upper":
      return sql`${average} + sqrt(${variance}) * ${sigma}`;
    case "std_lower":
      return sql`${average} - sqrt(${variance}) * ${sigma}`;
    default:
      return undefined;
  }
}

export function statsResult({ type, meta }: Naming, stats: Stats, print: Print): MetricResult {
  const metricValues = basicValues(stats);
  return {
    kind: "metric",
    typeName: type,
    meta,
    members: basicMembers(stats, print),
    metricValue: (name) => (name === undefined ? undefined : metricValues.get(name)),
  };
}

function basicValues({ count, sum, min, max }: Stats): Map<string, number> {
  return new Map([
    ["count", count],
    ["min", min],
    ["max", max],
    ["avg", count === 0 ? Number.NaN : sum / count],
    ["sum", sum],
  ]);
}

function basicMembers(stats: Stats, print: Print): Members {
  const { count, sum, min, max } = stats;
  if (count === 0) {
    return [
      ["count", 0],
      ["min", null],
      ["max", null],
      ["avg", null],
      ["sum", new Double(0)],
    ];
  }
  const average = sum / count;
  return [
    ["count", count],
    ["min", new Double(min)],
    ["max", new Double(max)],
    ["avg", new Double(average)],
    ["sum", new Double(sum)],
    ...asText("min_as_string", min, print),
    ...asText("max_as_string", max, print),
    ...asText("avg_as_string", average, print),
    ...asText("sum_as_string", sum, print),
  ];
}

/** The formatted members. The vendor renders formatted booleans as booleans, not as texts. */
function asText(name: string, value: number, print: Print): Members {
  return asString(name, value, print).map(([member, text]) => [member, parseBoolean(text)]);
}

function parseBoolean(text: unknown): unknown {
  return text === "true" || text === "false" ? text === "true" : text;
}

export function extendedStatsResult(
  naming: Naming,
  stats: ExtendedStats,
  sigma: number,
  print: Print,
): MetricResult {
  const metricValues = extendedValues(stats, sigma);
  const all = new Map([...basicValues(stats), ...metricValues]);
  return {
    kind: "metric",
    typeName: naming.type,
    meta: naming.meta,
    members: [...basicMembers(stats, print), ...extendedMembers(stats, metricValues, print)],
    metricValue: (name) => (name === undefined ? undefined : all.get(name)),
  };
}

function extendedValues({ count, sum, sumOfSquares }: ExtendedStats, sigma: number): Map<string, number> {
  const average = count === 0 ? Number.NaN : sum / count;
  const spread = sumOfSquares - (sum * sum) / count;
  const variance = count === 0 ? Number.NaN : Math.max(0, spread / count);
  const sampling = count === 0 ? Number.NaN : Math.max(0, spread / (count - 1));
  const deviation = Math.sqrt(variance);
  const samplingDeviation = Math.sqrt(sampling);
  return new Map([
    ["sum_of_squares", sumOfSquares],
    ["variance", variance],
    ["variance_population", variance],
    ["variance_sampling", sampling],
    ["std_deviation", deviation],
    ["std_deviation_population", deviation],
    ["std_deviation_sampling", samplingDeviation],
    ["std_upper", average + deviation * sigma],
    ["std_lower", average - deviation * sigma],
    ["std_upper_population", average + deviation * sigma],
    ["std_lower_population", average - deviation * sigma],
    ["std_upper_sampling", average + samplingDeviation * sigma],
    ["std_lower_sampling", average - samplingDeviation * sigma],
  ]);
}

const plainValues = [
  "sum_of_squares",
  "variance",
  "variance_population",
  "variance_sampling",
  "std_deviation",
  "std_deviation_population",
  "std_deviation_sampling",
];
const bounds = ["upper", "lower", "upper_population", "lower_population", "upper_sampling", "lower_sampling"];

function extendedMembers({ count }: Stats, metricValues: ReadonlyMap<string, number>, print: Print): Members {
  const number = (name: string) => (count === 0 ? null : new Double(metricValues.get(name) ?? Number.NaN));
  const members: [string, unknown][] = plainValues.map((name) => [name, number(name)]);
  members.push(["std_deviation_bounds", new Map(bounds.map((name) => [name, number(`std_${name}`)]))]);
  if (count === 0 || !print) return members;
  const text = (name: string) => print(metricValues.get(name) ?? Number.NaN);
  for (const name of plainValues) {
    members.push([`${name}_as_string`, name.startsWith("std") ? text(name) : parseBoolean(text(name))]);
  }
  members.push([
    "std_deviation_bounds_as_string",
    new Map(bounds.map((name) => [name, text(`std_${name}`)])),
  ]);
  return members;
}
