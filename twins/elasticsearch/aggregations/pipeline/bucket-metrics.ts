/** `avg_bucket` and its siblings: metrics over the buckets of a sibling aggregation. */
import { javaDouble } from "../../json/java-number.ts";
import { parsingErrorAt } from "../../json/located-error.ts";
import { Double } from "../../json/numbers.ts";
import type { JsonPath } from "../../json/position.ts";
import { textOf, tokenOf } from "../../json/token.ts";
import type { Results } from "../aggregation.ts";
import type { Naming } from "../build.ts";
import { argumentError } from "../errors.ts";
import type { JsonRecord, Options } from "../options.ts";
import { percentilesResult, readPercents } from "../percentiles.ts";
import { type MetricResult, valueResult } from "../result.ts";
import { DEFAULT_SIGMA, type ExtendedStats, extendedStatsResult, noStats, statsResult } from "../stats.ts";
import type { Place } from "../syntax/declared.ts";
import type { PipelineDefinition, PipelineType } from "./definition.ts";
import { readGapPolicy, siblingValues } from "./path.ts";
import { checkGapPolicy, type Print, readPrint, readSinglePath, simpleValue } from "./values.ts";

type BucketValues = readonly { key: string; value: number }[];

export const bucketMetricType: PipelineType = { read: readMembers, define: defineBucketMetric };

/** Reads the members one by one, as the vendor does for these types: its error names the unexpected member. */
function readMembers(json: JsonRecord, { path, name }: Place): JsonRecord {
  const values = new Map<string, unknown>();
  for (const [member, value] of Object.entries(json)) {
    const at = [...path, member];
    const read = readMember(member, value, at);
    if (read === undefined) {
      const reason = `Unexpected token ${tokenOf(value)} [${member}] in [${name}]`;
      throw parsingErrorAt({ path: at, what: "value" }, reason);
    }
    values.set(member, read);
  }
  if (values.has("buckets_path")) return Object.fromEntries(values);
  const reason = `Missing required field [buckets_path] for aggregation [${name}]`;
  throw parsingErrorAt({ path, what: "end" }, reason);
}

/** @returns `undefined` for an unexpected member or value */
function readMember(member: string, value: unknown, path: JsonPath): unknown {
  switch (member) {
    case "buckets_path":
      if (Array.isArray(value)) return value.map(textOf);
      return typeof value === "string" ? [value] : undefined;
    case "format":
      return typeof value === "string" ? value : undefined;
    case "gap_policy":
      if (typeof value !== "string") return undefined;
      checkGapPolicy(value, path);
      return value;
    case "sigma":
      return typeof value === "number" ? checkSigma(value) : undefined;
    case "percents":
      return Array.isArray(value)
        ? value.map((item) => javaDouble(textOf(item))).map(checkPercent)
        : undefined;
    case "keyed":
      return typeof value === "boolean" ? value : undefined;
    default:
      return undefined;
  }
}

function checkSigma(sigma: number): number {
  if (sigma >= 0) return sigma;
  throw argumentError("sigma must be a non-negative double");
}

function checkPercent(percent: number): number {
  if (percent >= 0 && percent <= 100) return percent;
  throw argumentError("percents must only contain non-null doubles from 0.0-100.0 inclusive");
}

function defineBucketMetric(naming: Naming, options: Options): PipelineDefinition {
  const path = readSinglePath(naming, options);
  const policy = readGapPolicy(options);
  const summarize = readSummary(naming, options, readPrint(options));
  return {
    pipeline: {
      kind: "pipeline",
      ...naming,
      sibling: (results: Results) => summarize(siblingValues(results, path, policy)),
    },
    paths: [path],
    needs: "sibling",
  };
}

function readSummary(
  naming: Naming,
  options: Options,
  print: Print,
): (metricValues: BucketValues) => MetricResult {
  switch (naming.type) {
    case "avg_bucket":
      return (metricValues) => simpleValue(naming, sumValues(metricValues) / metricValues.length, print);
    case "sum_bucket":
      return (metricValues) => simpleValue(naming, sumValues(metricValues), print);
    case "min_bucket":
      return (metricValues) => extremeBucket(naming, metricValues, print, Math.min, Number.POSITIVE_INFINITY);
    case "max_bucket":
      return (metricValues) => extremeBucket(naming, metricValues, print, Math.max, Number.NEGATIVE_INFINITY);
    case "stats_bucket":
      return (metricValues) => statsResult(naming, summarizeStats(metricValues), print);
    case "extended_stats_bucket": {
      const sigma = options.number("sigma") ?? DEFAULT_SIGMA;
      return (metricValues) => extendedStatsResult(naming, summarizeStats(metricValues), sigma, print);
    }
    default: {
      const percents = readPercents(options);
      const keyed = options.boolean("keyed") ?? true;
      return (metricValues) => {
        const sorted = metricValues.map(({ value }) => value).sort((a, b) => a - b);
        const values = percents.map((percent) => nearestRank(sorted, percent));
        return percentilesResult({ typeName: naming.type, meta: naming.meta }, percents, values, {
          keyed,
          print,
        });
      };
    }
  }
}

function sumValues(metricValues: BucketValues): number {
  return metricValues.reduce((total, { value }) => total + value, 0);
}

/** The percentile by nearest rank: always the value of some bucket. */
function nearestRank(sorted: readonly number[], percent: number): number {
  return sorted[Math.floor((percent / 100) * (sorted.length - 1) + 0.5)] ?? Number.NaN;
}

function extremeBucket(
  { meta }: Naming,
  metricValues: BucketValues,
  print: Print,
  pick: (a: number, b: number) => number,
  none: number,
): MetricResult {
  const value = metricValues.reduce((best, metricValue) => pick(best, metricValue.value), none);
  const exists = metricValues.length > 0;
  return valueResult({ typeName: "bucket_metric_value", meta }, value, [
    ["value", exists ? new Double(value) : null],
    ...(exists && print ? ([["value_as_string", print(value)]] as const) : []),
    ["keys", metricValues.filter((metricValue) => metricValue.value === value).map(({ key }) => key)],
  ]);
}

function summarizeStats(metricValues: BucketValues): ExtendedStats {
  return metricValues.reduce(
    (stats, { value }) => ({
      count: stats.count + 1,
      sum: stats.sum + value,
      min: Math.min(stats.min, value),
      max: Math.max(stats.max, value),
      sumOfSquares: stats.sumOfSquares + value * value,
    }),
    noStats,
  );
}
