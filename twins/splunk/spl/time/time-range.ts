/** The time of two searches together. */
import type { TimeRange } from "../context/search-context.ts";

/** From the earlier of two beginnings to the later of two ends. */
export function wholeRange(first: TimeRange, second: TimeRange): TimeRange {
  const earliest = [first.earliestMs, second.earliestMs];
  const latest = [first.latestMs, second.latestMs];
  const known = (values: readonly (number | undefined)[]) => values.filter((value) => value !== undefined);
  return {
    earliestMs: earliest.includes(undefined) ? undefined : Math.min(...known(earliest)),
    latestMs: latest.includes(undefined) ? undefined : Math.max(...known(latest)),
  };
}
