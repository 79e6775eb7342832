/**
 * Dates rounded down to calendar or fixed intervals, in a time zone.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/search-aggregations-bucket-datehistogram-aggregation.html
 */

import { type CalendarUnit, floorTo, plus } from "../../datasets/dates/calendar.ts";
import type { TimeZone } from "../../datasets/dates/time-zone.ts";
import { transitionsOf } from "../../datasets/dates/transitions.ts";
import { localSql } from "../../datasets/dates/zone-sql.ts";
import { raw, type Sql, sql } from "../../datasets/sql.ts";
import { argumentError } from "./errors.ts";
import type { Options } from "./options.ts";

/** A moment of a document. */
export interface Moment {
  /** Milliseconds, BIGINT. */
  epochMs: Sql;
  /** TIMESTAMP, where the field is a date. */
  timestamp: Sql | undefined;
}

export interface Rounding {
  /** What groups moments that round to the same. */
  group(moment: Moment): Sql;
  /** The rounded moment of a group. */
  moment(group: number): number;
  /** The group of a rounded moment. */
  groupOf(moment: number): Sql;
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
  const offset = sql`CAST(${BigInt(offsetMs)} AS BIGINT)`;
  return {
    group: ({ epochMs }) => rounding.group({ epochMs: sql`(${epochMs} - ${offset})`, timestamp: undefined }),
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
  if (unit === "day") return fixedRounding(24 * HOUR_MS, zone);
  const name = raw(`'${unit}'`);
  const group = ({ epochMs, timestamp }: Moment) => {
    const local =
      timestamp && zone.fixedOffsetMs === 0 ? timestamp : sql`make_timestamp_ms(${localSql(epochMs, zone)})`;
    return sql`date_trunc(${name}, ${local})`;
  };
  // A truncated TIMESTAMP comes out as milliseconds.
  const groups = {
    group,
    moment: (key: number) => key,
    groupOf: (key: number) => sql`make_timestamp_ms(${BigInt(key)})`,
  };
  return localRounding(
    zone,
    (localMs) => floorTo(localMs, unit),
    (localMs) => plus(localMs, 1, unit),
    groups,
  );
}

/** Intervals of more than an hour go by what local clocks show: clocks that change stretch one or shorten it. */
function fixedRounding(intervalMs: number, zone: TimeZone): Rounding {
  if (intervalMs <= HOUR_MS) return instantRounding(intervalMs, zone);
  const steps = stepsOf(intervalMs);
  return localRounding(
    zone,
    (localMs) => Math.floor(localMs / intervalMs) * intervalMs,
    (localMs) => localMs + intervalMs,
    { ...steps, group: ({ epochMs }) => steps.step(localSql(epochMs, zone)) },
  );
}

type LocalGroups = Pick<Rounding, "group" | "moment" | "groupOf">;

/** Groups are local times, which are moments once the zone is known: where clocks are put back, one group is longer. */
function localRounding(
  zone: TimeZone,
  floor: (localMs: number) => number,
  step: (localMs: number) => number,
  groups: LocalGroups,
): Rounding {
  const local = (epochMs: number) => epochMs + zone.offsetAt(epochMs);
  return {
    group: groups.group,
    moment: (group) => zone.toEpoch(groups.moment(group)),
    // A start that clocks skip is a later local time: the floor of it is the group's own.
    groupOf: (moment) => groups.groupOf(floor(local(moment))),
    next: (moment) => zone.toEpoch(step(floor(local(moment)))),
    round: (epochMs) => zone.toEpoch(floor(local(epochMs))),
  };
}

/** Groups are moments: the same local time twice is two groups. */
function instantRounding(intervalMs: number, zone: TimeZone): Rounding {
  const steps = stepsOf(intervalMs);
  const round = (epochMs: number) => {
    const offset = zone.offsetAt(epochMs);
    return Math.floor((epochMs + offset) / intervalMs) * intervalMs - offset;
  };
  // Where every offset is a whole number of intervals, local steps are steps of the moment itself.
  const offsets =
    zone.fixedOffsetMs === undefined
      ? transitionsOf(zone).map(({ offsetMs }) => offsetMs)
      : [zone.fixedOffsetMs];
  const aligned = offsets.every((offsetMs) => offsetMs % intervalMs === 0);
  const next = (moment: number) => round(moment + intervalMs);
  if (aligned) {
    return {
      group: ({ epochMs }) => steps.step(epochMs),
      moment: steps.moment,
      groupOf: steps.groupOf,
      next,
      round,
    };
  }
  return {
    group: ({ epochMs }) => sql`(${epochMs} - ${remainder(localSql(epochMs, zone), intervalMs)})`,
    moment: (group) => group,
    groupOf: (moment) => sql`CAST(${BigInt(moment)} AS BIGINT)`,
    next,
    round,
  };
}

/** Earlier than every date that a column can hold and a JavaScript date of four digits: year -10000. */
const BEFORE_ALL_MS = 380_000_000_000_000;

/** Intervals are numbered from far in the past, so that one integer division, which rounds towards zero, rounds down. */
function stepsOf(intervalMs: number) {
  const first = Math.ceil(BEFORE_ALL_MS / intervalMs);
  const start = raw(String(BigInt(first) * BigInt(intervalMs)));
  const interval = raw(String(intervalMs));
  return {
    step: (ms: Sql) => sql`((${ms} + ${start}) // ${interval})`,
    moment: (step: number) => (step - first) * intervalMs,
    groupOf: (ms: number) => sql`CAST(${BigInt(Math.floor(ms / intervalMs) + first)} AS BIGINT)`,
  };
}

/** Never negative. */
function remainder(ms: Sql, intervalMs: number): Sql {
  const interval = raw(String(intervalMs));
  return sql`(((${ms}) % ${interval} + ${interval}) % ${interval})`;
}
