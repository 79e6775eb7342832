/** The time range of a search. */

/** Milliseconds since the epoch; `earliestMs` is included, `latestMs` is not. `undefined`: open. */
export interface TimeRange {
  readonly earliestMs: number | undefined;
  readonly latestMs: number | undefined;
}

/** The smallest range that covers both. */
export function coveringRange(first: TimeRange, second: TimeRange): TimeRange {
  const earliest = [first.earliestMs, second.earliestMs];
  const latest = [first.latestMs, second.latestMs];
  const known = (values: readonly (number | undefined)[]) => values.filter((value) => value !== undefined);
  return {
    earliestMs: earliest.includes(undefined) ? undefined : Math.min(...known(earliest)),
    latestMs: latest.includes(undefined) ? undefined : Math.max(...known(latest)),
  };
}
