/** Dates and spans of time, where both are known before any row is read. */
import type { TimeSpan } from "./syntax.ts";

/** Months are counted by the calendar: a day that the month lacks becomes its last. */
export function addSpan(epochMs: number, { months, days, ms }: TimeSpan): number {
  const date = new Date(epochMs);
  if (months !== 0) {
    const day = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + months);
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(day, last));
  }
  date.setUTCDate(date.getUTCDate() + days);
  return date.getTime() + ms;
}
