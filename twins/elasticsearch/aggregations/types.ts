/** The supported types of aggregations, and the vendor's unsupported ones. */
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { LocatedError, placeText, type Spot } from "../json/located-error.ts";
import { didYouMean } from "../vendor/did-you-mean.ts";
import type { AggregationType } from "./build.ts";
import { compositeType } from "./composite.ts";
import { dateRangeType, missingType, rangeType } from "./conditions.ts";
import { dateHistogramType } from "./date-histogram.ts";
import { filtersType, filterType, globalType } from "./filters.ts";
import { histogramType } from "./histogram.ts";
import { cardinalityType, simpleMetricType, valueCountType } from "./metrics.ts";
import { percentileRanksType, percentilesType } from "./percentiles.ts";
import { bucketMetricType } from "./pipeline/bucket-metrics.ts";
import { bucketScriptType, bucketSelectorType, bucketSortType } from "./pipeline/buckets.ts";
import type { PipelineType } from "./pipeline/definition.ts";
import { cumulativeSumType, derivativeType } from "./pipeline/series.ts";
import { extendedStatsType, statsType } from "./stats.ts";
import { failedAt } from "./syntax/declared.ts";
import { termsType } from "./terms.ts";
import { topHitsType } from "./top-hits.ts";

export const aggregationTypes = lookupTable<AggregationType>({
  avg: simpleMetricType("avg"),
  sum: simpleMetricType("sum"),
  min: simpleMetricType("min"),
  max: simpleMetricType("max"),
  value_count: valueCountType,
  cardinality: cardinalityType,
  stats: statsType,
  extended_stats: extendedStatsType,
  percentiles: percentilesType,
  percentile_ranks: percentileRanksType,
  top_hits: topHitsType,
  terms: termsType,
  date_histogram: dateHistogramType,
  histogram: histogramType,
  range: rangeType,
  date_range: dateRangeType,
  filter: filterType,
  filters: filtersType,
  missing: missingType,
  global: globalType,
  composite: compositeType,
});

export const pipelineTypes = lookupTable<PipelineType>({
  avg_bucket: bucketMetricType,
  sum_bucket: bucketMetricType,
  min_bucket: bucketMetricType,
  max_bucket: bucketMetricType,
  stats_bucket: bucketMetricType,
  extended_stats_bucket: bucketMetricType,
  percentiles_bucket: bucketMetricType,
  bucket_script: bucketScriptType,
  bucket_selector: bucketSelectorType,
  bucket_sort: bucketSortType,
  derivative: derivativeType,
  cumulative_sum: cumulativeSumType,
});

/** The vendor's types that the twin does not support. */
const unsupported = new Set(
  `adjacency_matrix auto_date_histogram boxplot categorize_text change_point children cumulative_cardinality
  diversified_sampler frequent_item_sets geo_bounds geo_centroid geo_distance geo_line geohash_grid geohex_grid geotile_grid
  inference ip_prefix ip_range matrix_stats median_absolute_deviation moving_fn moving_percentiles multi_terms nested normalize
  parent random_sampler rare_terms rate reverse_nested sampler scripted_metric serial_diff significant_terms significant_text
  string_stats t_test time_series top_metrics variable_width_histogram weighted_avg`.split(/\s+/),
);

/** @param cursor where the type's object begins */
export function unknownType(type: string, cursor: Spot): LocatedError {
  const supported = [...Object.keys(aggregationTypes), ...Object.keys(pipelineTypes)].sort();
  if (unsupported.has(type)) {
    const refused = `[${type}] aggregations are not supported here: this stand-in answers ${supported.join(", ")}`;
    return failedAt(cursor, { type: "illegal_argument_exception", reason: refused });
  }
  const reason = `Unknown aggregation type [${type}]${didYouMean(type, [...supported, ...unsupported])}`;
  return new LocatedError(cursor, (find) => ({
    type: "parsing_exception",
    reason,
    ...find(cursor),
    caused_by: {
      type: "named_object_not_found_exception",
      reason: `${placeText(find(cursor))} unknown field [${type}]`,
    },
  }));
}
