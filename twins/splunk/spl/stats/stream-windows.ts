/** The windows of `streamstats`: which rows before a row are looked at. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { type Relation, withHidden } from "../relation/relation.ts";
import { allPresent, rowNumber } from "./windowed.ts";

export interface StreamWindow {
  /** Whether the row itself is in its window. */
  current: boolean;
  /** Rows of a window; 0: all of them. */
  size: number;
  /** Whether the rows of other groups take places in the window. */
  global: boolean;
  /** Seconds. */
  timeWindow: number | undefined;
}

export interface StreamRows {
  /** With the columns that the window reads. */
  rows: Relation;
  /** What stands behind OVER. */
  window: Sql;
}

/** Times are told apart by that. */
const SHORTEST_S = 1e-6;
const segment = identifier("#segment");
const place = identifier("#place");
const reach = identifier("#reach");

/**
 * @param rows numbered
 * @param keys of the groups
 * @param resets columns that say how often all was forgotten before this row
 */
export function streamWindow(
  rows: Relation,
  keys: readonly Sql[],
  resets: readonly Sql[],
  time: Sql,
  { current, size, global, timeWindow }: StreamWindow,
): StreamRows {
  const segments = resets.length === 0 ? raw("0") : joined(resets, " + ");
  const segmented = withHidden(rows, "#segment", segments);
  const partition = sql`PARTITION BY ${joined([segment, ...keys], ", ")}`;
  const last = raw(current ? "CURRENT ROW" : "1 PRECEDING");
  const before = (rest: Sql) => sql`(${partition} ORDER BY ${rest} AND ${last})`;
  if (timeWindow !== undefined) {
    const placed = withHidden(
      segmented,
      "#place",
      sql`row_number() OVER (${partition} ORDER BY ${rowNumber})`,
    );
    // Rows are in the order of their times, either way: those that are near and came before begin with the first that is near.
    // What is as old as the window is long is out of it.
    const seconds = sql`CAST(${Math.max(timeWindow - SHORTEST_S, 0)} AS DOUBLE)`;
    const near = sql`(${partition} ORDER BY ${time} RANGE BETWEEN ${seconds} PRECEDING AND ${seconds} FOLLOWING)`;
    const first = sql`coalesce(min(${place}) OVER ${near}, ${place})`;
    const sinceFirst = sql`greatest(${place} - ${first}, 0)`;
    const most = sql`CAST(${size - (current ? 1 : 0)} AS BIGINT)`;
    const reached = withHidden(
      placed,
      "#reach",
      size === 0 ? sinceFirst : sql`least(${sinceFirst}, ${most})`,
    );
    return { rows: reached, window: before(sql`${rowNumber} ROWS BETWEEN ${reach} PRECEDING`) };
  }
  if (size === 0)
    return { rows: segmented, window: before(sql`${rowNumber} ROWS BETWEEN UNBOUNDED PRECEDING`) };
  const count = raw(String(current ? size - 1 : size));
  if (keys.length === 0 || !global) {
    return { rows: segmented, window: before(sql`${rowNumber} ROWS BETWEEN ${count} PRECEDING`) };
  }
  const counted = sql`${countOf(allPresent(keys))} OVER (PARTITION BY ${segment} ORDER BY ${rowNumber} ROWS UNBOUNDED PRECEDING)`;
  const placed = withHidden(segmented, "#place", counted);
  const end = current ? raw("CURRENT ROW") : raw("1 PRECEDING");
  return {
    rows: placed,
    window: sql`(${partition} ORDER BY ${place} RANGE BETWEEN ${count} PRECEDING AND ${end})`,
  };
}

/** Over a window. DuckDB looks at each row of each window to answer `count(*) FILTER`. */
function countOf(condition: Sql): Sql {
  return sql`count(CASE WHEN ${condition} THEN 1 END)`;
}

/** A counter of the rows so far at which all is forgotten. @param after only from the row after on */
export function resetCount(condition: Sql, after: boolean): Sql {
  const end = raw(after ? "1 PRECEDING" : "CURRENT ROW");
  return sql`(${countOf(condition)} OVER (ORDER BY ${rowNumber} ROWS BETWEEN UNBOUNDED PRECEDING AND ${end}))`;
}

/** The rows with a column that says whether the group is another than that of the row before; rows without group do not count. */
export function withGroupChanges(rows: Relation, keys: readonly Sql[]): { rows: Relation; changed: Sql } {
  const changed = identifier("#changed");
  const group = identifier("#group");
  const entries = keys.map((key, index) => sql`${raw(`'k${index}'`)}: ${key}`);
  const key = sql`CASE WHEN ${allPresent(keys)} THEN {${joined(entries, ", ")}} END`;
  const grouped = withHidden(rows, "#group", key);
  const before = sql`lag(${group} IGNORE NULLS) OVER (ORDER BY ${rowNumber})`;
  const differs = sql`(${group} IS NOT NULL AND ${before} IS NOT NULL AND ${group} IS DISTINCT FROM ${before})`;
  return { rows: withHidden(grouped, "#changed", differs), changed };
}
