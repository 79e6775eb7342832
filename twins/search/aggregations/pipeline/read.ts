/** Reads pipeline aggregations, and puts them in the order they can be calculated in. */

import { lookupTable } from "../../../sandbox/lookup-table.ts";
import type { Aggregation, PipelineAggregation } from "../aggregation.ts";
import { argumentError, validationError } from "../errors.ts";
import type { Naming } from "../metrics.ts";
import type { Options } from "../options.ts";
import { readBucketMetric } from "./bucket-metrics.ts";
import { readBucketScript, readBucketSelector, readBucketSort } from "./buckets.ts";
import { findNamed, pathProblem, readPathElements } from "./path.ts";
import { readCumulativeSum, readDerivative } from "./series.ts";

/** A pipeline aggregation before it is known what stands beside it. */
export interface PipelineDefinition {
  pipeline: PipelineAggregation;
  paths: readonly string[];
  /** `histogram`: it needs buckets in a row around it; `buckets`: any; `sibling`: buckets beside it. */
  needs: "histogram" | "gapless-histogram" | "buckets" | "sibling";
}

type PipelineReader = (naming: Naming, options: Options) => PipelineDefinition;

export const pipelineReaders = lookupTable<PipelineReader>({
  avg_bucket: readBucketMetric,
  sum_bucket: readBucketMetric,
  min_bucket: readBucketMetric,
  max_bucket: readBucketMetric,
  stats_bucket: readBucketMetric,
  extended_stats_bucket: readBucketMetric,
  percentiles_bucket: readBucketMetric,
  bucket_script: readBucketScript,
  bucket_selector: readBucketSelector,
  bucket_sort: readBucketSort,
  derivative: readDerivative,
  cumulative_sum: readCumulativeSum,
});

/** What pipelines are in: nothing, or an aggregation. */
export interface PipelineParent {
  type: string;
  /** Of a histogram. */
  minDocCount: number | undefined;
}

/** @throws VendorError that lists everything that is wrong with them */
export function orderPipelines(
  definitions: readonly PipelineDefinition[],
  beside: readonly Aggregation[],
  parent: PipelineParent | undefined,
): PipelineAggregation[] {
  const names = new Set(definitions.map(({ pipeline }) => pipeline.name));
  const problems = definitions.flatMap(({ paths }) => paths.map((path) => pathProblem(path, beside, names)));
  for (const definition of definitions) problems.push(placeProblem(definition, beside, parent));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw validationError(found);
  const ordered: PipelineAggregation[] = [];
  const visiting = new Set<string>();
  const visit = ({ pipeline, paths }: PipelineDefinition) => {
    if (ordered.includes(pipeline)) return;
    if (visiting.has(pipeline.name)) {
      throw argumentError(`Cyclical dependency found with pipeline aggregator [${pipeline.name}]`);
    }
    visiting.add(pipeline.name);
    for (const path of paths) {
      const first = readPathElements(path)[0]?.name ?? "";
      const needed = definitions.find(
        ({ pipeline: { name } }) => first === name || first.startsWith(`${name}.`),
      );
      if (needed) visit(needed);
    }
    ordered.push(pipeline);
  };
  for (const definition of definitions) visit(definition);
  return ordered;
}

function placeProblem(
  { pipeline: { name, type }, paths, needs }: PipelineDefinition,
  beside: readonly Aggregation[],
  parent: PipelineParent | undefined,
): string | undefined {
  if (needs === "sibling") return siblingProblem(name, paths[0] ?? "", beside);
  if (needs === "buckets") {
    return parent
      ? undefined
      : `${type} aggregation [${name}] must be declared inside of another aggregation`;
  }
  if (!parent) {
    return `${type} aggregation [${name}] must have a histogram, date_histogram or auto_date_histogram as parent but doesn't have a parent`;
  }
  if (parent.type !== "histogram" && parent.type !== "date_histogram") {
    return `${type} aggregation [${name}] must have a histogram, date_histogram or auto_date_histogram as parent`;
  }
  if (needs === "gapless-histogram" && parent.minDocCount !== 0) {
    return `parent histogram of ${type} aggregation [${name}] must have min_doc_count of 0`;
  }
  return undefined;
}

function siblingProblem(name: string, path: string, beside: readonly Aggregation[]): string | undefined {
  let level = beside;
  for (const { name: step, key } of readPathElements(path)) {
    const found = findNamed(level, step);
    if (!found) return `buckets_path aggregation does not exist for aggregation [${name}]: ${path}`;
    if (found.kind === "buckets" && key === undefined) return undefined;
    if (found.kind !== "single" && found.kind !== "buckets") break;
    level = found.children.aggregations;
  }
  return `Unable to find unqualified multi-bucket aggregation in buckets_path. Path must include a multi-bucket aggregation for aggregation [${name}] found :${path}`;
}
