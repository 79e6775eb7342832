/** The contexts of parsing and of compiling aggregations. */
import type { Sql } from "@offhook/log-store/sql";
import type { JsonPath } from "../json/position.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import type { JsonRecord } from "./options.ts";

/** The hits of one bucket: row numbers, best first, and the total. */
interface HitGroup {
  rows: readonly number[];
  total: number;
}

/** How a `top_hits` sorts and renders its documents. */
export interface HitsPlan {
  /** Sort keys over `documents AS d`, each with its direction in SQL. */
  order: readonly { value: Sql; direction: Sql }[];
  /** Renders the member `hits` of each group: `{total, max_score, hits}`. */
  render(groups: readonly HitGroup[]): Promise<readonly unknown[]>;
}

/** @param of the documents that the search finds, or all, which have no scores */
export type PlanHits = (of: "found" | "all") => HitsPlan;

/** Parses the parts of a search inside aggregations. The returned functions compile them, and throw what a shard would. */
export interface SyntaxContext {
  /** A query of the Query DSL. The result compiles it to a condition over `documents AS d`, never NULL. */
  readFilter(json: unknown, path: JsonPath): () => Sql;
  /** The options of a `top_hits` except `from` and `size`. */
  readHits(options: JsonRecord, path: JsonPath): PlanHits;
}

/** The context in which a shard compiles aggregations. */
export interface AggregationContext extends QueryContext {
  /** Name of the index in errors. */
  index: string;
}
