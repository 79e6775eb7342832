/** The fields of a date: from a local time to fields, and back. */
import {
  DAY_MS,
  dateMs,
  dayOfYear,
  daysInMonth,
  floorTo,
  isoWeek,
  isoWeekday,
  isoWeekMs,
} from "@offhook/log-store/dates/calendar";
import { monthNames, weekdayNames } from "@offhook/log-store/dates/names";
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import type { NumberField, TextField } from "./java-pattern.ts";

type Names = { full: readonly string[]; short: readonly string[]; narrow: readonly string[] };

const weekdays = [...weekdayNames.slice(1), ...weekdayNames.slice(0, 1)];

/** The names of a field's values, lowest first. */
export const fieldNames: Record<TextField, Names> = {
  era: { full: ["Before Christ", "Anno Domini"], short: ["BC", "AD"], narrow: ["B", "A"] },
  quarter: {
    full: ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"],
    short: ["Q1", "Q2", "Q3", "Q4"],
    narrow: ["1", "2", "3", "4"],
  },
  month: namesOf(monthNames),
  weekday: namesOf(weekdays),
  "half-day": { full: ["AM", "PM"], short: ["AM", "PM"], narrow: ["a", "p"] },
};

function namesOf(full: readonly string[]): Names {
  return { full, short: full.map((name) => name.slice(0, 3)), narrow: full.map((name) => name.slice(0, 1)) };
}

export function numberField(localMs: number, field: NumberField): number {
  const date = new Date(localMs);
  const milliOfDay = localMs - Math.floor(localMs / DAY_MS) * DAY_MS;
  switch (field) {
    case "year":
      return date.getUTCFullYear();
    case "era-year":
      return date.getUTCFullYear() > 0 ? date.getUTCFullYear() : 1 - date.getUTCFullYear();
    case "week-year":
      return isoWeek(localMs).year;
    case "quarter":
      return Math.floor(date.getUTCMonth() / 3) + 1;
    case "month":
      return date.getUTCMonth() + 1;
    case "week":
      return isoWeek(localMs).week;
    case "week-of-month":
      return Math.floor((date.getUTCDate() + 6 - isoWeekday(localMs) + weekOfMonthShift(localMs)) / 7);
    case "weekday":
      return isoWeekday(localMs);
    case "day":
      return date.getUTCDate();
    case "day-of-year":
      return dayOfYear(localMs);
    case "hour":
      return date.getUTCHours();
    case "hour-1-24":
      return date.getUTCHours() || 24;
    case "hour-0-11":
      return date.getUTCHours() % 12;
    case "hour-1-12":
      return date.getUTCHours() % 12 || 12;
    case "minute":
      return date.getUTCMinutes();
    case "second":
      return date.getUTCSeconds();
    case "milli-of-day":
      return milliOfDay;
    case "nano":
      return date.getUTCMilliseconds() * 1_000_000;
    case "nano-of-day":
      return milliOfDay * 1_000_000;
  }
}

/** Week 1 of a month is the first with at least four days in it; earlier days are in week 0. */
function weekOfMonthShift(localMs: number): number {
  const firstWeekday = isoWeekday(floorTo(localMs, "month"));
  return firstWeekday > 1 && firstWeekday <= 4 ? 7 : firstWeekday === 1 ? 7 : 0;
}

/** The index of the name, from 0. */
export function textField(localMs: number, field: TextField): number {
  const date = new Date(localMs);
  switch (field) {
    case "era":
      return date.getUTCFullYear() > 0 ? 1 : 0;
    case "quarter":
      return Math.floor(date.getUTCMonth() / 3);
    case "month":
      return date.getUTCMonth();
    case "weekday":
      return isoWeekday(localMs) - 1;
    case "half-day":
      return date.getUTCHours() < 12 ? 0 : 1;
  }
}

export type FieldValues = Map<NumberField | "era" | "half-day" | "fraction-ms", number>;

/** The default of missing time fields: the start of the day, or its end. */
export type MissingTime = "first" | "last";

/**
 * Resolves parsed fields to a moment.
 * @param leniency for a day beyond the end of the month. `strict`: out of range; `smart`: the last of the month
 * @returns `undefined` when a field is out of range
 */
export function resolve(
  fields: FieldValues,
  leniency: "strict" | "smart",
  missing: MissingTime,
  zone: TimeZone,
): number | undefined {
  const date = resolveDate(fields, leniency);
  const time = resolveTime(fields, missing);
  return date === undefined || time === undefined ? undefined : zone.toEpoch(date + time);
}

function resolveDate(fields: FieldValues, leniency: "strict" | "smart"): number | undefined {
  if (fields.has("week-year")) return resolveWeekDate(fields);
  const eraYear = fields.get("era-year");
  const year =
    fields.get("year") ?? (eraYear !== undefined && fields.get("era") === 0 ? 1 - eraYear : eraYear) ?? 1970;
  const ordinal = fields.get("day-of-year");
  if (Math.abs(year) > 200_000) return undefined;
  if (ordinal !== undefined) {
    const days = (dateMs(year + 1, 1, 1) - dateMs(year, 1, 1)) / DAY_MS;
    return ordinal < 1 || ordinal > days ? undefined : dateMs(year, 1, ordinal);
  }
  const quarter = fields.get("quarter");
  const month = fields.get("month") ?? (quarter === undefined ? 1 : quarter * 3 - 2);
  const day = fields.get("day") ?? 1;
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  const last = daysInMonth(year, month);
  if (day > last && leniency === "strict") return undefined;
  return dateMs(year, month, Math.min(day, last));
}

function resolveWeekDate(fields: FieldValues): number | undefined {
  const year = fields.get("week-year") ?? 1970;
  const week = fields.get("week") ?? 1;
  const weekday = fields.get("weekday") ?? 1;
  if (week < 1 || week > 53 || weekday < 1 || weekday > 7 || Math.abs(year) > 200_000) return undefined;
  return isoWeekMs(year, week) + (weekday - 1) * DAY_MS;
}

function resolveTime(fields: FieldValues, missing: MissingTime): number | undefined {
  const milliOfDay = fields.get("milli-of-day") ?? nanoToMs(fields.get("nano-of-day"));
  if (milliOfDay !== undefined) return milliOfDay < DAY_MS ? milliOfDay : undefined;
  const last = missing === "last";
  const hour = hourOf(fields) ?? (last ? 23 : 0);
  const minute = fields.get("minute") ?? (last ? 59 : 0);
  const second = fields.get("second") ?? (last ? 59 : 0);
  const milli = fields.get("fraction-ms") ?? nanoToMs(fields.get("nano")) ?? (last ? 999 : 0);
  if (hour > 23 || minute > 59 || second > 59 || milli > 999) return undefined;
  return ((hour * 60 + minute) * 60 + second) * 1000 + milli;
}

function nanoToMs(nanos: number | undefined): number | undefined {
  return nanos === undefined ? undefined : Math.floor(nanos / 1_000_000);
}

function hourOf(fields: FieldValues): number | undefined {
  const half = fields.get("hour-0-11") ?? wrapHour(fields.get("hour-1-12"), 12);
  if (half !== undefined) return half > 11 ? 24 : half + 12 * (fields.get("half-day") ?? 0);
  return fields.get("hour") ?? wrapHour(fields.get("hour-1-24"), 24);
}

/** Maps hours counted from 1 to hours counted from 0; 24 when out of range. */
function wrapHour(hour: number | undefined, hours: number): number | undefined {
  if (hour === undefined) return undefined;
  if (hour < 1 || hour > hours) return 24;
  return hour % hours;
}
