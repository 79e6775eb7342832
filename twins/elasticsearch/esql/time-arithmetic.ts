/** Arithmetic with constant dates and time spans. */
import type { TimeSpan } from "./syntax.ts";

/** Adds calendar months; a day that the month lacks becomes its last. */
export function addSpan(epochMs: number, { years, months, days, ms }: TimeSpan): number {
  const date = new Date(epochMs);
  const allMonths = years * 12 + months;
  if (allMonths !== 0) {
    const day = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + allMonths);
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(day, last));
  }
  date.setUTCDate(date.getUTCDate() + days);
  return date.getTime() + ms;
}

/** Adds two spans of one type; `undefined` where a unit exceeds 32 bits or the milliseconds are inexact. */
export function addSpans(a: TimeSpan, b: TimeSpan): TimeSpan | undefined {
  const sum = {
    years: a.years + b.years,
    months: a.months + b.months,
    days: a.days + b.days,
    ms: a.ms + b.ms,
    clock: a.clock,
  };
  const fits = [sum.years, sum.months, sum.days].every((unit) => (unit | 0) === unit);
  return fits && Number.isSafeInteger(sum.ms) ? sum : undefined;
}

export function negateSpan({ years, months, days, ms, clock }: TimeSpan): TimeSpan {
  // `0 - x` avoids negative zero.
  return { years: 0 - years, months: 0 - months, days: 0 - days, ms: 0 - ms, clock };
}
