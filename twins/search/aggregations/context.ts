/** What aggregations are compiled with. */
import type { Sql } from "../../datasets/sql.ts";
import type { QueryContext } from "../query/compiled-query.ts";

/** The hits of one bucket: documents by their number, best first, of so many. */
export interface HitGroup {
  rows: readonly number[];
  total: number;
}

/** How a `top_hits` orders and shows its documents. */
export interface HitsPlan {
  /** What stands after ORDER BY, over `documents AS d`. */
  orderBy: Sql;
  /** The member `hits` of each group: `{total, max_score, hits}`. */
  render(groups: readonly HitGroup[]): Promise<readonly unknown[]>;
}

export interface AggregationContext extends QueryContext {
  /** Name of the index, as errors tell it. */
  index: string;
  /** A query of the Query DSL as a condition over `documents AS d`, never NULL. */
  compileFilter(json: unknown): Sql;
  /** Reads the options of a `top_hits` other than `from` and `size`. */
  planHits(options: { readonly [member: string]: unknown }): HitsPlan;
}
