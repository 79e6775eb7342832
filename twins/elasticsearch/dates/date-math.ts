/**
 * Date math: `now-1d/d`, `2026-01-01||+1M/d`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/common-options.html#date-math
 */

import { type CalendarUnit, floorTo, plus } from "@offhook/log-store/dates/calendar";
import { type TimeZone, utc } from "@offhook/log-store/dates/time-zone";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { VendorError } from "../vendor/error.ts";
import { type DateFormat, defaultDateFormat, readDateFormat } from "./java-format.ts";
import { readTimeZone } from "./read-time-zone.ts";

export interface DateOptions {
  /** Format of the date; absent: the vendor's default. */
  format?: string;
  /** For rounding, and for dates without a zone. Absent: UTC. */
  timeZone?: string;
  /** The value of `now`. */
  nowMs: number;
  /** Rounds, and completes missing parts, to the first moment, or to the last (for `gt` and `lte`). */
  rounding: "first" | "last";
}

/**
 * @returns milliseconds since the epoch
 * @throws VendorError `parse_exception`
 */
export function parseDate(text: string, { format, timeZone, nowMs, rounding }: DateOptions): number {
  const zone = timeZone === undefined ? utc : readTimeZone(timeZone);
  if (text.startsWith("now")) return applyMath(text.slice(3), nowMs, zone, rounding);
  const dateFormat = readDateFormat(format ?? defaultDateFormat);
  const separator = text.indexOf("||");
  if (separator < 0) return parsePlain(text, dateFormat, zone, rounding);
  const start = parsePlain(text.slice(0, separator), dateFormat, zone, "first");
  return applyMath(text.slice(separator + 2), start, zone, rounding);
}

function parsePlain(text: string, format: DateFormat, zone: TimeZone, rounding: "first" | "last"): number {
  if (text === "") throw parseError("cannot parse empty datetime");
  const epochMs = format.parse(text, zone, rounding);
  if (epochMs !== undefined) return epochMs;
  const reason = `failed to parse date field [${text}] with format [${format.pattern}]`;
  throw new VendorError(400, {
    type: "parse_exception",
    reason: `${reason}: [${reason}]`,
    caused_by: {
      type: "illegal_argument_exception",
      reason,
      caused_by: {
        type: "date_time_parse_exception",
        reason: format.failure(text),
      },
    },
  });
}

const units = lookupTable<CalendarUnit>({
  y: "year",
  M: "month",
  w: "week",
  d: "day",
  h: "hour",
  H: "hour",
  m: "minute",
  s: "second",
});

/** The range of JavaScript dates. */
const MAX_EPOCH_MS = 8.64e15;

function applyMath(math: string, startMs: number, zone: TimeZone, rounding: "first" | "last"): number {
  let epochMs = startMs;
  let at = 0;
  while (at < math.length) {
    const operator = math[at++] ?? "";
    if (!/[/+-]/.test(operator)) throw parseError(`operator not supported for date math [${math}]`);
    const digits = /^\d*/.exec(math.slice(at))?.[0] ?? "";
    at += digits.length;
    const letter = math[at++];
    if (letter === undefined) throw parseError(`truncated date math [${math}]`);
    if (operator === "/" && digits !== "" && Number(digits) !== 1) {
      throw parseError(`rounding \`/\` can only be used on single unit types [${math}]`);
    }
    const unit = units[letter];
    if (unit === undefined) throw parseError(`unit [${letter}] not supported for date math [${math}]`);
    const localMs = epochMs + zone.offsetAt(epochMs);
    if (operator === "/") epochMs = round(localMs, unit, zone, rounding);
    else
      epochMs = add(epochMs, (operator === "-" ? -1 : 1) * (digits === "" ? 1 : Number(digits)), unit, zone);
    if (!(Math.abs(epochMs) <= MAX_EPOCH_MS))
      throw parseError(`date math [${math}] leaves the range of dates`);
  }
  return epochMs;
}

function round(localMs: number, unit: CalendarUnit, zone: TimeZone, rounding: "first" | "last"): number {
  const start = floorTo(localMs, unit);
  return rounding === "first" ? zone.toEpoch(start) : zone.toEpoch(plus(start, 1, unit)) - 1;
}

/** Adds hours and shorter units to the moment, days and longer ones to the local calendar. */
function add(epochMs: number, count: number, unit: CalendarUnit, zone: TimeZone): number {
  if (unit === "hour" || unit === "minute" || unit === "second") return plus(epochMs, count, unit);
  return zone.toEpoch(plus(epochMs + zone.offsetAt(epochMs), count, unit));
}

function parseError(reason: string): VendorError {
  return new VendorError(400, { type: "parse_exception", reason });
}
