/**
 * Rounds dates down to calendar or fixed intervals in a time zone.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/search-aggregations-bucket-datehistogram-aggregation.html
 */

import { type CalendarUnit, floorTo, plus } from "@offhook/log-store/dates/calendar";
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { localSql } from "@offhook/log-store/dates/zone-sql";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { textOf } from "../json/token.ts";
import { VendorError } from "../vendor/error.ts";
import { argumentError } from "./errors.ts";
import type { Options } from "./options.ts";
import type { Member } from "./syntax/declared.ts";
import { text } from "./syntax/members.ts";
import { type Exception, ZoneRounding } from "./zone-rounding.ts";

/** The SQL of a document's moment. */
interface Moment {
  /** Milliseconds, BIGINT. */
  epochMs: Sql;
  /** TIMESTAMP, for a date field. */
  timestamp: Sql | undefined;
}

export interface Rounding {
  /** Shift of rounded moments. */
  readonly offsetMs: number;
  /** An expression that is equal for moments that round to the same. */
  group(moment: Moment): Sql;
  /** The rounded moment of a group. */
  moment(group: number): number;
  /** The group of a rounded moment. */
  groupOf(moment: number): Sql;
  /** The next rounded moment. */
  next(moment: number): number;
  /** Rounds a bound of buckets, without the offset. */
  roundBound(epochMs: number): number;
}

const calendarUnits = lookupTable<CalendarUnit>({
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
});

const HOUR_MS = 3_600_000;
const timeUnits = lookupTable<number>({
  nanos: 1e-6,
  micros: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
  d: 24 * HOUR_MS,
});

/** The members for interval and offset. */
export const roundingMembers = {
  calendar_interval: interval("calendar_interval", "fixed_interval", (name) => {
    if (calendarUnits[name]) return;
    throw argumentError(`The supplied interval [${name}] could not be parsed as a calendar interval.`);
  }),
  fixed_interval: interval("fixed_interval", "calendar_interval", (text) => {
    if (text === "") throw argumentError("[interval] must not be null: [date_histogram]");
    readDuration(text, "date_histogram.fixedInterval");
  }),
  offset: offset(),
};

function interval(own: string, other: string, check: (text: string) => void): Member {
  const { tokens } = text();
  return {
    tokens,
    read(value, _, before) {
      check(textOf(value));
      if (before[other] === undefined) return value;
      throw argumentError(`Cannot use [${own}] with [${other}] configuration option.`);
    },
  };
}

/** A time value of any sign, or milliseconds. @returns milliseconds */
function offset(): Member {
  return {
    tokens: ["VALUE_STRING", "VALUE_NUMBER"],
    read(value) {
      if (typeof value !== "string") return Math.trunc(Number(value));
      if (value === "") {
        throw new VendorError(400, {
          type: "string_index_out_of_bounds_exception",
          reason: "String index out of range: 0",
        });
      }
      return Math.trunc(readDuration(value, "DateHistogramAggregationBuilder.parseOffset"));
    },
  };
}

/** Reads `calendar_interval` or `fixed_interval`, and `offset`. */
export function readRounding(options: Options, zone: TimeZone): Rounding {
  const calendar = options.text("calendar_interval");
  const fixed = options.text("fixed_interval");
  const offsetMs = options.number("offset") ?? 0;
  const unit = calendar === undefined ? undefined : calendarUnits[calendar];
  if (unit) return withOffset(calendarRounding(unit, zone), offsetMs);
  if (fixed === undefined) throw argumentError("Invalid interval specified, must be non-null and non-empty");
  const intervalMs = Math.floor(readDuration(fixed, "date_histogram.fixedInterval"));
  if (intervalMs < 1) {
    throw argumentError("Zero or negative time interval not supported");
  }
  return withOffset(intervalRounding(intervalMs, zone, "interval"), offsetMs);
}

/** Reads a time value such as `90m`. @returns milliseconds */
export function readDuration(text: string, setting: string): number {
  const match = /^([+-]?\d+)(nanos|micros|ms|s|m|h|d)$/i.exec(text.trim());
  // A capital M means months, whose length varies.
  const unit = match?.[2] === "M" ? undefined : timeUnits[(match?.[2] ?? "").toLowerCase()];
  if (match && unit !== undefined) return Number(match[1]) * unit;
  const fractional = /^(\d+\.\d+)/.exec(text)?.[1];
  if (fractional !== undefined) {
    throw new VendorError(400, {
      type: "illegal_argument_exception",
      reason: `failed to parse [${text}], fractional time values are not supported`,
      caused_by: { type: "number_format_exception", reason: `For input string: "${fractional}"` },
    });
  }
  throw argumentError(
    `failed to parse setting [${setting}] with value [${text}] as a time value: unit is missing or unrecognized`,
  );
}

function withOffset(rounding: Rounding, offsetMs: number): Rounding {
  if (offsetMs === 0) return rounding;
  const offset = sql`CAST(${BigInt(offsetMs)} AS BIGINT)`;
  return {
    offsetMs,
    group: ({ epochMs }) => rounding.group({ epochMs: sql`(${epochMs} - ${offset})`, timestamp: undefined }),
    moment: (group) => rounding.moment(group) + offsetMs,
    groupOf: (moment) => rounding.groupOf(moment - offsetMs),
    next: (moment) => rounding.next(moment - offsetMs) + offsetMs,
    roundBound: rounding.roundBound,
  };
}

function calendarRounding(unit: CalendarUnit, zone: TimeZone): Rounding {
  switch (unit) {
    case "hour":
      return intervalRounding(HOUR_MS, zone, "unit");
    case "minute":
      return intervalRounding(60_000, zone, "unit");
    case "second":
      return intervalRounding(1_000, zone, "unit");
    default:
      return midnightRounding(unit, zone);
  }
}

/** Days and longer begin when local clocks first show midnight, so a local time is a single moment and identifies the group. */
function midnightRounding(unit: CalendarUnit, zone: TimeZone): Rounding {
  const floor = (localMs: number) => floorTo(localMs, unit);
  const step = (localMs: number) => plus(localMs, 1, unit);
  const rounding = new ZoneRounding(zone, "midnight", floor, step);
  const { group, moment, groupOf } = unit === "day" ? dayGroups(zone) : truncatedGroups(unit, zone);
  return {
    offsetMs: 0,
    group,
    moment: (key) => rounding.momentOf(moment(key)),
    // Where clocks skip midnight, the group begins at a later local time; flooring restores its key.
    groupOf: (epochMs) => groupOf(floor(epochMs + zone.offsetAt(epochMs))),
    next: (epochMs) => rounding.momentOf(step(floor(epochMs + zone.offsetAt(epochMs)))),
    roundBound: (epochMs) => rounding.round(epochMs),
  };
}

type LocalGroups = Pick<Rounding, "group" | "moment" | "groupOf">;

function dayGroups(zone: TimeZone): LocalGroups {
  const steps = stepsOf(24 * HOUR_MS);
  return { ...steps, group: ({ epochMs }) => steps.step(localSql(epochMs, zone)) };
}

/** Groups by truncated TIMESTAMP, which the store returns as milliseconds. */
function truncatedGroups(unit: CalendarUnit, zone: TimeZone): LocalGroups {
  const name = raw(`'${unit}'`);
  return {
    group({ epochMs, timestamp }) {
      const utc = zone.fixedOffsetMs === 0 ? timestamp : undefined;
      return sql`date_trunc(${name}, ${utc ?? sql`make_timestamp_ms(${localSql(epochMs, zone)})`})`;
    },
    moment: (key) => key,
    groupOf: (key) => sql`make_timestamp_ms(${BigInt(key)})`,
  };
}

/** Counts intervals on local clocks. A local time that occurs twice forms two groups, so groups are moments. */
function intervalRounding(intervalMs: number, zone: TimeZone, strategy: "unit" | "interval"): Rounding {
  const rounding = new ZoneRounding(
    zone,
    strategy,
    (localMs) => Math.floor(localMs / intervalMs) * intervalMs,
    (localMs) => localMs + intervalMs,
  );
  const common = {
    offsetMs: 0,
    next: (moment: number) => rounding.next(moment),
    roundBound: (epochMs: number) => rounding.round(epochMs),
  };
  const exceptions = rounding.exceptions();
  const [shift = 0, ...others] = rounding.offsets.map((offsetMs) => modulo(offsetMs, intervalMs));
  if (exceptions.length === 0 && others.every((other) => other === shift)) {
    // All offsets are congruent, so local steps are shifted steps of the moment itself.
    const steps = stepsOf(intervalMs);
    return {
      ...common,
      group: ({ epochMs }) => steps.step(shift === 0 ? epochMs : sql`(${epochMs} + ${raw(String(shift))})`),
      moment: (step) => steps.moment(step) - shift,
      groupOf: (moment) => steps.groupOf(moment + shift),
    };
  }
  const within = (epochMs: Sql) => sql`(${epochMs} - ${remainder(localSql(epochMs, zone), intervalMs)})`;
  return {
    ...common,
    group: ({ epochMs }) =>
      exceptions.length === 0
        ? within(epochMs)
        : sql`coalesce(${exceptionSql(epochMs, exceptions)}, ${within(epochMs)})`,
    moment: (group) => group,
    groupOf: (moment) => sql`CAST(${BigInt(moment)} AS BIGINT)`,
  };
}

/** The rounded moment of an exception, otherwise NULL. A binary search in SQL, so that each moment needs few comparisons. */
function exceptionSql(epochMs: Sql, exceptions: readonly Exception[]): Sql {
  const branch = (first: number, last: number): Sql => {
    const middle = (first + last) >> 1;
    const here = exceptions[middle];
    if (first > last || !here) return raw("NULL");
    const { fromMs, toMs, roundedMs } = here;
    return sql`CASE WHEN ${epochMs} < ${raw(String(fromMs))} THEN ${branch(first, middle - 1)}
      WHEN ${epochMs} < ${raw(String(toMs))} THEN ${raw(String(roundedMs))} ELSE ${branch(middle + 1, last)} END`;
  };
  return branch(0, exceptions.length - 1);
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/** Distance into the past, year -10000, before every date of the columns. */
const BEFORE_ALL_MS = 380_000_000_000_000;

/** Numbers intervals from far in the past, so that the integer division, which truncates, rounds down. */
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

/** The remainder with the sign of the divisor: never negative. */
function remainder(ms: Sql, intervalMs: number): Sql {
  const interval = raw(String(intervalMs));
  return sql`(((${ms}) % ${interval} + ${interval}) % ${interval})`;
}
