/** Formats times in results. */
import { isoTime } from "../output/timestamp.ts";
import { formatTime } from "../spl/time/strftime.ts";
import { zoneOf } from "../spl/time/zone-of.ts";

/** @param format of `strftime`; ISO 8601 when absent */
export function timeFormatter(format: string | undefined, timeZone: string): (seconds: number) => string {
  const iso = (seconds: number) => isoTime(Math.round(seconds * 1000), timeZone);
  if (format === undefined) return iso;
  const zone = zoneOf(timeZone);
  return (seconds) => formatTime(seconds, format, zone) ?? iso(seconds);
}
