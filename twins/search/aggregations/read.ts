/** Reads the aggregations of a request. */

import { lookupTable } from "../../sandbox/lookup-table.ts";
import { numberIn, tokenOf } from "../json/token.ts";
import type { VendorError } from "../vendor-error.ts";
import type { Aggregation, Aggregations } from "./aggregation.ts";
import { readComposite } from "./composite.ts";
import { filterAggregation, readFilters, readGlobal, readMissing, readRange } from "./conditions.ts";
import type { AggregationContext } from "./context.ts";
import { readDateHistogram } from "./date-histogram.ts";
import { argumentError, parsingError, UnrecognisedAggregation } from "./errors.ts";
import { readHistogram } from "./histogram.ts";
import { type Naming, readCountMetric, readSimpleMetric } from "./metrics.ts";
import { isRecord, type JsonRecord, Options } from "./options.ts";
import { readPercentileRanks, readPercentiles } from "./percentiles.ts";
import {
  orderPipelines,
  type PipelineDefinition,
  type PipelineParent,
  pipelineReaders,
} from "./pipeline/read.ts";
import { readStats } from "./stats.ts";
import { didYouMean } from "./suggest.ts";
import { readTerms } from "./terms.ts";
import { topHits } from "./top-hits.ts";

/** The deepest that aggregations may be in each other. */
const MAX_DEPTH = 40;

/** The most aggregations of one request: each is part of one statement. */
const MAX_AGGREGATIONS = 500;

type MetricReader = (naming: Naming, options: Options, context: AggregationContext) => Aggregation;
type BucketReader = (
  naming: Naming,
  options: Options,
  children: Aggregations,
  context: AggregationContext,
) => Aggregation;

const metrics = lookupTable<MetricReader>({
  avg: readSimpleMetric,
  sum: readSimpleMetric,
  min: readSimpleMetric,
  max: readSimpleMetric,
  value_count: readCountMetric,
  cardinality: readCountMetric,
  stats: readStats,
  extended_stats: readStats,
  percentiles: readPercentiles,
  percentile_ranks: readPercentileRanks,
});

const buckets = lookupTable<BucketReader>({
  terms: readTerms,
  date_histogram: readDateHistogram,
  histogram: readHistogram,
  range: readRange,
  date_range: readRange,
  filters: readFilters,
  missing: readMissing,
  global: readGlobal,
  composite: readComposite,
});

/** The aggregations of a request. @throws VendorError */
export function readAggregations(json: unknown, context: AggregationContext): Aggregations {
  const count = countAggregations(json, 0);
  if (count > MAX_AGGREGATIONS) {
    throw argumentError(
      `the request has ${count} aggregations, more than the ${MAX_AGGREGATIONS} that are answered`,
    );
  }
  return readLevel(json, context, undefined, []);
}

function countAggregations(json: unknown, depth: number): number {
  if (!isRecord(json) || depth > MAX_DEPTH) return 0;
  return Object.values(json).reduce<number>(
    (count, one) =>
      count + 1 + (isRecord(one) ? countAggregations(one.aggs ?? one.aggregations, depth + 1) : 0),
    0,
  );
}

function readLevel(
  json: unknown,
  context: AggregationContext,
  parent: PipelineParent | undefined,
  path: readonly string[],
): Aggregations {
  if (!isRecord(json)) {
    throw parsingError(`Expected [START_OBJECT] but found [${tokenOf(json)}]`);
  }
  if (path.length > MAX_DEPTH) {
    throw parsingError(
      `The nested depth of the aggregations exceeds the maximum nested depth of [${MAX_DEPTH}]`,
    );
  }
  const aggregations: Aggregation[] = [];
  const pipelines: PipelineDefinition[] = [];
  for (const [name, value] of Object.entries(json)) {
    const definition = readDefinition(name, value);
    const pipeline = own(pipelineReaders, definition.type);
    if (pipeline) pipelines.push(readPipeline(name, definition, pipeline));
    else aggregations.push(readAggregation(definition, context, [...path, name]));
  }
  return { aggregations, pipelines: orderPipelines(pipelines, aggregations, parent) };
}

function readPipeline(
  name: string,
  { type, options, meta, children }: Definition,
  read: (naming: Naming, options: Options) => PipelineDefinition,
): PipelineDefinition {
  if (children) throw argumentError(`Aggregation [${name}] cannot define sub-aggregations`);
  return read({ name, type, meta }, new Options(type, options));
}

interface Definition {
  type: string;
  options: JsonRecord;
  children: JsonRecord | undefined;
  meta: JsonRecord | undefined;
}

/** @param path the names of those that it is in, and its own */
function readAggregation(
  { type, options: record, children, meta }: Definition,
  context: AggregationContext,
  path: readonly string[],
): Aggregation {
  const [topLevelName = ""] = path;
  const name = path.at(-1) ?? topLevelName;
  const naming: Naming = { name, type, meta };
  const metric = own(metrics, type);
  if (metric || type === "top_hits") {
    if (children && Object.keys(children).length > 0) {
      throw argumentError(`Aggregator [${name}] of type [${type}] cannot accept sub-aggregations`);
    }
    return metric ? metric(naming, new Options(type, record), context) : topHits(naming, record, context);
  }
  const bucket = own(buckets, type);
  if (!bucket && type !== "filter") throw new UnrecognisedAggregation(unknownType(type), topLevelName);
  checkPlace(name, type, path.length - 1);
  const minDocCount = record.min_doc_count === undefined ? 0 : numberIn(record.min_doc_count);
  const inner = readLevel(children ?? {}, context, { type, minDocCount }, path);
  return bucket
    ? bucket(naming, new Options(type, record), inner, context)
    : filterAggregation(naming, record, inner, context);
}

function own<Value>(record: Record<string, Value>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function checkPlace(name: string, type: string, depth: number): void {
  if (depth === 0) return;
  if (type === "global") {
    throw argumentError(
      `Aggregation [${name}] cannot have a global sub-aggregation [${name}]. Global aggregations can only be defined at the top level`,
    );
  }
  if (type === "composite") {
    throw argumentError("[composite] aggregation cannot be used with a parent aggregation");
  }
}

function readDefinition(name: string, json: unknown): Definition {
  if (!/^[^[\]>]+$/.test(name)) {
    throw parsingError(
      `Invalid aggregation name [${name}]. Aggregation names can contain any character except '[', ']', and '>'`,
    );
  }
  if (!isRecord(json)) {
    throw parsingError(
      `Aggregation definition for [${name} starts with a [${tokenOf(json)}], expected a [START_OBJECT].`,
    );
  }
  let found: { type: string; options: JsonRecord } | undefined;
  let children: JsonRecord | undefined;
  let meta: JsonRecord | undefined;
  for (const [member, value] of Object.entries(json)) {
    if (!isRecord(value)) {
      throw parsingError(
        `Expected [START_OBJECT] under [${member}], but got a [${tokenOf(value)}] in [${name}]`,
      );
    }
    if (member === "meta") meta = value;
    else if (member === "aggs" || member === "aggregations") {
      if (children) throw parsingError(`Found two sub aggregation definitions under [${name}]`);
      children = value;
    } else if (found) {
      throw parsingError(
        `Found two aggregation type definitions in [${name}]: [${found.type}] and [${member}]`,
      );
    } else found = { type: member, options: value };
  }
  if (!found) throw parsingError(`Missing definition for aggregation [${name}]`);
  return { ...found, children, meta };
}

/** Types of the vendor that are not answered here. */
const unsupported = new Set([
  "adjacency_matrix",
  "auto_date_histogram",
  "boxplot",
  "categorize_text",
  "change_point",
  "children",
  "cumulative_cardinality",
  "diversified_sampler",
  "frequent_item_sets",
  "geo_bounds",
  "geo_centroid",
  "geo_distance",
  "geo_line",
  "geohash_grid",
  "geohex_grid",
  "geotile_grid",
  "inference",
  "ip_prefix",
  "ip_range",
  "matrix_stats",
  "median_absolute_deviation",
  "moving_fn",
  "moving_percentiles",
  "multi_terms",
  "nested",
  "normalize",
  "parent",
  "random_sampler",
  "rare_terms",
  "rate",
  "reverse_nested",
  "sampler",
  "scripted_metric",
  "serial_diff",
  "significant_terms",
  "significant_text",
  "string_stats",
  "t_test",
  "time_series",
  "top_metrics",
  "variable_width_histogram",
  "weighted_avg",
]);

function unknownType(type: string): VendorError {
  if (unsupported.has(type)) {
    return argumentError(
      `[${type}] aggregations are not supported here: this stand-in answers ${supported().join(", ")}`,
    );
  }
  return parsingError(
    `Unknown aggregation type [${type}]${didYouMean(type, [...supported(), ...unsupported])}`,
    {
      type: "named_object_not_found_exception",
      reason: `unknown field [${type}]`,
    },
  );
}

function supported(): string[] {
  const all = [
    ...Object.keys(metrics),
    ...Object.keys(buckets),
    ...Object.keys(pipelineReaders),
    "filter",
    "top_hits",
  ];
  return all.sort();
}
