/** Reads the aggregations of a request. */
import type { Aggregation, Aggregations, PipelineAggregation } from "./aggregation.ts";
import type { AggregationContext } from "./context.ts";
import { readDateHistogram } from "./date-histogram.ts";
import { argumentError, parsingError } from "./errors.ts";
import { type Naming, readCountMetric, readSimpleMetric } from "./metrics.ts";
import { isRecord, type JsonRecord, Options, tokenOf } from "./options.ts";
import { didYouMean } from "./suggest.ts";
import { readTerms } from "./terms.ts";

/** The deepest that aggregations may be in each other, . */
const MAX_DEPTH = 40;

type MetricReader = (naming: Naming, options: Options, context: AggregationContext) => Aggregation;
type BucketReader = (
  naming: Naming,
  options: Options,
  children: Aggregations,
  context: AggregationContext,
) => Aggregation;

const metrics: Record<string, MetricReader> = {
  avg: readSimpleMetric,
  sum: readSimpleMetric,
  min: readSimpleMetric,
  max: readSimpleMetric,
  value_count: readCountMetric,
  cardinality: readCountMetric,
};

const buckets: Record<string, BucketReader> = {
  terms: readTerms,
  date_histogram: readDateHistogram,
};

export function readAggregations(json: unknown, context: AggregationContext, depth = 0): Aggregations {
  if (!isRecord(json)) {
    throw parsingError(`Expected [START_OBJECT] but found [${tokenOf(json)}]`);
  }
  if (depth > MAX_DEPTH) {
    throw parsingError(
      `The nested depth of the aggregations exceeds the maximum nested depth of [${MAX_DEPTH}]`,
    );
  }
  const aggregations: Aggregation[] = [];
  const pipelines: PipelineAggregation[] = [];
  for (const [name, definition] of Object.entries(json)) {
    aggregations.push(readAggregation(name, definition, context, depth));
  }
  return { aggregations, pipelines };
}

interface Definition {
  type: string;
  options: JsonRecord;
  children: JsonRecord | undefined;
  meta: JsonRecord | undefined;
}

function readAggregation(
  name: string,
  json: unknown,
  context: AggregationContext,
  depth: number,
): Aggregation {
  const { type, options: record, children, meta } = readDefinition(name, json);
  const options = new Options(type, record);
  const naming: Naming = { name, type, meta };
  const metric = metrics[type];
  if (metric) {
    if (children && Object.keys(children).length > 0) {
      throw argumentError(`Aggregator [${name}] of type [${type}] cannot accept sub-aggregations`);
    }
    return metric(naming, options, context);
  }
  const bucket = buckets[type];
  if (!bucket) throw unknownType(type);
  return bucket(naming, options, readAggregations(children ?? {}, context, depth + 1), context);
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

function unknownType(type: string): Error {
  const known = [...Object.keys(metrics), ...Object.keys(buckets)];
  return parsingError(`Unknown aggregation type [${type}]${didYouMean(type, known)}`, {
    type: "named_object_not_found_exception",
    reason: `unknown field [${type}]`,
  });
}
