/** Counts the events of a search over time. */

import { pruneColumns } from "@offhook/log-store/column-pruning";
import { type CalendarUnit, floorTo, plus } from "@offhook/log-store/dates/calendar";
import { findTimeZone, utc } from "@offhook/log-store/dates/time-zone";
import { identifier, sql } from "@offhook/log-store/sql";
import type { LogReader, QueryOptions } from "@offhook/log-store/store/log-store";
import { columnOf, type Relation } from "../spl/relation/relation.ts";

export interface Bucket {
  readonly startMs: number;
  readonly endMs: number;
  readonly count: number;
}

export interface TimelineOptions extends QueryOptions {
  /** Milliseconds since the epoch; `toMs` is excluded. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly maxBuckets: number;
  readonly timeZone: string;
}

/** Length of the only bucket when all events happened at one moment. */
const MOMENT_MS = 1;

/** Bucket lengths, the shortest first; `countedS`: seconds that SQL counts together. */
const units: readonly { unit: CalendarUnit; countedS: number }[] = [
  { unit: "second", countedS: 1 },
  { unit: "minute", countedS: 60 },
  // Time zone offsets are multiples of a quarter hour.
  { unit: "hour", countedS: 900 },
  { unit: "day", countedS: 900 },
  { unit: "month", countedS: 900 },
  { unit: "year", countedS: 900 },
];

/** Picks the shortest bucket length that needs at most `maxBuckets` buckets; empty buckets are included. */
export async function timeline(
  store: LogReader,
  events: Relation,
  { fromMs, toMs, maxBuckets, timeZone, ...options }: TimelineOptions,
): Promise<Bucket[]> {
  const column = columnOf(events, "_time");
  if (column === undefined || toMs <= fromMs) return [];
  if (toMs - fromMs === MOMENT_MS) {
    const { rows } = await store.query(
      pruneColumns(sql`SELECT count(*) FROM (${events.select}) AS r`),
      options,
    );
    return [{ startMs: fromMs, endMs: toMs, count: Number(rows[0]?.[0] ?? 0) }];
  }
  const chosen = units
    .map(({ unit, countedS }) => ({
      starts: bucketStarts(unit, fromMs, toMs, maxBuckets, timeZone),
      countedS,
    }))
    .find(({ starts }) => starts !== undefined);
  if (chosen?.starts === undefined) return [];
  const { starts, countedS } = chosen;
  const time = sql`TRY_CAST(${identifier(column.column)} AS DOUBLE)`;
  const { rows } = await store.query(
    pruneColumns(
      sql`SELECT CAST(floor(t / ${countedS}) AS BIGINT) AS k, count(*) FROM (SELECT ${time} AS t FROM (${events.select}) AS r)
      WHERE t >= ${fromMs / 1000} AND t < ${toMs / 1000} GROUP BY k`,
    ),
    options,
  );
  const counts = new Array<number>(Math.max(0, starts.length - 1)).fill(0);
  for (const [key, count] of rows) {
    const place = findBucket(starts, Math.max(Number(key) * countedS * 1000, fromMs));
    counts[place] = (counts[place] ?? 0) + Number(count);
  }
  return counts.map((count, index) => ({
    startMs: starts[index] ?? 0,
    endMs: starts[index + 1] ?? 0,
    count,
  }));
}

/** The starts of all buckets, and the end of the last; `undefined` when there are more than `max`. */
function bucketStarts(
  unit: CalendarUnit,
  fromMs: number,
  toMs: number,
  max: number,
  timeZone: string,
): number[] | undefined {
  const zone = findTimeZone(timeZone) ?? utc;
  let local = floorTo(fromMs + zone.offsetAt(fromMs), unit);
  const starts = [zone.toEpoch(local)];
  while ((starts.at(-1) ?? toMs) < toMs) {
    if (starts.length > max) return undefined;
    local = plus(local, 1, unit);
    starts.push(zone.toEpoch(local));
  }
  return starts;
}

/** Index of the bucket that contains a moment. */
function findBucket(starts: readonly number[], timeMs: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high - 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= timeMs) low = middle;
    else high = middle;
  }
  return low;
}
