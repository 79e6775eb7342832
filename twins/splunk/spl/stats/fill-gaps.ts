/** Adds the rows of `chart` and `timechart` that no event falls into: empty time buckets and empty ranges. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { Extent } from "./number-bins.ts";
import { parseRange, type Range } from "./number-bins.ts";
import { checkTableSize, type Table } from "./pivot.ts";
import type { TimeBuckets } from "./time-buckets.ts";

const MAX_ROWS = 50_000;

/**
 * Adds empty time buckets unless `cont=f`. With `partial=f` drops the buckets that the time range cuts.
 * @param extent the search's time range, seconds; an open end is where the rows end
 * @returns `undefined` for more than `MAX_ROWS` rows @throws SplError when the table would have too many cells
 */
export function fillTimeGaps(
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
  const isWhole = (start: number) => partial || (start >= least && buckets.next(start) <= greatest);
  const kept = all.filter(isWhole);
  checkTableSize(command, kept.length, columns.length);
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

/** Adds empty ranges between the first and the last, provided all ranges have one width and there are not too many. */
export function fillRangeGaps(command: string, table: Table): Table {
  const known = new Map<string, ResultValue[]>();
  const others: { key: ResultValue; cells: ResultValue[] }[] = [];
  const ranges: Range[] = [];
  table.keys.forEach((key, index) => {
    const cells = table.cells[index] ?? [];
    const range = parseRange(String(key));
    if (range === undefined) others.push({ key, cells });
    else {
      ranges.push(range);
      known.set(String(key), cells);
    }
  });
  const all = allRanges(ranges);
  if (all === undefined) return table;
  checkTableSize(command, all.length + others.length, table.columns.length);
  const empty = table.columns.map((column) => column.empty);
  return {
    columns: table.columns,
    keys: [...all, ...others.map(({ key }) => key)],
    cells: [...all.map((key) => known.get(key) ?? empty), ...others.map(({ cells }) => cells)],
  };
}

/** The texts of all ranges from first to last; `undefined` when widths differ or there would be more than `MAX_ROWS`. */
function allRanges(ranges: readonly Range[]): string[] | undefined {
  const [first] = ranges;
  if (first === undefined) return undefined;
  const digits = Math.max(...ranges.map(({ text }) => decimals(text)));
  const scale = 10 ** digits;
  const whole = (value: number) => Math.round(value * scale);
  const size = whole(first.to) - whole(first.from);
  if (size <= 0 || ranges.some(({ from, to }) => whole(to) - whole(from) !== size)) return undefined;
  const froms = ranges.map(({ from }) => whole(from));
  const least = Math.min(...froms);
  const count = (Math.max(...froms) - least) / size + 1;
  if (!Number.isInteger(count) || count > MAX_ROWS) return undefined;
  const edge = (value: number) => (value / scale).toFixed(digits);
  return Array.from({ length: count }, (_, index) => {
    const from = least + index * size;
    return `${edge(from)}-${edge(from + size)}`;
  });
}

function decimals(text: string): number {
  return Math.max(...(text.match(/\.\d+/g) ?? ["."]).map((part) => part.length - 1));
}
