/** Calendar arithmetic on local times: a local time is given as the milliseconds of the same clock reading in UTC. */

export const DAY_MS = 86_400_000;

/** Units of date math and of calendar intervals. */
export type CalendarUnit = "year" | "quarter" | "month" | "week" | "day" | "hour" | "minute" | "second";

const unitMs = { week: 7 * DAY_MS, day: DAY_MS, hour: 3_600_000, minute: 60_000, second: 1_000 } as const;

/** Milliseconds of a date; months and days out of range overflow. */
export function dateMs(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

/** Rounds a local time down to the start of a unit. Weeks start on Monday. */
export function floorTo(localMs: number, unit: CalendarUnit): number {
  const date = new Date(localMs);
  switch (unit) {
    case "year":
      return dateMs(date.getUTCFullYear(), 1, 1);
    case "quarter":
      return dateMs(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) * 3 + 1, 1);
    case "month":
      return dateMs(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
    case "week":
      // The epoch was a Thursday.
      return Math.floor((localMs + 3 * DAY_MS) / unitMs.week) * unitMs.week - 3 * DAY_MS;
    default:
      return Math.floor(localMs / unitMs[unit]) * unitMs[unit];
  }
}

/** Adds units to a local time. A day that the month lacks becomes its last day. */
export function plus(localMs: number, count: number, unit: CalendarUnit): number {
  switch (unit) {
    case "year":
      return plusMonths(localMs, 12 * count);
    case "quarter":
      return plusMonths(localMs, 3 * count);
    case "month":
      return plusMonths(localMs, count);
    default:
      return localMs + count * unitMs[unit];
  }
}

function plusMonths(localMs: number, months: number): number {
  const date = new Date(localMs);
  const month = date.getUTCMonth() + months;
  const year = date.getUTCFullYear() + Math.floor(month / 12);
  const monthOfYear = (((month % 12) + 12) % 12) + 1;
  const day = Math.min(date.getUTCDate(), daysInMonth(year, monthOfYear));
  return dateMs(year, monthOfYear, day) + (((localMs % DAY_MS) + DAY_MS) % DAY_MS);
}

/** @param month from 1 */
export function daysInMonth(year: number, month: number): number {
  return new Date(dateMs(year, month + 1, 0)).getUTCDate();
}

/** The ISO week of a local date, and the year that the week belongs to. */
export function isoWeek(localMs: number): { year: number; week: number } {
  const thursday = floorTo(localMs, "week") + 3 * DAY_MS;
  const year = new Date(thursday).getUTCFullYear();
  return { year, week: Math.floor((thursday - dateMs(year, 1, 1)) / unitMs.week) + 1 };
}

/** Monday is 1. */
export function isoWeekday(localMs: number): number {
  return ((new Date(localMs).getUTCDay() + 6) % 7) + 1;
}

/** From 1. */
export function dayOfYear(localMs: number): number {
  return Math.floor((localMs - floorTo(localMs, "year")) / DAY_MS) + 1;
}

/** The first day of an ISO week. */
export function isoWeekMs(year: number, week: number): number {
  return floorTo(dateMs(year, 1, 4), "week") + (week - 1) * unitMs.week;
}
