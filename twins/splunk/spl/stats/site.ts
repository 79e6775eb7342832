/** Where an aggregate stands: in a GROUP BY, or over a window of rows. */
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { orderBy, orderValue, sortValue } from "../relation/order-keys.ts";
import type { Relation } from "../relation/relation.ts";

/** By what rows come first. */
export type RowOrder = "rows" | "time";

export interface Site {
  /**
   * An aggregate of DuckDB on the rows of the group or the window.
   * @param aggregate `fsum(x)`
   * @param filter the rows that count; all when absent
   */
  call(aggregate: Sql, filter?: Sql): Sql;
  /** The value of the first (or the last) row that has one. `time`: by `_time`, where the earliest comes first. */
  at(end: "first" | "last", value: Sql, order: RowOrder): Sql;
  /** All values, as rows come; NULL when there are none. */
  inOrder(value: Sql): Sql;
  /** `_time`, DOUBLE. */
  readonly time: Sql;
  /** Seconds that the rows span, for `per_second` and its like: DOUBLE. */
  readonly seconds: Sql;
  /** Parts of the time for `sparkline`. */
  readonly sparkline: SparklineParts | undefined;
  /** Whether a field that has a value that is no number has no numeric statistics. */
  readonly onlyNumbers: boolean;
}

export interface SparklineParts {
  /** Number of the part that a row is in, from 0: INTEGER. */
  part(span: string | undefined): Sql;
  /** How many parts there are. */
  count(span: string | undefined): number;
}

export interface SiteOptions {
  input: Relation;
  time: Sql;
  seconds?: Sql | undefined;
  sparkline?: SparklineParts | undefined;
  onlyNumbers?: boolean | undefined;
}

/** In a GROUP BY of the input's rows. */
export function groupSite({ input, time, seconds, sparkline, onlyNumbers = false }: SiteOptions): Site {
  const call: Site["call"] = (aggregate, filter) =>
    filter === undefined ? aggregate : sql`${aggregate} FILTER (WHERE ${filter})`;
  const rows = orderBy(input.order);
  const byRow = orderValue(input.order);
  const byTime = sortValue([
    { value: time, direction: "DESC" },
    ...input.order.map((key) => ({ ...key, value: identifier(key.column) })),
  ]);
  return {
    call,
    at(end, value, order) {
      const place = order === "rows" ? byRow : byTime;
      // By time, the rows that come first are the latest.
      const first = (order === "rows") === (end === "first");
      const found =
        place === undefined
          ? sql`${raw(first ? "first" : "last")}(${value})`
          : sql`${raw(first ? "arg_min" : "arg_max")}(${value}, ${place})`;
      const has = sql`${value} IS NOT NULL`;
      return call(found, order === "rows" ? has : sql`${has} AND ${time} IS NOT NULL`);
    },
    inOrder(value) {
      const ordered = rows === undefined ? sql`list(${value})` : sql`list(${value} ORDER BY ${rows})`;
      return call(ordered, sql`${value} IS NOT NULL`);
    },
    time,
    seconds: seconds ?? sql`(max(${time}) - min(${time}))`,
    sparkline,
    onlyNumbers,
  };
}

/**
 * Over a window of rows that have a number each.
 * @param number BIGINT: the number of the row; windows are in its order
 * @param window what stands behind OVER
 */
export function windowSite(
  { time, seconds, sparkline, onlyNumbers = false }: SiteOptions,
  number: Sql,
  window: Sql,
): Site {
  const call: Site["call"] = (aggregate, filter) => {
    const filtered = filter === undefined ? aggregate : sql`${aggregate} FILTER (WHERE ${filter})`;
    return sql`(${filtered} OVER ${window})`;
  };
  return {
    call,
    at(end, value, order) {
      const has = sql`${value} IS NOT NULL`;
      if (order === "rows") {
        const name = raw(end === "first" ? "arg_min" : "arg_max");
        return call(sql`${name}(${value}, ${number})`, has);
      }
      // Of rows of the same time, the one that comes first is the latest.
      const name = raw(end === "first" ? "arg_min" : "arg_max");
      const key = sql`{'time': ${time}, 'row': - ${number}}`;
      return call(sql`${name}(${value}, ${key})`, sql`${has} AND ${time} IS NOT NULL`);
    },
    inOrder: (value) => call(sql`list(${value} ORDER BY ${number})`, sql`${value} IS NOT NULL`),
    time,
    seconds: seconds ?? sql`(${call(sql`max(${time})`)} - ${call(sql`min(${time})`)})`,
    sparkline,
    onlyNumbers,
  };
}
