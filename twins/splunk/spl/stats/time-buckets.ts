/** Buckets of `_time`: `span=5m`, `span=1d`, `span=1mon`. */
import { DAY_MS, dateMs } from "@offhook/log-store/dates/calendar";
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { transitionsOf } from "@offhook/log-store/dates/transitions";
import { offsetSql } from "@offhook/log-store/dates/zone-sql";
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { bindOnce } from "../relation/typed.ts";
import { parseTimeSpan, type TimeSpan } from "./span.ts";

export interface TimeBuckets {
  /** SQL for the start of a moment's bucket: seconds since the epoch, DOUBLE. */
  bucket(seconds: Sql): Sql;
  /** The start of a moment's bucket, seconds since the epoch. */
  start(seconds: number): number;
  /** The start of the next bucket. */
  next(start: number): number;
  /** Length of a bucket; for calendar units, the usual length. */
  readonly spanSeconds: number;
  /** Length in days, for spans of days and weeks. */
  readonly spanDays: number | undefined;
}

interface Zone extends BucketOptions {
  timeZone: TimeZone;
}

const months = lookupTable<number>({ month: 1, quarter: 3, year: 12 });
const MEAN_MONTH_DAYS = 30;

export interface BucketOptions {
  /** A moment at which a bucket begins, seconds; only for spans of hours and less. */
  origin?: number;
  /** Range of all moments in seconds, if known: limits the daylight-saving changes that the SQL has to consider. */
  extent?: { least: number; greatest: number } | undefined;
}

export function timeBuckets(span: TimeSpan, timeZone: TimeZone, options: BucketOptions = {}): TimeBuckets {
  const zone: Zone = { ...options, timeZone };
  const { count, unit, snap } = span;
  if (unit.kind === "fixed") {
    const seconds = (count * unit.ms) / 1000;
    if (snap?.unit.kind === "calendar") return localBuckets(count * unit.ms, 0, zone, undefined);
    return fixedBuckets(seconds, options.origin ?? 0);
  }
  const monthCount = months[unit.unit];
  if (monthCount !== undefined) return monthBuckets(count * monthCount, zone);
  const days = unit.unit === "week" ? count * 7 : count;
  // The epoch was a Thursday, the fifth day of a week that begins on Sunday.
  const snapsToWeek = snap?.unit.kind === "calendar" && snap.unit.unit === "week";
  const shiftDays = snapsToWeek ? snap.weekday - 4 : 0;
  return localBuckets(days * DAY_MS, shiftDays * DAY_MS, zone, days);
}

function fixedBuckets(size: number, origin: number): TimeBuckets {
  // Counts whole microseconds, because fractions of a second would not divide evenly.
  const micros = size < 1;
  const start = (seconds: number) =>
    micros
      ? (Math.floor(Math.round((seconds - origin) * 1e6) / (size * 1e6)) * Math.round(size * 1e6)) / 1e6 +
        origin
      : Math.floor((seconds - origin) / size) * size + origin;
  const length = sql`CAST(${micros ? Math.round(size * 1e6) : size} AS DOUBLE)`;
  const from = sql`CAST(${origin} AS DOUBLE)`;
  return {
    bucket(seconds) {
      const since = origin === 0 ? seconds : sql`(${seconds} - ${from})`;
      const floor = micros
        ? sql`(floor(round(${since} * 1000000) / ${length}) * ${length} / 1000000)`
        : sql`(floor(${since} / ${length}) * ${length})`;
      return origin === 0 ? floor : sql`(${floor} + ${from})`;
    },
    start,
    next: (at) => start(at + size * 1.5),
    spanSeconds: size,
    spanDays: undefined,
  };
}

/** Buckets that are multiples of a length in local time. */
function localBuckets(
  sizeMs: number,
  shiftMs: number,
  zone: Zone,
  spanDays: number | undefined,
): TimeBuckets {
  const floor = (localMs: number) => Math.floor((localMs - shiftMs) / sizeMs) * sizeMs + shiftMs;
  const size = raw(String(sizeMs));
  const shift = raw(String(shiftMs));
  return calendarBuckets(zone, {
    floor,
    step: (localMs) => localMs + sizeMs,
    floorSql: (localMs) => sql`(floor((${localMs} - (${shift})) / ${size}) * ${size} + (${shift}))`,
    spanSeconds: sizeMs / 1000,
    spanDays,
  });
}

function monthBuckets(count: number, zone: Zone): TimeBuckets {
  const monthOf = (localMs: number) => {
    const date = new Date(localMs);
    return date.getUTCFullYear() * 12 + date.getUTCMonth();
  };
  const startOf = (month: number) => dateMs(Math.floor(month / 12), (((month % 12) + 12) % 12) + 1, 1);
  const step = raw(String(count));
  return calendarBuckets(zone, {
    floor: (localMs) => startOf(Math.floor(monthOf(localMs) / count) * count),
    step: (localMs) => startOf(monthOf(localMs) + count),
    floorSql: (localMs) =>
      bindOnce(sql`make_timestamp_ms(CAST(floor(${localMs}) AS BIGINT))`, (at) =>
        bindOnce(
          sql`((year(${at}) * 12 + month(${at}) - 1) // ${step} * ${step})`,
          (month) => sql`epoch_ms(CAST(make_date(${month} // 12, ${month} % 12 + 1, 1) AS TIMESTAMP))`,
        ),
      ),
    spanSeconds: (count * MEAN_MONTH_DAYS * DAY_MS) / 1000,
    spanDays: undefined,
  });
}

interface LocalSteps extends Pick<TimeBuckets, "spanSeconds" | "spanDays"> {
  /** The bucket's start; local milliseconds. */
  floor(localMs: number): number;
  step(localMs: number): number;
  floorSql(localMs: Sql): Sql;
}

function calendarBuckets(
  zone: Zone,
  { floor, step, floorSql, spanSeconds, spanDays }: LocalSteps,
): TimeBuckets {
  const { timeZone } = zone;
  const local = (seconds: number) => seconds * 1000 + timeZone.offsetAt(seconds * 1000);
  return {
    bucket: (seconds) =>
      bindOnce(sql`(${seconds} * 1000)`, (epochMs) =>
        bindOnce(
          sql`(${epochMs} + ${localOffset(epochMs, zone)})`,
          (at) => sql`(${toEpochSql(floorSql(at), zone)} / 1000)`,
        ),
      ),
    start: (seconds) => timeZone.toEpoch(floor(local(seconds))) / 1000,
    next: (start) => timeZone.toEpoch(step(floor(local(start)))) / 1000,
    spanSeconds,
    spanDays,
  };
}

/** Local time to epoch milliseconds. A first guess with the offset at `localMs` as if it were UTC gives the moment whose offset counts. */
function toEpochSql(localMs: Sql, zone: Zone): Sql {
  return bindOnce(localMs, (at) =>
    bindOnce(sql`(${at} - ${localOffset(at, zone)})`, (about) => sql`(${at} - ${localOffset(about, zone)})`),
  );
}

/** A bucket starts at most this long before its content: milliseconds. */
const MARGIN_MS = 400 * DAY_MS;

/** Offset of local time from UTC at a moment within the extent, or at the start of its bucket. */
function localOffset(epochMs: Sql, { timeZone, extent }: Zone): Sql {
  if (timeZone.fixedOffsetMs !== undefined || extent === undefined) return offsetSql(epochMs, timeZone);
  const from = extent.least * 1000 - MARGIN_MS;
  const changes = transitionsOf(timeZone).filter(
    ({ atMs }) => atMs > from && atMs < extent.greatest * 1000 + DAY_MS,
  );
  if (changes.length > MAX_INLINE_CHANGES) return offsetSql(epochMs, timeZone);
  const branches = changes.map(
    ({ atMs, offsetMs }) => sql`WHEN ${epochMs} >= ${raw(String(atMs))} THEN ${raw(String(offsetMs))}`,
  );
  const before = raw(String(timeZone.offsetAt((changes[0]?.atMs ?? from + 1) - 1)));
  if (branches.length === 0) return before;
  return sql`CASE ${joined(branches.reverse(), " ")} ELSE ${before} END`;
}

const MAX_INLINE_CHANGES = 20;

/** Spans to choose from when none is given. */
const AUTOMATIC_SPANS = ["1s", "5s", "10s", "30s", "1m", "5m", "10m", "30m", "1h", "1d", "1mon", "1y"];

/** The smallest of these spans that needs at most `bins` buckets. */
export function automaticSpan(seconds: number, bins: number, minSpanSeconds = 0): TimeSpan {
  const spans = AUTOMATIC_SPANS.map((text) => parseTimeSpan(text)).filter((span) => span !== undefined);
  const fits = spans.find((span) => {
    const size = approximateSeconds(span);
    return size >= minSpanSeconds && seconds / size <= bins;
  });
  const last = spans.at(-1);
  if (fits !== undefined) return fits;
  if (last === undefined) throw new Error("there are no usual spans");
  return last;
}

export function approximateSeconds({ count, unit }: TimeSpan): number {
  if (unit.kind === "fixed") return (count * unit.ms) / 1000;
  const days = { day: 1, week: 7, month: MEAN_MONTH_DAYS, quarter: 91, year: 365 }[unit.unit];
  return (count * days * DAY_MS) / 1000;
}
