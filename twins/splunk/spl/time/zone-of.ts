/** The time zone of a search. */
import { findTimeZone, type TimeZone, utc } from "@offhook/log-store/dates/time-zone";

/** UTC for a name that nobody knows. */
export function zoneOf(timeZone: string): TimeZone {
  return findTimeZone(timeZone) ?? utc;
}
