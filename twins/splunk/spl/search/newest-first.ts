/**
 * The first of the events that a search finds by a look at their texts. A phrase of frequent words is in every other event, as a rule:
 * so the newest events are looked at, then more of them, until there are as many as are wanted.
 */
import { identifier, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { orderByClause } from "../relation/order-keys.ts";
import { filter, type Relation } from "../relation/relation.ts";
import { isAmong } from "./row-numbers.ts";

/** How many events are looked at for each that is wanted, one time after the other. */
const SLICES = [4, 64];
/** More of them are found by one look at all. */
const MOST_WANTED = 1_000;
/** What takes so long for one event that it is worth not to look at others. */
const costly = /\b(regexp_|contains\(|LIKE\b|program\()/i;

/** The first so many, if they are among the newest that pass; else the events as they are. */
export async function newestFound(
  input: Relation,
  wanted: number,
  context: SearchContext,
): Promise<Relation> {
  const { candidates, order, select, maxRows } = input;
  const [moment] = order;
  const number = order.find(({ unique }) => unique);
  const isLong = candidates?.of === select && candidates.predicate.texts.some((text) => costly.test(text));
  if (!isLong || moment?.direction !== "DESC" || number === undefined) return input;
  if (wanted === 0 || wanted > MOST_WANTED || maxRows !== undefined) return input;
  const { passing, predicate } = candidates;
  const time = identifier(moment.column);
  const row = identifier(number.column);
  for (const each of SLICES) {
    const newest = sql`SELECT ${time} FROM (${passing.select}) AS r ORDER BY ${time} DESC LIMIT CAST(${wanted * each} AS BIGINT)`;
    // All events of one time are looked at, so that the order between them is kept.
    const since = filter(passing, sql`${time} >= (SELECT min(${time}) FROM (${newest}) AS n)`);
    const found = sql`SELECT ${row} AS "#row" FROM (${filter(since, predicate).select}) AS r ${orderByClause(order)} LIMIT CAST(${wanted} AS BIGINT)`;
    const columns = [{ name: "#row", column: "#row", type: "number", multi: false }] as const;
    const { rows } = await context.run({ select: found, columns, order: [], kind: "report" }, wanted);
    if (rows.length < wanted) continue;
    const numbers = rows.map(([one]) => String(one));
    return { ...filter(passing, isAmong(row, numbers)), maxRows: wanted };
  }
  return input;
}
