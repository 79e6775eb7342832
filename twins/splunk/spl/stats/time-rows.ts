/** Rows of `timechart` for all of its time. */
import type { Extent } from "./bin-options.ts";
import { checkSize, type Table } from "./pivot.ts";
import type { TimeBuckets } from "./time-buckets.ts";

const MAX_ROWS = 50_000;

/**
 * Fills the rows that have no events, unless `cont=f`; without `partial` those at the ends that are cut are left out.
 * @param extent the search's time, seconds; an open end is where the rows end
 * @returns `undefined` when there would be too many @throws SplError when they would have too many values
 */
export function continuous(
  command: string,
  table: Table,
  buckets: TimeBuckets,
  extent: Partial<Extent>,
  { cont = true, partial = true }: { cont?: boolean; partial?: boolean },
): Table | undefined {
  const { columns } = table;
  if (table.keys.length === 0) return table;
  const known = new Map(
    table.keys.map((key, index) => [buckets.start(Number(key)), table.cells[index] ?? []]),
  );
  const starts = [...known.keys()].sort((a, b) => a - b);
  const all = cont ? allStarts(starts, buckets, extent) : starts;
  if (all === undefined || all.length > MAX_ROWS) return undefined;
  const { least = Number.NEGATIVE_INFINITY, greatest = Number.POSITIVE_INFINITY } = extent;
  const whole = (start: number) => partial || (start >= least && buckets.next(start) <= greatest);
  const kept = all.filter(whole);
  checkSize(command, kept.length, columns.length);
  return {
    columns,
    keys: kept,
    cells: kept.map((start) => known.get(start) ?? columns.map(({ empty }) => empty)),
  };
}

function allStarts(
  starts: readonly number[],
  buckets: TimeBuckets,
  extent: Partial<Extent>,
): number[] | undefined {
  const [first = 0] = starts;
  const last = starts.at(-1) ?? first;
  const from = extent.least === undefined ? first : Math.min(first, buckets.start(extent.least));
  const all: number[] = [];
  for (let at = from; at <= last || at < (extent.greatest ?? last); at = buckets.next(at)) {
    if (all.length >= MAX_ROWS) return undefined;
    all.push(at);
  }
  return all;
}
