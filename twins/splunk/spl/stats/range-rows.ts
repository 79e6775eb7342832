/** Rows of `chart` whose key is a range of numbers: `10-20`. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { parseRange, type Range } from "./number-bins.ts";
import { checkSize, type Table } from "./pivot.ts";

const MAX_ROWS = 50_000;

/** Adds the ranges between the first and the last that have no rows, where all are equally long and not too many. */
export function continuousRanges(command: string, table: Table): Table {
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
  checkSize(command, all.length + others.length, table.columns.length);
  const empty = table.columns.map((column) => column.empty);
  return {
    columns: table.columns,
    keys: [...all, ...others.map(({ key }) => key)],
    cells: [...all.map((key) => known.get(key) ?? empty), ...others.map(({ cells }) => cells)],
  };
}

/** The texts of all of them; `undefined` when they are not of one length, or more than a table has rows. */
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
