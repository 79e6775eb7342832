/** Writes times as splunkd does, in the twin's time zone. */
import { findTimeZone, offsetText, utc } from "@offhook/log-store/dates/time-zone";

/** Largest absolute value of a `Date`. */
const MAX_DATE_MS = 8.64e15;

/** `2026-10-08T13:47:15.000+00:00` */
export function isoTime(timeMs: number, timeZone: string): string {
  return local(timeMs, timeZone, 23);
}

/** `2026-10-08T13:47:15+00:00`, as in an entry's `updated`. */
export function isoSecond(timeMs: number, timeZone: string): string {
  return local(timeMs, timeZone, 19);
}

function local(timeMs: number, timeZone: string, length: number): string {
  const moment = Math.max(-MAX_DATE_MS, Math.min(MAX_DATE_MS, timeMs));
  const offsetMs = (findTimeZone(timeZone) ?? utc).offsetAt(moment);
  const shown = Math.max(-MAX_DATE_MS, Math.min(MAX_DATE_MS, moment + offsetMs));
  return `${new Date(shown).toISOString().slice(0, -1).slice(0, length)}${offsetText(offsetMs, ":")}`;
}
