/** The time zone of a search. */
import { findTimeZone, type TimeZone, utc } from "@offhook/log-store/dates/time-zone";

/** Finds a zone; UTC for an unknown name. */
export function zoneOf(timeZone: string): TimeZone {
  return findTimeZone(timeZone) ?? utc;
}
