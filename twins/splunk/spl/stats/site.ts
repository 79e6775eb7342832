/** Where an aggregate is computed: in a GROUP BY, or over a window. */
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { orderTerms, orderValue, sortValue } from "../relation/order-keys.ts";
import type { Relation } from "../relation/relation.ts";

/** What makes a row first: its position, or its time. */
export type RowOrder = "rows" | "time";

export interface Site {
  /**
   * Applies an aggregate of DuckDB to the group or window.
   * @param aggregate `fsum(x)`
   * @param filter which rows count; default: all
   */
  call(aggregate: Sql, filter?: Sql): Sql;
  /** The value of the first (or last) row that has one; by `time`, the earliest comes first. */
  at(end: "first" | "last", value: Sql, order: RowOrder): Sql;
  /** All values in row order; NULL when there are none. */
  inOrder(value: Sql): Sql;
  /** `_time`, DOUBLE. */
  readonly time: Sql;
  /** Time span of the rows in seconds, for `per_second` and its like: DOUBLE. */
  readonly seconds: Sql;
  /** Time slots of `sparkline`; `undefined` when no aggregate is one. */
  readonly sparkline: SparklineParts | undefined;
  /** `allnum=t`: a single value that is no number makes numeric aggregates of its field NULL. */
  readonly onlyNumbers: boolean;
}

export interface SparklineParts {
  /** The slot of a row, from 0: BIGINT. */
  part(span: string | undefined): Sql;
  /** The number of slots. */
  count(span: string | undefined): number;
}

export interface SiteOptions {
  input: Relation;
  time: Sql;
  seconds?: Sql | undefined;
  sparkline?: SparklineParts | undefined;
  onlyNumbers?: boolean | undefined;
}

/** The site of a GROUP BY over the input's rows. */
export function groupSite({ input, time, seconds, sparkline, onlyNumbers = false }: SiteOptions): Site {
  const call: Site["call"] = (aggregate, filter) =>
    filter === undefined ? aggregate : sql`${aggregate} FILTER (WHERE ${filter})`;
  const rows = orderTerms(input.order);
  const byRow = orderValue(input.order);
  const byTime = sortValue([
    { value: time, direction: "DESC" },
    ...input.order.map((key) => ({ ...key, value: identifier(key.column) })),
  ]);
  return {
    call,
    at(end, value, order) {
      const place = order === "rows" ? byRow : byTime;
      // `byTime` sorts the latest row first.
      const first = (order === "rows") === (end === "first");
      const found =
        place === undefined
          ? sql`${raw(first ? "first" : "last")}(${value})`
          : sql`${raw(first ? "arg_min" : "arg_max")}(${value}, ${place})`;
      const hasValue = sql`${value} IS NOT NULL`;
      return call(found, order === "rows" ? hasValue : sql`${hasValue} AND ${time} IS NOT NULL`);
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
 * The site of a window over numbered rows.
 * @param number BIGINT: the row number that orders the window
 * @param window the clause after OVER
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
      const hasValue = sql`${value} IS NOT NULL`;
      if (order === "rows") {
        const name = raw(end === "first" ? "arg_min" : "arg_max");
        return call(sql`${name}(${value}, ${number})`, hasValue);
      }
      // Among rows of the same time, the first row is the latest.
      const name = raw(end === "first" ? "arg_min" : "arg_max");
      const key = sql`{'time': ${time}, 'row': - ${number}}`;
      return call(sql`${name}(${value}, ${key})`, sql`${hasValue} AND ${time} IS NOT NULL`);
    },
    inOrder: (value) => call(sql`list(${value} ORDER BY ${number})`, sql`${value} IS NOT NULL`),
    time,
    seconds: seconds ?? sql`(${call(sql`max(${time})`)} - ${call(sql`min(${time})`)})`,
    sparkline,
    onlyNumbers,
  };
}
