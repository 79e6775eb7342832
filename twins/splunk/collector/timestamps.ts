/** Reads the time of an event, as its sender gives it or from its text. */
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { findTimeZone } from "@offhook/log-store/dates/time-zone";

/** Characters that are searched for a timestamp: `MAX_TIMESTAMP_LOOKAHEAD`. */
const LOOKAHEAD = 128;
/** The last microsecond of the year 9999. */
const LATEST_MICROS = 253_402_300_800_000_000 - 1;

const decimal = /^\s*(-?\d+)(?:\.(\d*))?\s*$/;

/**
 * Parses seconds since 1970 to microseconds, and cuts off finer digits. A whole number of 13, 16 or 19 digits or more is in milliseconds,
 * microseconds or nanoseconds.
 * @returns `undefined` for any other text
 */
export function parseMicros(text: string): number | undefined {
  const parts = decimal.exec(text);
  const whole = parts?.[1] ?? "";
  const digits = whole.replace("-", "").length;
  const number = parts ? Number(whole) : Number(text);
  if (!Number.isFinite(number) || text.trim() === "") return undefined;
  const fraction = Number((parts?.[2] ?? "").padEnd(6, "0").slice(0, 6));
  const micros =
    digits >= 19
      ? Number(BigInt(whole) / 1000n)
      : digits >= 16
        ? number
        : digits >= 13
          ? number * 1000
          : Math.round(number * 1e6) + (whole.startsWith("-") ? -fraction : fraction);
  return Math.abs(micros) <= LATEST_MICROS ? micros : undefined;
}

const iso =
  /(?<!\d)(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?\s?(Z|[+-]\d{2}:?\d{2})?/;
const commonLog =
  /(?<!\d)(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?\s?([+-]\d{4})?/;
const epoch = /^\s*(\d{10}(?:\.\d{1,9})?)(?![\d.])/;
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Finds the first timestamp in a text: ISO 8601, the common log format, or seconds since 1970 at the beginning. */
export function findTimestamp(text: string, zone: TimeZone): number | undefined {
  const beginning = text.slice(0, LOOKAHEAD);
  const found = iso.exec(beginning);
  if (found) {
    const [, year, month, day, hour, minute, second, fraction, offset] = found;
    return microsOf(
      [Number(year), Number(month), Number(day)],
      [hour, minute, second],
      fraction,
      offset,
      zone,
    );
  }
  const logged = commonLog.exec(beginning);
  if (logged) {
    const [, day, name = "", year, hour, minute, second, fraction, offset] = logged;
    const month = months.indexOf(name) + 1;
    return microsOf([Number(year), month, Number(day)], [hour, minute, second], fraction, offset, zone);
  }
  const seconds = epoch.exec(beginning)?.[1];
  return seconds === undefined ? undefined : parseMicros(seconds);
}

function microsOf(
  [year, month, day]: readonly [number, number, number],
  time: readonly (string | undefined)[],
  fraction: string | undefined,
  offset: string | undefined,
  zone: TimeZone,
): number | undefined {
  const [hour = 0, minute = 0, second = 0] = time.map(Number);
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60)
    return undefined;
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const ownZone = offset === undefined ? zone : findTimeZone(offset);
  if (!ownZone || new Date(localMs).getUTCDate() !== (second === 60 ? new Date(localMs).getUTCDate() : day))
    return undefined;
  return ownZone.toEpoch(localMs) * 1000 + Number((fraction ?? "").padEnd(6, "0").slice(0, 6));
}
