/** Parses the aggregations of a request in text order, and reports syntax errors. */
import { parsingErrorAt, type Spot } from "../json/located-error.ts";
import type { JsonPath } from "../json/position.ts";
import { tokenOf } from "../json/token.ts";
import type { AggregationType, Contents, Naming } from "./build.ts";
import type { SyntaxContext } from "./context.ts";
import { argumentError, UnrecognisedAggregation } from "./errors.ts";
import { isRecord, type JsonRecord, Options } from "./options.ts";
import type { PipelineDefinition, PipelineType } from "./pipeline/definition.ts";
import { aggregationTypes, pipelineTypes, unknownType } from "./types.ts";

/** Limit of nested aggregations. */
const MAX_DEPTH = 40;

/** Limit of aggregations in one request: all become one statement. */
const MAX_AGGREGATIONS = 500;

/** A parsed aggregation. */
export interface Definition {
  readonly naming: Naming;
  readonly type: AggregationType;
  readonly contents: Contents;
  readonly children: Level;
}

/** Sibling aggregations. */
export interface Level {
  readonly aggregations: readonly Definition[];
  readonly pipelines: readonly PipelineDefinition[];
}

const emptyLevel: Level = { aggregations: [], pipelines: [] };

/** @param path of the member in the body @throws VendorError */
export function parseAggregations(json: unknown, path: JsonPath, context: SyntaxContext): Level {
  const count = countAggregations(json, 0);
  if (count > MAX_AGGREGATIONS) {
    throw argumentError(
      `the request has ${count} aggregations, more than the ${MAX_AGGREGATIONS} that are answered`,
    );
  }
  return new Parser(context, path.length).level(json, path, 0);
}

function countAggregations(json: unknown, depth: number): number {
  if (!isRecord(json) || depth > MAX_DEPTH) return 0;
  return Object.values(json).reduce<number>(
    (count, one) =>
      count + 1 + (isRecord(one) ? countAggregations(one.aggs ?? one.aggregations, depth + 1) : 0),
    0,
  );
}

/** The body of an aggregation. */
type Body =
  | { kind: "aggregation"; type: AggregationType; contents: Contents }
  | { kind: "pipeline"; type: PipelineType; options: JsonRecord };

class Parser {
  readonly #context: SyntaxContext;
  /** Length of the path to the first level. */
  readonly #base: number;

  constructor(context: SyntaxContext, base: number) {
    this.#context = context;
    this.#base = base;
  }

  level(json: unknown, path: JsonPath, depth: number): Level {
    if (depth > MAX_DEPTH) {
      const reason = `The nested depth of the aggregations exceeds the maximum nested depth of [${MAX_DEPTH}]`;
      throw parsingErrorAt({ path, what: "value" }, reason);
    }
    const aggregations: Definition[] = [];
    const pipelines: PipelineDefinition[] = [];
    for (const [name, value] of Object.entries(isRecord(json) ? json : {})) {
      const read = this.#definition(name, value, [...path, name], depth);
      if ("pipeline" in read) pipelines.push(read);
      else aggregations.push(read);
    }
    return { aggregations, pipelines };
  }

  #definition(name: string, json: unknown, path: JsonPath, depth: number): Definition | PipelineDefinition {
    if (!/^[^[\]>]+$/.test(name)) {
      const reason = `Invalid aggregation name [${name}]. Aggregation names can contain any character except '[', ']', and '>'`;
      throw parsingErrorAt({ path, what: "name" }, reason);
    }
    if (!isRecord(json)) {
      const reason = `Aggregation definition for [${name} starts with a [${tokenOf(json)}], expected a [START_OBJECT].`;
      throw parsingErrorAt({ path, what: "value" }, reason);
    }
    let found: { naming: Naming; body: Body } | undefined;
    let children: Level | undefined;
    let meta: JsonRecord | undefined;
    for (const [member, value] of Object.entries(json)) {
      const place: JsonPath = [...path, member];
      const refuse = (reason: string) => parsingErrorAt({ path: place, what: "value" }, reason);
      if (!isRecord(value)) {
        throw refuse(`Expected [START_OBJECT] under [${member}], but got a [${tokenOf(value)}] in [${name}]`);
      }
      if (member === "meta") meta = value;
      else if (member === "aggs" || member === "aggregations") {
        if (children) throw refuse(`Found two sub aggregation definitions under [${name}]`);
        children = this.level(value, place, depth + 1);
      } else if (found) {
        const { type } = found.naming;
        throw refuse(`Found two aggregation type definitions in [${name}]: [${type}] and [${member}]`);
      } else {
        const naming: Naming = { name, type: member, meta: undefined };
        found = { naming, body: this.#body(member, value, place, name) };
      }
    }
    if (!found) {
      throw parsingErrorAt({ path, what: "end" }, `Missing definition for aggregation [${name}]`);
    }
    return definition({ ...found.naming, meta }, found.body, children);
  }

  #body(member: string, json: JsonRecord, path: JsonPath, name: string): Body {
    const cursor: Spot = { path, what: "value" };
    const place = { path, name };
    const pipeline = pipelineTypes[member];
    if (pipeline) return { kind: "pipeline", type: pipeline, options: pipeline.read(json, place) };
    const type = aggregationTypes[member];
    if (!type) {
      const topLevelName = String(path[this.#base] ?? name);
      throw new UnrecognisedAggregation(unknownType(member, cursor), topLevelName);
    }
    return { kind: "aggregation", type, contents: type.read(json, place, this.#context) };
  }
}

function definition(
  naming: Naming,
  body: Body,
  children: Level | undefined,
): Definition | PipelineDefinition {
  const { name, type: typeName } = naming;
  if (body.kind === "pipeline") {
    if (children) throw argumentError(`Aggregation [${name}] cannot define sub-aggregations`);
    return body.type.define(naming, new Options(typeName, body.options));
  }
  const { type, contents } = body;
  if (children && type.cardinality === "none") {
    throw argumentError(`Aggregator [${name}] of type [${typeName}] cannot accept sub-aggregations`);
  }
  return { naming, type, contents, children: children ?? emptyLevel };
}
