/** Selects the groups that become buckets, and numbers them. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { BucketsAggregation } from "./aggregation.ts";
import { MAX_BUCKETS } from "./errors.ts";
import { orderSql } from "./order.ts";
import type { Owner } from "./places.ts";

/** One above the maximum, so that an excess is detected. */
const LIMIT = raw(String(MAX_BUCKETS + 1));

/**
 * Numbers groups as `b`, and their parents as `p`.
 * @param groups table of groups: `p` when nested, keys, `n`, columns
 * @param names of the keys in that table
 */
export function selectBuckets(
  { selection, keys, children }: BucketsAggregation,
  groups: Sql,
  names: readonly Sql[],
  owner: Owner,
  { nested }: Nesting,
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
    const { minDocCount, size } = selection;
    return topGroups(groups, conjunction(present), { minDocCount, order, size, nested });
  }
  const order = joined(
    selection.orders.map(
      (term, index) => sql`${names[index] ?? raw("n")} ${raw(term.order)} NULLS ${raw(term.missing)}`,
    ),
    ", ",
  );
  const after = selection.after ? [selection.after(names)] : [];
  const condition = conjunction([...present, ...after]);
  return topGroups(groups, condition, { minDocCount: 0, order, size: selection.size, nested });
}

interface Nesting {
  /** Whether the groups have parent buckets. */
  readonly nested: boolean;
}

interface TopGroups extends Nesting {
  readonly minDocCount: number;
  readonly order: Sql;
  /** For each parent. */
  readonly size: number;
}

/** Selects the first groups of each parent, with the totals over all groups that meet the condition. */
function topGroups(groups: Sql, condition: Sql, { minDocCount, order, size, nested }: TopGroups): Sql {
  const limit = sql`CAST(${BigInt(Math.min(size, MAX_BUCKETS + 1))} AS BIGINT)`;
  const hasMinDocCount = sql`n >= CAST(${BigInt(minDocCount)} AS BIGINT)`;
  const filter = minDocCount > 1 ? sql` FILTER (WHERE ${hasMinDocCount})` : raw("");
  const totals = (parent: Sql) =>
    sql`*, CAST(sum(n) OVER (${parent}) AS BIGINT) AS total, count(*)${filter} OVER (${parent}) AS groups`;
  if (!nested) {
    const counted = sql`SELECT CAST(0 AS BIGINT) AS p, ${totals(raw(""))} FROM ${groups} WHERE ${condition}`;
    const selected = minDocCount > 1 ? sql`SELECT * FROM (${counted}) WHERE ${hasMinDocCount}` : counted;
    return sql`SELECT row_number() OVER (ORDER BY ${order}) AS b, * FROM (${selected} ORDER BY ${order} LIMIT ${limit})`;
  }
  const counted = sql`SELECT ${totals(raw("PARTITION BY p"))} FROM ${groups} WHERE ${condition}`;
  const selected =
    minDocCount > 1 ? sql`(SELECT * FROM (${counted}) WHERE ${hasMinDocCount})` : sql`(${counted})`;
  return sql`SELECT row_number() OVER (ORDER BY p, place) AS b, * FROM (
    SELECT *, row_number() OVER (PARTITION BY p ORDER BY ${order}) AS place FROM ${selected}) WHERE place <= ${limit} LIMIT ${LIMIT}`;
}

function conjunction(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw("TRUE") : joined(conditions, " AND ");
}
