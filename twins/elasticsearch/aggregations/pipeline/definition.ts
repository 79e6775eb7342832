/** A pipeline aggregation before its siblings and parent are known. */
import type { PipelineAggregation } from "../aggregation.ts";
import type { Naming } from "../build.ts";
import type { JsonRecord, Options } from "../options.ts";
import { type Place, readDeclared, type Syntax } from "../syntax/declared.ts";

export interface PipelineDefinition {
  pipeline: PipelineAggregation;
  paths: readonly string[];
  /** `histogram`: an enclosing histogram; `buckets`: any enclosing buckets; `sibling`: sibling buckets. */
  needs: "histogram" | "buckets" | "sibling";
}

export interface PipelineType {
  /** Parses the body. @throws VendorError for a syntax error */
  read(json: JsonRecord, place: Place): JsonRecord;
  define(naming: Naming, options: Options): PipelineDefinition;
}

export function declaredPipeline(type: string, syntax: Syntax): PipelineType["read"] {
  return (json, place) => readDeclared(type, syntax, json, place);
}
