/** The windows of `streamstats`: which preceding rows an aggregate covers. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { type Relation, withHiddenColumn } from "../relation/relation.ts";
import { allPresent, rowNumber } from "./window-aggregates.ts";

export interface StreamWindow {
  /** Whether the window includes the row itself. */
  current: boolean;
  /** Rows in the window; 0: unbounded. */
  size: number;
  /** Whether rows of other groups use up the window's size. */
  global: boolean;
  /** Length in seconds. */
  timeWindow: number | undefined;
}

export interface StreamRows {
  /** The input with the hidden columns that the window reads. */
  rows: Relation;
  /** The clause after OVER. */
  window: Sql;
}

/** Smallest difference between two times. */
const TIME_RESOLUTION_S = 1e-6;
const segment = identifier("#segment");
const place = identifier("#place");
const reach = identifier("#reach");

/**
 * @param rows with row numbers
 * @param keys of the BY fields
 * @param resets counters of the resets before each row
 */
export function streamWindow(
  rows: Relation,
  keys: readonly Sql[],
  resets: readonly Sql[],
  time: Sql,
  { current, size, global, timeWindow }: StreamWindow,
): StreamRows {
  const segments = resets.length === 0 ? raw("0") : joined(resets, " + ");
  const withSegments = withHiddenColumn(rows, "#segment", segments);
  const partition = sql`PARTITION BY ${joined([segment, ...keys], ", ")}`;
  const last = raw(current ? "CURRENT ROW" : "1 PRECEDING");
  const before = (rest: Sql) => sql`(${partition} ORDER BY ${rest} AND ${last})`;
  if (timeWindow !== undefined) {
    const withPlaces = withHiddenColumn(
      withSegments,
      "#place",
      sql`row_number() OVER (${partition} ORDER BY ${rowNumber})`,
    );
    // Rows are sorted by time, ascending or descending, so the window starts at the first row that is near in time. A row exactly
    // as old as the window is long lies outside of it.
    const seconds = sql`CAST(${Math.max(timeWindow - TIME_RESOLUTION_S, 0)} AS DOUBLE)`;
    const near = sql`(${partition} ORDER BY ${time} RANGE BETWEEN ${seconds} PRECEDING AND ${seconds} FOLLOWING)`;
    const first = sql`coalesce(min(${place}) OVER ${near}, ${place})`;
    const sinceFirst = sql`greatest(${place} - ${first}, 0)`;
    const maxBefore = sql`CAST(${size - (current ? 1 : 0)} AS BIGINT)`;
    const withReach = withHiddenColumn(
      withPlaces,
      "#reach",
      size === 0 ? sinceFirst : sql`least(${sinceFirst}, ${maxBefore})`,
    );
    return { rows: withReach, window: before(sql`${rowNumber} ROWS BETWEEN ${reach} PRECEDING`) };
  }
  if (size === 0)
    return { rows: withSegments, window: before(sql`${rowNumber} ROWS BETWEEN UNBOUNDED PRECEDING`) };
  const count = raw(String(current ? size - 1 : size));
  if (keys.length === 0 || !global) {
    return { rows: withSegments, window: before(sql`${rowNumber} ROWS BETWEEN ${count} PRECEDING`) };
  }
  const counted = sql`${countWhere(allPresent(keys))} OVER (PARTITION BY ${segment} ORDER BY ${rowNumber} ROWS UNBOUNDED PRECEDING)`;
  const withPlaces = withHiddenColumn(withSegments, "#place", counted);
  const end = current ? raw("CURRENT ROW") : raw("1 PRECEDING");
  return {
    rows: withPlaces,
    window: sql`(${partition} ORDER BY ${place} RANGE BETWEEN ${count} PRECEDING AND ${end})`,
  };
}

/** Counts over a window. Not `count(*) FILTER`: for that, DuckDB scans every row of every window. */
function countWhere(condition: Sql): Sql {
  return sql`count(CASE WHEN ${condition} THEN 1 END)`;
}

/** How many resets there were so far. @param position whether a matching row resets before itself or after itself */
export function resetCount(condition: Sql, position: "before" | "after"): Sql {
  const end = raw(position === "after" ? "1 PRECEDING" : "CURRENT ROW");
  return sql`(${countWhere(condition)} OVER (ORDER BY ${rowNumber} ROWS BETWEEN UNBOUNDED PRECEDING AND ${end}))`;
}

/** Adds a column: whether the group differs from that of the preceding row. Rows without a group are skipped. */
export function withGroupChanges(rows: Relation, keys: readonly Sql[]): { rows: Relation; changed: Sql } {
  const changed = identifier("#changed");
  const group = identifier("#group");
  const entries = keys.map((key, index) => sql`${raw(`'k${index}'`)}: ${key}`);
  const key = sql`CASE WHEN ${allPresent(keys)} THEN {${joined(entries, ", ")}} END`;
  const withGroups = withHiddenColumn(rows, "#group", key);
  const before = sql`lag(${group} IGNORE NULLS) OVER (ORDER BY ${rowNumber})`;
  const differs = sql`(${group} IS NOT NULL AND ${before} IS NOT NULL AND ${group} IS DISTINCT FROM ${before})`;
  return { rows: withHiddenColumn(withGroups, "#changed", differs), changed };
}
