/** Moments as splunkd writes them, in the time zone of the twin. */
import { findTimeZone, offsetText, utc } from "@offhook/log-store/dates/time-zone";

/** The last moment that a `Date` can be, and the first before zero. */
const MOST_MS = 8.64e15;

/** `2026-10-08T13:47:15.000+00:00` */
export function isoTime(timeMs: number, timeZone: string): string {
  return local(timeMs, timeZone, 23);
}

/** `2026-10-08T13:47:15+00:00`, as entries say when they were updated. */
export function isoSecond(timeMs: number, timeZone: string): string {
  return local(timeMs, timeZone, 19);
}

function local(timeMs: number, timeZone: string, length: number): string {
  const moment = Math.max(-MOST_MS, Math.min(MOST_MS, timeMs));
  const offsetMs = (findTimeZone(timeZone) ?? utc).offsetAt(moment);
  const shown = Math.max(-MOST_MS, Math.min(MOST_MS, moment + offsetMs));
  return `${new Date(shown).toISOString().slice(0, -1).slice(0, length)}${offsetText(offsetMs, ":")}`;
}
