/** Limits of subsearches. */
import { sql } from "@offhook/log-store/sql";
import { limit } from "../relation/order.ts";
import type { Relation } from "../relation/relation.ts";
import type { SearchMessage } from "../spl-error.ts";
import type { SearchContext } from "./search-context.ts";

/** splunkd's message for a subsearch with too many rows. */
export function truncatedMessage(rows: number, max: number): SearchMessage {
  return {
    type: "INFO",
    text: `[subsearch]: Subsearch produced ${rows} results, truncating to maxout ${max}.`,
  };
}

/** splunkd's message for a subsearch that ran out of time. */
export function finalizedMessage(ms: number): SearchMessage {
  return {
    type: "INFO",
    text: `[subsearch]: The search auto-finalized after it reached its time limit: ${ms / 1000} seconds.`,
  };
}

/** Limits a subsearch that stays in SQL, with a message if it has more rows. */
export async function limitSubsearch(
  relation: Relation,
  max: number,
  context: SearchContext,
): Promise<Relation> {
  if ((await countOf(limit({ ...relation, order: [] }, max + 1), context)) <= max) return relation;
  context.warn(truncatedMessage(await countOf(relation, context), max));
  return limit(relation, max);
}

/** Counts the rows of a relation. */
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
