/** The time zone of a search. */
import { findTimeZone, type TimeZone, utc } from "../../../datasets/dates/time-zone.ts";

/** UTC for a name that nobody knows. */
export function zoneOf(timeZone: string): TimeZone {
  return findTimeZone(timeZone) ?? utc;
}
