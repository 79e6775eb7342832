/** What aggregations are read with, and what they are compiled with. */
import type { Sql } from "@offhook/log-store/sql";
import type { JsonPath, QueryContext } from "../query/compiled-query.ts";
import type { JsonRecord } from "./options.ts";

/** The hits of one bucket: documents by their number, best first, of so many. */
export interface HitGroup {
  rows: readonly number[];
  total: number;
}

/** How a `top_hits` orders and shows its documents. */
export interface HitsPlan {
  /** The values over `documents AS d` that order them, each with its direction in SQL. */
  order: readonly { value: Sql; direction: Sql }[];
  /** The member `hits` of each group: `{total, max_score, hits}`. */
  render(groups: readonly HitGroup[]): Promise<readonly unknown[]>;
}

/** @param of which documents: those that the search finds, or all, which no query says anything of */
export type PlanHits = (of: "found" | "all") => HitsPlan;

/** Reads what aggregations hold of the rest of a search. Whether a shard can answer it is known when the result is called. */
export interface SyntaxContext {
  /** A query of the Query DSL: a condition over `documents AS d`, never NULL. */
  readFilter(json: unknown, path: JsonPath): () => Sql;
  /** The options of a `top_hits` other than `from` and `size`. */
  readHits(options: JsonRecord, path: JsonPath): PlanHits;
}

/** What a shard compiles aggregations with. */
export interface AggregationContext extends QueryContext {
  /** Name of the index, as errors tell it. */
  index: string;
}
