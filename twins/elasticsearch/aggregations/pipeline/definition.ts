/** A pipeline aggregation before it is known what stands beside it. */
import type { PipelineAggregation } from "../aggregation.ts";
import type { Naming } from "../build.ts";
import type { JsonRecord, Options } from "../options.ts";
import { type Place, readDeclared, type Syntax } from "../syntax/declared.ts";

export interface PipelineDefinition {
  pipeline: PipelineAggregation;
  paths: readonly string[];
  /** `histogram`: it needs buckets in a row around it; `buckets`: any; `sibling`: buckets beside it. */
  needs: "histogram" | "buckets" | "sibling";
}

export interface PipelineType {
  /** @throws VendorError for what is not written as it should be */
  read(json: JsonRecord, place: Place): JsonRecord;
  define(naming: Naming, options: Options): PipelineDefinition;
}

export function declaredPipeline(type: string, syntax: Syntax): PipelineType["read"] {
  return (json, place) => readDeclared(type, syntax, json, place);
}
