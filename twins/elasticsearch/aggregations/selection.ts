/** Which groups become buckets, with their numbers. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { BucketsAggregation } from "./aggregation.ts";
import { MAX_BUCKETS } from "./errors.ts";
import { orderSql } from "./order.ts";
import type { Owner } from "./places.ts";

/** One more than may be, so that too many are noticed. */
const LIMIT = raw(String(MAX_BUCKETS + 1));

/**
 * Numbers groups as `b`, of their parents `p`.
 * @param groups table of groups: `p` when they are nested, keys, `n`, columns
 * @param names of the keys in it
 */
export function selectBuckets(
  { selection, keys, children }: BucketsAggregation,
  groups: Sql,
  names: readonly Sql[],
  owner: Owner,
  nested: boolean,
): Sql {
  const present = keys.flatMap(({ nullable }, index) =>
    nullable ? [] : [sql`${names[index] ?? raw("n")} IS NOT NULL`],
  );
  if (selection.kind === "all") {
    const order = joined(nested ? [raw("p"), ...names] : names, ", ");
    const p = raw(nested ? "" : "CAST(0 AS BIGINT) AS p, ");
    return sql`SELECT ${p}row_number() OVER (ORDER BY ${order}) AS b, * FROM ${groups} WHERE ${conjunction(present)} LIMIT ${LIMIT}`;
  }
  const first = names[0] ?? raw("n");
  if (selection.kind === "top") {
    const order = orderSql(selection.order, first, children.aggregations, owner);
    return topGroups(groups, conjunction(present), selection.minDocCount, order, selection.size, nested);
  }
  const order = joined(
    selection.orders.map(
      (term, index) => sql`${names[index] ?? raw("n")} ${raw(term.order)} NULLS ${raw(term.missing)}`,
    ),
    ", ",
  );
  const after = selection.after ? [selection.after(names)] : [];
  return topGroups(groups, conjunction([...present, ...after]), 0, order, selection.size, nested);
}

/** So many of each parent, by an order, beside the totals of all that are kept. */
function topGroups(
  groups: Sql,
  kept: Sql,
  minDocCount: number,
  order: Sql,
  size: number,
  nested: boolean,
): Sql {
  const most = sql`CAST(${BigInt(Math.min(size, MAX_BUCKETS + 1))} AS BIGINT)`;
  const enough = sql`n >= CAST(${BigInt(minDocCount)} AS BIGINT)`;
  const filter = minDocCount > 1 ? sql` FILTER (WHERE ${enough})` : raw("");
  const totals = (parent: Sql) =>
    sql`*, CAST(sum(n) OVER (${parent}) AS BIGINT) AS total, count(*)${filter} OVER (${parent}) AS groups`;
  if (!nested) {
    const counted = sql`SELECT CAST(0 AS BIGINT) AS p, ${totals(raw(""))} FROM ${groups} WHERE ${kept}`;
    const selected = minDocCount > 1 ? sql`SELECT * FROM (${counted}) WHERE ${enough}` : counted;
    return sql`SELECT row_number() OVER (ORDER BY ${order}) AS b, * FROM (${selected} ORDER BY ${order} LIMIT ${most})`;
  }
  const counted = sql`SELECT ${totals(raw("PARTITION BY p"))} FROM ${groups} WHERE ${kept}`;
  const selected = minDocCount > 1 ? sql`(SELECT * FROM (${counted}) WHERE ${enough})` : sql`(${counted})`;
  return sql`SELECT row_number() OVER (ORDER BY p, place) AS b, * FROM (
    SELECT *, row_number() OVER (PARTITION BY p ORDER BY ${order}) AS place FROM ${selected}) WHERE place <= ${most} LIMIT ${LIMIT}`;
}

function conjunction(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw("TRUE") : joined(conditions, " AND ");
}
