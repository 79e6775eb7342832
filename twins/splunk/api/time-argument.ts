/** Reads times in arguments: seconds since the epoch, ISO 8601, in `time_format`, or relative to now. */
import { InvalidTime, resolveTime } from "../spl/time/resolve-time.ts";
import type { Call } from "./call.ts";
import { dispatcherError } from "./rest-error.ts";

/** Milliseconds since the epoch. @throws RestError 400 naming the argument */
export function readTime(
  call: Call,
  name: string,
  text: string,
  nowMs = call.twin.clock.now(),
  format = call.arguments.text("time_format"),
): number {
  try {
    return resolveTime(text, {
      nowMs,
      timeZone: call.twin.timeZone,
      ...(format === undefined ? {} : { format }),
    });
  } catch (error) {
    if (!(error instanceof InvalidTime)) throw error;
    throw dispatcherError(400, name === "latest_time" ? LATEST_NOT_AFTER : `Invalid ${name}.`);
  }
}

/** Splunkd's message about an invalid latest time, and about one that is too early. */
export const LATEST_NOT_AFTER = "Invalid latest_time: latest_time must be after earliest_time.";
