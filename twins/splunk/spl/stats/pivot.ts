/** Pivots the long form into a table: one row for each key, one column for each series. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { RowField, Rows } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import type { Aggregation } from "./aggregation.ts";
import { parseRange } from "./number-bins.ts";
import type { SeriesOptions } from "./series-options.ts";

export interface Column {
  name: string;
  type: "text" | "number";
  multi: boolean;
  /** What a cell without rows shows: 0 for counts. */
  empty: ResultValue;
}

export interface Table {
  /** Row keys, in order. */
  keys: ResultValue[];
  columns: Column[];
  /** Indexed by row, then by column. */
  cells: ResultValue[][];
}

/** Bounds of a table's size. */
const MAX_COLUMNS = 5_000;
const MAX_CELLS = 2_000_000;
/** Rows of the long form to read: one more than fits into any table. */
export const MAX_LONG_ROWS = MAX_CELLS + 1;

/** @throws SplError when the table would exceed the bounds */
export function checkTableSize(command: string, rows: number, columns: number): void {
  if (columns <= MAX_COLUMNS && rows * columns <= MAX_CELLS) return;
  const size = `${rows} rows of ${columns} columns`;
  const limits = `a table has at most ${MAX_COLUMNS} columns and ${MAX_CELLS} values`;
  throw commandError(
    command,
    `The result would have ${size}, and ${limits}; use 'limit' or a wider 'span'.`,
    "run",
  );
}

/** @param rows in long form: key, series, aggregates @throws SplError for too many series */
export function pivot(
  command: string,
  { rows }: Rows,
  aggregates: readonly Column[],
  { otherstr = "OTHER", nullstr = "NULL", ...options }: SeriesOptions,
): Table {
  const last = [nullstr, otherstr];
  const start = (name: string) => parseRange(name)?.from ?? 0;
  const names = [...new Set(rows.map((row) => String(row[1] ?? "")))].sort(
    (a, b) => last.indexOf(a) - last.indexOf(b) || start(a) - start(b) || (a < b ? -1 : 1),
  );
  checkTableSize(command, new Set(rows.map(([key]) => key)).size, names.length * aggregates.length);
  const columns = aggregates.flatMap((aggregate, aggregateIndex) =>
    names.map((series) => ({
      column: { ...aggregate, name: columnName(series, aggregate.name, aggregates.length, options) },
      series,
      aggregateIndex,
    })),
  );
  const place = new Map(
    columns.map(({ series, aggregateIndex }, index) => [`${aggregateIndex} ${series}`, index]),
  );
  const byKey = new Map<ResultValue, ResultValue[]>();
  for (const [key = null, series = null, ...values] of rows) {
    const cells = byKey.get(key) ?? columns.map(({ column }) => column.empty);
    byKey.set(key, cells);
    values.slice(0, aggregates.length).forEach((value, index) => {
      const at = place.get(`${index} ${String(series ?? "")}`);
      if (at !== undefined && value !== null) cells[at] = value;
    });
  }
  return {
    keys: [...byKey.keys()],
    columns: columns.map(({ column }) => column),
    cells: [...byKey.values()],
  };
}

/** The table of rows without series: key, aggregates. */
export function tableOf({ rows }: Rows, columns: Column[]): Table {
  return {
    keys: rows.map(([key = null]) => key),
    columns,
    cells: rows.map(([, ...values]) => values.slice(0, columns.length)),
  };
}

/** The table as rows whose first field is the key. */
export function rowsOfTable({ keys, columns, cells }: Table, key: RowField): Rows {
  const fields = [key, ...columns.map(({ name, type, multi }) => ({ name, type, multi }))];
  return { fields, rows: keys.map((value, index) => [value, ...(cells[index] ?? [])]) };
}

/** The name of a column: the series' value for a single aggregate, else `avg(x): value`. */
function columnName(
  series: string,
  aggregate: string,
  aggregates: number,
  { sep = ": ", format }: SeriesOptions,
) {
  if (aggregates > 1 || format !== undefined) {
    const template = format ?? `$AGG$${sep}$VAL$`;
    return template.replace(/\$(AGG|VAL)\$/gi, (_, which: string) =>
      which.toUpperCase() === "AGG" ? aggregate : series,
    );
  }
  return series === "" || series.startsWith("_") ? `VALUE_${series.replace(/^_/, "")}` : series;
}

const countFunctions = new Set(["count", "c", "dc", "distinct_count", "estdc"]);

/** What a cell without rows shows: 0 for counts, else nothing. */
export function emptyCell(aggregation: Aggregation | undefined): 0 | null {
  return aggregation?.kind === "measure" && countFunctions.has(aggregation.call.name) ? 0 : null;
}
