/** Spans of time: `1 day`, `30 minutes`. */
import { parsingError, type Span } from "./errors.ts";
import type { TimeSpan } from "./syntax.ts";

const units: Readonly<Record<string, (count: number) => Partial<TimeSpan>>> = {
  millisecond: (count) => ({ ms: count }),
  second: (count) => ({ ms: count * 1000 }),
  minute: (count) => ({ ms: count * 60_000 }),
  hour: (count) => ({ ms: count * 3_600_000 }),
  day: (count) => ({ days: count }),
  week: (count) => ({ days: count * 7 }),
  month: (count) => ({ months: count }),
  quarter: (count) => ({ months: count * 3 }),
  year: (count) => ({ months: count * 12 }),
};
const short: Readonly<Record<string, string>> = {
  ms: "millisecond",
  s: "second",
  sec: "second",
  min: "minute",
  h: "hour",
  d: "day",
  w: "week",
  mo: "month",
  q: "quarter",
  y: "year",
  yr: "year",
};
/** About 290 years in milliseconds: more is no span that arithmetic with dates can use. */
const MAX_COUNT = 9_223_372_036_854n;

/** @throws VendorError for a unit that is none. */
export function parseTimeSpan(count: bigint, unit: string, at: Span): TimeSpan {
  const given = unit.toLowerCase();
  const singular = short[given] ?? given.replace(/s$/, "");
  const make = Object.hasOwn(units, singular) ? units[singular] : undefined;
  if (!make) throw parsingError(at, `Unexpected time interval qualifier: '${given}'`);
  if (count > MAX_COUNT) throw parsingError(at, `Number [${count}] outside of [${unit}] range`);
  const parts = make(Number(count));
  return { months: 0, days: 0, ms: 0, clock: parts.ms !== undefined, ...parts };
}
