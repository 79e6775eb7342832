/**
 * Dates rounded down to calendar or fixed intervals, in a time zone.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/search-aggregations-bucket-datehistogram-aggregation.html
 */
import { raw, type Sql, sql } from "../../datasets/sql.ts";
import { type CalendarUnit, floorTo, plus } from "../dates/calendar.ts";
import type { TimeZone } from "../dates/time-zone.ts";
import { transitionsOf } from "../dates/transitions.ts";
import { argumentError } from "./errors.ts";
import type { Options } from "./options.ts";

export interface Rounding {
  /** What groups moments (milliseconds, BIGINT) that round to the same. */
  group(epochMs: Sql): Sql;
  /** The rounded moment of a group. */
  moment(group: number): number;
  /** The group of a rounded moment. */
  groupOf(moment: number): number;
  /** The rounded moment after another. */
  next(moment: number): number;
  round(epochMs: number): number;
}

const calendarUnits: Record<string, CalendarUnit> = {
  "1s": "second",
  second: "second",
  "1m": "minute",
  minute: "minute",
  "1h": "hour",
  hour: "hour",
  "1d": "day",
  day: "day",
  "1w": "week",
  week: "week",
  "1M": "month",
  month: "month",
  "1q": "quarter",
  quarter: "quarter",
  "1y": "year",
  year: "year",
};

const HOUR_MS = 3_600_000;
const timeUnits: Record<string, number> = {
  nanos: 1e-6,
  micros: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
  d: 24 * HOUR_MS,
};

/** Reads `calendar_interval` or `fixed_interval`, and `offset`. */
export function readRounding(options: Options, zone: TimeZone): Rounding {
  const calendar = options.text("calendar_interval");
  const fixed = options.text("fixed_interval");
  const offsetMs = readOffset(options);
  if (calendar !== undefined && fixed !== undefined) {
    throw argumentError("Cannot use [fixed_interval] with [calendar_interval] configuration option.");
  }
  if (calendar !== undefined) {
    const unit = calendarUnits[calendar];
    if (unit) return shifted(calendarRounding(unit, zone), offsetMs);
    throw argumentError(`The supplied interval [${calendar}] could not be parsed as a calendar interval.`);
  }
  if (fixed === undefined) throw argumentError("Invalid interval specified, must be non-null and non-empty");
  const intervalMs = Math.floor(readDuration(fixed, "date_histogram.fixedInterval"));
  if (intervalMs < 1) {
    throw argumentError("Zero or negative time interval not supported");
  }
  return shifted(fixedRounding(intervalMs, zone), offsetMs);
}

/** A time value such as `90m`, in milliseconds. */
export function readDuration(text: string, setting: string): number {
  const match = /^([+-]?\d+)(nanos|micros|ms|s|m|h|d)$/i.exec(text.trim());
  // A capital M would be months, which are no duration.
  const unit = match?.[2] === "M" ? undefined : timeUnits[(match?.[2] ?? "").toLowerCase()];
  if (match && unit !== undefined) return Number(match[1]) * unit;
  if (/^\d+\.\d+/.test(text)) {
    throw argumentError(`failed to parse [${text}], fractional time values are not supported`);
  }
  throw argumentError(
    `failed to parse setting [${setting}] with value [${text}] as a time value: unit is missing or unrecognized`,
  );
}

function readOffset(options: Options): number {
  const offset = options.any("offset");
  if (offset === undefined || typeof offset === "number") return offset ?? 0;
  const text = options.text("offset") ?? "";
  return /^[+-]?\d+$/.test(text)
    ? Number(text)
    : Math.trunc(readDuration(text, "DateHistogramAggregationBuilder.parseOffset"));
}

function shifted(rounding: Rounding, offsetMs: number): Rounding {
  if (offsetMs === 0) return rounding;
  return {
    group: (epochMs) => rounding.group(sql`(${epochMs} - CAST(${BigInt(offsetMs)} AS BIGINT))`),
    moment: (group) => rounding.moment(group) + offsetMs,
    groupOf: (moment) => rounding.groupOf(moment - offsetMs),
    next: (moment) => rounding.next(moment - offsetMs) + offsetMs,
    round: (epochMs) => rounding.round(epochMs - offsetMs) + offsetMs,
  };
}

function calendarRounding(unit: CalendarUnit, zone: TimeZone): Rounding {
  if (unit === "hour" || unit === "minute" || unit === "second") {
    return instantRounding(unit === "hour" ? HOUR_MS : unit === "minute" ? 60_000 : 1_000, zone);
  }
  return localRounding(
    zone,
    (localMs) => floorTo(localMs, unit),
    (localMs) => plus(localMs, 1, unit),
    (localMs) => truncated(localMs, unit),
  );
}

/** Intervals of more than an hour go by what local clocks show: clocks that change stretch one or shorten it. */
function fixedRounding(intervalMs: number, zone: TimeZone): Rounding {
  if (intervalMs <= HOUR_MS || zone.fixedOffsetMs !== undefined) return instantRounding(intervalMs, zone);
  return localRounding(
    zone,
    (localMs) => Math.floor(localMs / intervalMs) * intervalMs,
    (localMs) => localMs + intervalMs,
    (localMs) => floored(localMs, intervalMs),
  );
}

/** Groups are local times, which are moments once the zone is known: where clocks are put back, one group is longer. */
function localRounding(
  zone: TimeZone,
  floor: (localMs: number) => number,
  step: (localMs: number) => number,
  floorSql: (localMs: Sql) => Sql,
): Rounding {
  const local = (epochMs: number) => epochMs + zone.offsetAt(epochMs);
  return {
    group: (epochMs) => floorSql(sql`(${epochMs}${offsetSql(epochMs, zone)})`),
    moment: (group) => zone.toEpoch(group),
    groupOf: (moment) => floor(local(moment)),
    // A start that clocks skip is a later local time: the floor of it is the group's own.
    next: (moment) => zone.toEpoch(step(floor(local(moment)))),
    round: (epochMs) => zone.toEpoch(floor(local(epochMs))),
  };
}

/** Groups are moments: the same local time twice is two groups. */
function instantRounding(intervalMs: number, zone: TimeZone): Rounding {
  const round = (epochMs: number) => {
    const offset = zone.offsetAt(epochMs);
    return Math.floor((epochMs + offset) / intervalMs) * intervalMs - offset;
  };
  return {
    group(epochMs) {
      const offset = offsetSql(epochMs, zone);
      const local = sql`(${epochMs}${offset})`;
      if (offset.text === "") return floored(epochMs, intervalMs);
      return sql`(${epochMs} - ${remainder(local, intervalMs)})`;
    },
    moment: (group) => group,
    groupOf: (moment) => moment,
    next: (moment) => round(moment + intervalMs),
    round,
  };
}

function floored(ms: Sql, intervalMs: number): Sql {
  return sql`(${ms} - ${remainder(ms, intervalMs)})`;
}

/** Never negative. */
function remainder(ms: Sql, intervalMs: number): Sql {
  const interval = raw(String(intervalMs));
  return sql`(((${ms}) % ${interval} + ${interval}) % ${interval})`;
}

function truncated(localMs: Sql, unit: CalendarUnit): Sql {
  if (unit === "day") return floored(localMs, 24 * HOUR_MS);
  return sql`epoch_ms(date_trunc(${raw(`'${unit}'`)}, make_timestamp_ms(${localMs})))`;
}

/** ` + offset` of a moment; nothing in UTC. */
function offsetSql(epochMs: Sql, zone: TimeZone): Sql {
  if (zone.fixedOffsetMs !== undefined) {
    return raw(zone.fixedOffsetMs === 0 ? "" : ` + ${zone.fixedOffsetMs}`);
  }
  return sql` + ${offsetCase(epochMs, transitionsOf(zone), zone)}`;
}

interface Transition {
  atMs: number;
  offsetMs: number;
}

/** A tree of comparisons: few for each moment, however many transitions there are. */
function offsetCase(epochMs: Sql, transitions: readonly Transition[], zone: TimeZone): Sql {
  const branch = (first: number, last: number): Sql => {
    if (first > last) {
      const before = transitions[first - 1];
      return raw(String(before?.offsetMs ?? zone.offsetAt((transitions[0]?.atMs ?? 0) - 1)));
    }
    const middle = (first + last) >> 1;
    const at = raw(String(transitions[middle]?.atMs ?? 0));
    return sql`CASE WHEN ${epochMs} < ${at} THEN ${branch(first, middle - 1)} ELSE ${branch(middle + 1, last)} END`;
  };
  return branch(0, transitions.length - 1);
}
