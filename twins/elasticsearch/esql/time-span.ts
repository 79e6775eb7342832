/** Time spans: `1 day`, `30 minutes`. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { parsingError, type Span } from "./errors.ts";
import type { TimeSpan } from "./syntax.ts";

const units = lookupTable<(count: number) => Partial<TimeSpan>>({
  millisecond: (count) => ({ ms: count }),
  second: (count) => ({ ms: count * 1000 }),
  minute: (count) => ({ ms: count * 60_000 }),
  hour: (count) => ({ ms: count * 3_600_000 }),
  day: (count) => ({ days: count }),
  week: (count) => ({ days: count * 7 }),
  month: (count) => ({ months: count }),
  quarter: (count) => ({ months: count * 3 }),
  year: (count) => ({ years: count }),
});
const short = lookupTable<string>({
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
});
/** About 290 years: date arithmetic has no use for longer spans. */
const MAX_MS = 9_223_372_036_854;
const MAX_UNITS = 2_147_483_647;

/** @throws VendorError for an unknown unit */
export function parseTimeSpan(count: bigint, unit: string, at: Span): TimeSpan {
  const given = unit.toLowerCase();
  const singular = short[given] ?? given.replace(/s$/, "");
  const make = Object.hasOwn(units, singular) ? units[singular] : undefined;
  if (!make) throw parsingError(at, `Unexpected time interval qualifier: '${given}'`);
  const parts = make(Number(count));
  const span = { years: 0, months: 0, days: 0, ms: 0, clock: parts.ms !== undefined, ...parts };
  const calendar = Math.max(Math.abs(span.years), Math.abs(span.months), Math.abs(span.days));
  if (calendar > MAX_UNITS || Math.abs(span.ms) > MAX_MS)
    throw parsingError(at, `Number [${count}] outside of [${given}] range`);
  return span;
}
