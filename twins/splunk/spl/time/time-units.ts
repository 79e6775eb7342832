/** Units of time and their names in SPL. */
import type { CalendarUnit } from "@offhook/log-store/dates/calendar";

/** A span of fixed length, or one of the calendar. */
export type TimeUnit =
  | { readonly kind: "fixed"; readonly ms: number; readonly name: FixedUnit }
  | { readonly kind: "calendar"; readonly unit: Exclude<CalendarUnit, "hour" | "minute" | "second"> };

type FixedUnit = "us" | "ms" | "cs" | "ds" | "second" | "minute" | "hour";

const fixed = (name: FixedUnit, ms: number): TimeUnit => ({ kind: "fixed", ms, name });

const units: readonly (readonly [TimeUnit, string])[] = [
  [fixed("us", 0.001), "us"],
  [fixed("ms", 1), "ms"],
  [fixed("cs", 10), "cs"],
  [fixed("ds", 100), "ds"],
  [fixed("second", 1_000), "s sec secs second seconds"],
  [fixed("minute", 60_000), "m min mins minute minutes"],
  [fixed("hour", 3_600_000), "h hr hrs hour hours"],
  [{ kind: "calendar", unit: "day" }, "d day days"],
  [{ kind: "calendar", unit: "week" }, "w week weeks"],
  [{ kind: "calendar", unit: "month" }, "mon month months"],
  [{ kind: "calendar", unit: "quarter" }, "q qtr qtrs quarter quarters"],
  [{ kind: "calendar", unit: "year" }, "y yr yrs year years"],
];

const byName = new Map(
  units.flatMap(([unit, names]) => names.split(" ").map((name) => [name, unit] as const)),
);

/** Finds a unit, ignoring case. `m` is a minute, `mon` a month. */
export function findTimeUnit(name: string): TimeUnit | undefined {
  return byName.get(name.toLowerCase());
}
