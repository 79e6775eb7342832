/** Resolves `earliest`, `latest` and the like to moments. */
import { parseRelativeTime, relativeTime } from "./relative-time.ts";
import { parseTime } from "./strptime.ts";
import { zoneOf } from "./zone-of.ts";

export interface TimeOptions {
  readonly nowMs: number;
  /** IANA name. */
  readonly timeZone: string;
  /** `time_format` of absolute times. The default formats are accepted as well. */
  readonly format?: string;
}

/** A text that is no time. */
export class InvalidTime extends Error {
  readonly text: string;
  constructor(text: string, reason: string) {
    super(reason);
    this.name = "InvalidTime";
    this.text = text;
  }
}

const absoluteFormats = [
  "%m/%d/%Y:%H:%M:%S",
  "%Y-%m-%dT%H:%M:%S.%Q%z",
  "%Y-%m-%dT%H:%M:%S%z",
  "%Y-%m-%dT%H:%M:%S.%Q",
  "%Y-%m-%dT%H:%M:%S",
  "%Y-%m-%d %H:%M:%S",
  "%Y-%m-%d",
  "%m/%d/%Y",
];

/** Largest distance of a JavaScript date from 1970, in both directions. */
const MAX_TIME_MS = 8.64e15;

/**
 * Resolves a time to milliseconds since the epoch, with a fraction if the text has one. Accepts relative times (`-1h@h`), `now`,
 * seconds since the epoch, `10/27/2026:13:05:00` and ISO 8601.
 * @throws InvalidTime
 */
export function resolveTime(text: string, { nowMs, timeZone, format }: TimeOptions): number {
  const given = text.trim();
  if (/^(now(\(\))?)?$/i.test(given)) return nowMs;
  if (/^rt/i.test(given)) {
    throw new InvalidTime(text, `Real-time searches are not served here: "${text}" begins with rt.`);
  }
  const zone = zoneOf(timeZone);
  const formatted = format === undefined ? undefined : parseTime(given, format, { zone, nowMs, whole: true });
  if (formatted !== undefined) return formatted * 1000;
  if (/^[+-]?(\d+(?:\.\d*)?|\.\d+)$/.test(given)) {
    const ms = Math.round(Number(given) * 1e6) / 1e3;
    if (Math.abs(ms) <= MAX_TIME_MS) return ms;
    throw new InvalidTime(text, `Invalid time: "${text}" is in no year that has a date.`);
  }
  const relative = parseRelativeTime(given);
  const moment = relative === undefined ? undefined : relativeTime(nowMs, relative, zone);
  if (moment !== undefined) return moment;
  for (const pattern of absoluteFormats) {
    const seconds = parseTime(given, pattern, { zone, nowMs, whole: true });
    if (seconds !== undefined) return Math.round(seconds * 1e6) / 1e3;
  }
  throw new InvalidTime(text, `Invalid time: "${text}".`);
}
