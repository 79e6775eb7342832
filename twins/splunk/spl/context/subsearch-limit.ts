/** How many rows a subsearch may give. */
import { sql } from "@offhook/log-store/sql";
import { limit } from "../relation/order.ts";
import type { Relation } from "../relation/relation.ts";
import type { SearchMessage } from "../spl-error.ts";
import type { SearchContext } from "./search-context.ts";

/** What splunkd says of a subsearch that was cut. */
export function truncated(rows: number, max: number): SearchMessage {
  return {
    type: "INFO",
    text: `[subsearch]: Subsearch produced ${rows} results, truncating to maxout ${max}.`,
  };
}

/** What splunkd says of a subsearch whose time was over. */
export function finalized(ms: number): SearchMessage {
  return {
    type: "INFO",
    text: `[subsearch]: The search auto-finalized after it reached its time limit: ${ms / 1000} seconds.`,
  };
}

/** The first rows of a subsearch that stays in SQL, and a message when there are more. */
export async function withinLimit(
  relation: Relation,
  max: number,
  context: SearchContext,
): Promise<Relation> {
  if ((await countOf(limit({ ...relation, order: [] }, max + 1), context)) <= max) return relation;
  context.warn(truncated(await countOf(relation, context), max));
  return limit(relation, max);
}

/** How many rows there are. */
export async function countOf({ select }: Relation, context: SearchContext): Promise<number> {
  const counted: Relation = {
    select: sql`SELECT count(*) AS count FROM (${select}) AS r`,
    columns: [{ name: "count", column: "count", type: "number", multi: false }],
    order: [],
    kind: "report",
  };
  const { rows } = await context.run(counted, 1);
  return Number(rows[0]?.[0] ?? 0);
}
