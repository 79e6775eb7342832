/** Limits events to a time range: `_time` from the earliest on and before the latest. */
import { joined, raw, sql } from "@offhook/log-store/sql";
import { columnOf, fieldValue, filter, type Relation } from "../spl/relation/relation.ts";
import type { Rows } from "../spl/relation/rows.ts";
import { numberOf } from "../spl/relation/typed.ts";
import type { TimeRange } from "../spl/time/time-range.ts";

/** Leaves out events without a `_time`, unless the range is open on both ends. */
export function filterByTime(events: Relation, { earliestMs, latestMs }: TimeRange): Relation {
  if (earliestMs === undefined && latestMs === undefined) return events;
  const column = columnOf(events, "_time");
  if (column === undefined) return filter(events, raw("FALSE"));
  const time = numberOf(fieldValue(column));
  const from = earliestMs === undefined ? [] : [sql`${time} >= ${earliestMs / 1000}`];
  const to = latestMs === undefined ? [] : [sql`${time} < ${latestMs / 1000}`];
  return filter(events, joined([...from, ...to], " AND "));
}

/** Like `filterByTime`, for fetched rows. */
export function filterRowsByTime(events: Rows, { earliestMs, latestMs }: TimeRange): Rows {
  if (earliestMs === undefined && latestMs === undefined) return events;
  const place = events.fields.findIndex(({ name }) => name === "_time");
  const rows = events.rows.filter((row) => {
    const value = row[place];
    if (value === undefined || value === null) return false;
    const seconds = Number(value);
    const isLate = earliestMs === undefined || seconds >= earliestMs / 1000;
    return isLate && (latestMs === undefined || seconds < latestMs / 1000);
  });
  return { ...events, rows };
}
