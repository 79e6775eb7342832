/** Sorts pipeline aggregations by their dependencies, and reports invalid ones. */

import { VendorError } from "../../vendor/error.ts";
import { argumentError, validationError } from "../errors.ts";
import type { Definition, Level } from "../parse.ts";
import type { PipelineDefinition } from "./definition.ts";
import { type PathElement, readPathElements } from "./path.ts";

/** @throws VendorError that lists all problems */
export function validatePipelines(root: Level): void {
  const problems = [...levelProblems(root, undefined)];
  if (problems.length > 0) throw validationError(problems);
}

function* levelProblems(level: Level, parent: Definition | undefined): Generator<string> {
  yield* pipelineProblems(level, parent);
  for (const one of level.aggregations) yield* levelProblems(one.children, one);
}

function* pipelineProblems(level: Level, parent: Definition | undefined): Generator<string> {
  let ordered: readonly PipelineDefinition[];
  try {
    ordered = orderPipelines(level);
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
    yield error.message;
    return;
  }
  for (const definition of ordered) {
    const problem = placeProblem(definition, level, parent);
    if (problem !== undefined) yield problem;
  }
}

/** Sorts topologically. @throws VendorError for a path to nothing, or a cycle */
export function orderPipelines({ aggregations, pipelines }: Level): PipelineDefinition[] {
  const ordered: PipelineDefinition[] = [];
  const visiting = new Set<PipelineDefinition>();
  const visit = (definition: PipelineDefinition) => {
    if (ordered.includes(definition)) return;
    const { name } = definition.pipeline;
    if (visiting.has(definition)) {
      throw argumentError(`Cyclical dependency found with pipeline aggregator [${name}]`);
    }
    visiting.add(definition);
    for (const path of definition.paths) {
      const needed = neededPipeline(path, aggregations, pipelines);
      if (needed) visit(needed);
    }
    ordered.push(definition);
  };
  for (const definition of pipelines) visit(definition);
  return ordered;
}

/** The sibling pipeline that a path refers to. @throws VendorError when there is no such aggregation */
function neededPipeline(
  path: string,
  beside: readonly Definition[],
  pipelines: readonly PipelineDefinition[],
): PipelineDefinition | undefined {
  if (path === "_count" || path === "_key") return undefined;
  const [first, ...rest] = readPathElements(path);
  if (!first) throw argumentError("Invalid path []");
  const found = findNamed(beside, first.name);
  if (found) {
    followPath(found, rest, path);
    return undefined;
  }
  const needed = pipelines.find(({ pipeline: { name } }) => isNamed(first.name, name));
  if (needed) return needed;
  throw argumentError(`No aggregation found for path [${path}]`);
}

/** @throws VendorError for a step to a missing aggregation */
function followPath(from: Definition, steps: readonly PathElement[], path: string): void {
  let { children } = from;
  for (const [index, { name }] of steps.entries()) {
    const last = index === steps.length - 1;
    if (last && ["_key", "_count", "_bucket_count"].includes(name)) return;
    const found = findNamed(children.aggregations, name);
    if (found) children = found.children;
    else if (!last || !children.pipelines.some(({ pipeline }) => isNamed(name, pipeline.name))) {
      throw argumentError(`No aggregation [${name}] found for path [${path}]`);
    }
  }
}

/** Finds an aggregation by name, with or without a property. */
function findNamed(definitions: readonly Definition[], text: string): Definition | undefined {
  return (
    definitions.find(({ naming }) => naming.name === text) ??
    definitions.find(({ naming }) => text.startsWith(`${naming.name}.`))
  );
}

function isNamed(text: string, name: string): boolean {
  return text === name || text.startsWith(`${name}.`);
}

function placeProblem(
  { pipeline: { name, type }, paths, needs }: PipelineDefinition,
  { aggregations }: Level,
  parent: Definition | undefined,
): string | undefined {
  if (needs === "sibling") return siblingProblem(name, paths[0] ?? "", aggregations);
  if (needs === "buckets") {
    return parent
      ? undefined
      : `${type} aggregation [${name}] must be declared inside of another aggregation`;
  }
  const kinds = `${type} aggregation [${name}] must have a histogram, date_histogram or auto_date_histogram as parent`;
  if (!parent) return `${kinds} but doesn't have a parent`;
  const { naming, contents } = parent;
  if (naming.type !== "histogram" && naming.type !== "date_histogram") return kinds;
  if ((contents.options.min_doc_count ?? 0) !== 0) {
    return `parent histogram of ${type} aggregation [${name}] must have min_doc_count of 0`;
  }
  return undefined;
}

function siblingProblem(name: string, path: string, beside: readonly Definition[]): string | undefined {
  let level = beside;
  let found: Definition | undefined;
  for (const { name: step, key } of readPathElements(path)) {
    found = findNamed(level, step);
    if (!found) return `buckets_path aggregation does not exist for aggregation [${name}]: ${path}`;
    const { cardinality } = found.type;
    if (cardinality === "many" && key === undefined) return undefined;
    if (cardinality === "none") break;
    level = found.children.aggregations;
  }
  const builder = found === undefined ? "" : builderClass(found);
  return `Unable to find unqualified multi-bucket aggregation in buckets_path. Path must include a multi-bucket aggregation for aggregation [${name}] found :${builder} for buckets path: ${path}`;
}

/** The vendor's class name of an aggregation without multiple buckets. */
function builderClass({ naming: { type: name }, type: { cardinality } }: Definition): string {
  const folder = cardinality === "none" ? "metrics" : `bucket.${name}`;
  const camel = name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `org.elasticsearch.search.aggregations.${folder}.${camel}AggregationBuilder`;
}
