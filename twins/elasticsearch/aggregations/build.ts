/**
 * The interface of aggregation types. As on a shard, all aggregations are built before the first is created: an unusable field is
 * reported before any error of creation.
 */
import type { Sql } from "@offhook/log-store/sql";
import type { Aggregation, Aggregations } from "./aggregation.ts";
import type { AggregationContext, PlanHits, SyntaxContext } from "./context.ts";
import type { JsonRecord, Options } from "./options.ts";
import { type Place, readDeclared, type Syntax } from "./syntax/declared.ts";

export interface Naming {
  name: string;
  type: string;
  meta: JsonRecord | undefined;
}

/** The parsed body of an aggregation. */
export interface Contents {
  /** Each value has the type that its member declares. */
  readonly options: JsonRecord;
  /** The queries of a `filter` or `filters`; the shard compiles them. */
  readonly filters: readonly (readonly [key: string, compile: () => Sql])[];
  /** For `top_hits`. */
  readonly planHits: PlanHits | undefined;
}

/** Creates a built aggregation. @throws VendorError */
export type Create<Created> = () => Created;

/** The input of building an aggregation. */
export interface Building {
  readonly naming: Naming;
  readonly options: Options;
  readonly contents: Contents;
  /** The enclosing aggregations, innermost first. */
  readonly parents: readonly Naming[];
  /** Builds the sub-aggregations. */
  buildChildren(): Create<Aggregations>;
}

/** @throws VendorError for an aggregation that a shard cannot build */
export type Build = (building: Building, context: AggregationContext) => Create<Aggregation>;

export interface AggregationType {
  /** How many buckets it has for sub-aggregations. */
  readonly cardinality: "none" | "one" | "many";
  /** Parses the body. @throws VendorError for a syntax error */
  read(json: JsonRecord, place: Place, context: SyntaxContext): Contents;
  readonly build: Build;
}

/** A type with declared members. */
export function declaredType(
  parser: string,
  cardinality: AggregationType["cardinality"],
  syntax: Syntax,
  build: Build,
): AggregationType {
  return {
    cardinality,
    read: (json, place) => contentsOf(readDeclared(parser, syntax, json, place)),
    build,
  };
}

export function contentsOf(options: JsonRecord, more: Partial<Contents> = {}): Contents {
  return { options, filters: [], planHits: undefined, ...more };
}
