/** Time zones in requests. */
import { findTimeZone, type TimeZone } from "@offhook/log-store/dates/time-zone";
import { type ErrorCause, VendorError } from "../vendor/error.ts";

/** @throws VendorError for an unknown zone */
export function readTimeZone(name: string): TimeZone {
  const zone = findTimeZone(name);
  if (zone) return zone;
  throw new VendorError(400, unknownZone(name).cause);
}

/** Java's error for an invalid time zone; `undefined` for a valid one. */
export function timeZoneProblem(name: string): ZoneProblem | undefined {
  return findTimeZone(name) ? undefined : unknownZone(name);
}

interface ZoneProblem {
  /** Class name below `java.time`. */
  javaClass: string;
  cause: ErrorCause;
}

/** Source: `ZoneId.of` of Java 21. */
function unknownZone(name: string): ZoneProblem {
  if (/^[A-Za-z][A-Za-z0-9~/._+-]+$/.test(name)) {
    const reason = `Unknown time-zone ID: ${name}`;
    return { javaClass: "zone.ZoneRulesException", cause: { type: "zone_rules_exception", reason } };
  }
  const hours = /^[+-](\d\d)/.exec(name)?.[1];
  const isOffset = name.length <= 1 || /^[+-]/.test(name);
  const reason =
    hours !== undefined && Number(hours) > 18
      ? `Zone offset hours not in valid range: value ${Number(`${name[0]}${hours}`)} is not in the range -18 to 18`
      : `Invalid ID for ${isOffset ? "ZoneOffset" : "region-based ZoneId"}, invalid format: ${name}`;
  return { javaClass: "DateTimeException", cause: { type: "date_time_exception", reason } };
}
