/**
 * Finds the first matches of a text search by probing the newest events first. A phrase of frequent words usually occurs in every other
 * event, so a few probes find as many as are wanted.
 */
import { identifier, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { orderByClause } from "../relation/order-keys.ts";
import { filter, type Relation } from "../relation/relation.ts";
import { rowIn } from "./row-numbers.ts";

/** Events to probe for each one that is wanted, in successive attempts. */
const PROBE_FACTORS = [4, 64];
/** For more than this, one scan of all events is faster. */
const MAX_WANTED = 1_000;
/** Conditions that are expensive enough to justify probing. */
const costly = /\b(regexp_|contains\(|LIKE\b|program\()/i;

/** The first `wanted` matches if probing finds them, else the input unchanged. */
export async function probeNewest(
  input: Relation,
  wanted: number,
  context: SearchContext,
): Promise<Relation> {
  const { candidates, order, select, maxRows } = input;
  const [moment] = order;
  const number = order.find(({ unique }) => unique);
  const isLong = candidates?.of === select && candidates.predicate.texts.some((text) => costly.test(text));
  if (!isLong || moment?.direction !== "DESC" || number === undefined) return input;
  if (wanted === 0 || wanted > MAX_WANTED || maxRows !== undefined) return input;
  const { passing, predicate } = candidates;
  const time = identifier(moment.column);
  const row = identifier(number.column);
  for (const each of PROBE_FACTORS) {
    const newest = sql`SELECT ${time} FROM (${passing.select}) AS r ORDER BY ${time} DESC LIMIT CAST(${wanted * each} AS BIGINT)`;
    // Includes all events of the oldest time, to keep the order among them.
    const since = filter(passing, sql`${time} >= (SELECT min(${time}) FROM (${newest}) AS n)`);
    const found = sql`SELECT ${row} AS "#row" FROM (${filter(since, predicate).select}) AS r ${orderByClause(order)} LIMIT CAST(${wanted} AS BIGINT)`;
    const columns = [{ name: "#row", column: "#row", type: "number", multi: false }] as const;
    const { rows } = await context.run({ select: found, columns, order: [], kind: "report" }, wanted);
    if (rows.length < wanted) continue;
    const numbers = rows.map(([one]) => String(one));
    return { ...filter(passing, rowIn(row, numbers)), maxRows: wanted };
  }
  return input;
}
