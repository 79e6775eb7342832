/**
 * How a type of aggregation becomes part of a statement. As on a shard, all of them are built before the first is created, so that
 * a field that one cannot use is told before what another finds wrong when it begins to work.
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

/** What stands in an aggregation of a type. */
export interface Contents {
  /** Each of its type. */
  readonly options: JsonRecord;
  /** Queries of a `filter` or `filters`, which a shard compiles. */
  readonly filters: readonly (readonly [key: string, compile: () => Sql])[];
  /** Of `top_hits`. */
  readonly planHits: PlanHits | undefined;
}

/** Creates what has been built. @throws VendorError */
export type Create<Created> = () => Created;

/** What is built of an aggregation. */
export interface Building {
  readonly naming: Naming;
  readonly options: Options;
  readonly contents: Contents;
  /** Types and names of the aggregations around it, the innermost first. */
  readonly parents: readonly Naming[];
  /** Builds the aggregations in it. */
  buildChildren(): Create<Aggregations>;
}

/** @throws VendorError for what a shard cannot build */
export type Build = (building: Building, context: AggregationContext) => Create<Aggregation>;

export interface AggregationType {
  /** How many buckets it has for others to be in. */
  readonly cardinality: "none" | "one" | "many";
  /** @throws VendorError for what is not written as it should be */
  read(json: JsonRecord, place: Place, context: SyntaxContext): Contents;
  readonly build: Build;
}

/** A type whose members are declared. */
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
