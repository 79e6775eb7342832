/** Time zones that requests name. */
import { findTimeZone, type TimeZone } from "../../datasets/dates/time-zone.ts";
import { VendorError } from "../vendor-error.ts";

/** @throws VendorError `date_time_exception` when nobody knows the zone. */
export function readTimeZone(name: string): TimeZone {
  const zone = findTimeZone(name);
  if (zone) return zone;
  throw new VendorError(400, {
    type: "date_time_exception",
    reason: name.includes("/")
      ? `Unknown time-zone ID: ${name}`
      : `Invalid ID for region-based ZoneId, invalid format: ${name}`,
  });
}
