/** avg_bucket and its siblings: figures over the buckets of an aggregation beside. */
import { Double } from "../../json/numbers.ts";
import type { Results } from "../aggregation.ts";
import type { Naming } from "../metrics.ts";
import type { Options } from "../options.ts";
import { percentilesResult, readPercents } from "../percentiles.ts";
import { type MetricResult, valueResult } from "../result.ts";
import { type ExtendedStats, extendedStatsResult, noStats, readSigma, statsResult } from "../stats.ts";
import { readGapPolicy, siblingFigures } from "./path.ts";
import type { PipelineDefinition } from "./read.ts";
import { type Print, readPrint, readSinglePath, simpleValue } from "./values.ts";

type Figures = readonly { key: string; value: number }[];

export function readBucketMetric(naming: Naming, options: Options): PipelineDefinition {
  const path = readSinglePath(naming, options);
  const policy = readGapPolicy(options);
  const summarize = readSummary(naming, options, readPrint(options));
  options.done();
  return {
    pipeline: {
      kind: "pipeline",
      ...naming,
      sibling: (results: Results) => summarize(siblingFigures(results, path, policy)),
    },
    paths: [path],
    needs: "sibling",
  };
}

function readSummary(naming: Naming, options: Options, print: Print): (figures: Figures) => MetricResult {
  switch (naming.type) {
    case "avg_bucket":
      return (figures) => simpleValue(naming, sum(figures) / figures.length, print);
    case "sum_bucket":
      return (figures) => simpleValue(naming, sum(figures), print);
    case "min_bucket":
      return (figures) => extreme(naming, figures, print, Math.min, Number.POSITIVE_INFINITY);
    case "max_bucket":
      return (figures) => extreme(naming, figures, print, Math.max, Number.NEGATIVE_INFINITY);
    case "stats_bucket":
      return (figures) => statsResult(naming, statsOf(figures), print);
    case "extended_stats_bucket": {
      const sigma = readSigma(options);
      return (figures) => extendedStatsResult(naming, statsOf(figures), sigma, print);
    }
    default: {
      const percents = readPercents(options);
      const keyed = options.boolean("keyed") ?? true;
      return (figures) => {
        const sorted = figures.map(({ value }) => value).sort((a, b) => a - b);
        const values = percents.map((percent) => nearest(sorted, percent));
        return percentilesResult(
          { typeName: naming.type, meta: naming.meta },
          percents,
          values,
          keyed,
          print,
        );
      };
    }
  }
}

function sum(figures: Figures): number {
  return figures.reduce((total, { value }) => total + value, 0);
}

/** The value nearest to the percent of the way: no value that no bucket has. */
function nearest(sorted: readonly number[], percent: number): number {
  return sorted[Math.floor((percent / 100) * (sorted.length - 1) + 0.5)] ?? Number.NaN;
}

function extreme(
  { meta }: Naming,
  figures: Figures,
  print: Print,
  pick: (a: number, b: number) => number,
  none: number,
): MetricResult {
  const value = figures.reduce((best, figure) => pick(best, figure.value), none);
  const exists = figures.length > 0;
  return valueResult({ typeName: "bucket_metric_value", meta }, value, [
    ["value", exists ? new Double(value) : null],
    ...(exists && print ? ([["value_as_string", print(value)]] as const) : []),
    ["keys", figures.filter((figure) => figure.value === value).map(({ key }) => key)],
  ]);
}

function statsOf(figures: Figures): ExtendedStats {
  return figures.reduce(
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
