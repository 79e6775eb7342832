/** Makes the page of results that a request asks for. */
import { setImmediate } from "node:timers/promises";
import { orderColumns, shapesRows } from "../jobs/column-order.ts";
import type { Job } from "../jobs/job.ts";
import { type Results, searchResults } from "../jobs/search-results.ts";
import { type ResultColumn, type ResultSet, type Row, toColumns } from "../output/result-set.ts";
import { SERVER_GUID, SERVER_NAME } from "../product.ts";
import type { Rows } from "../spl/relation/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { Call } from "./call.ts";
import { pageBounds, type ResultArguments } from "./result-arguments.ts";
import { timeFormatter } from "./time-format.ts";

export interface Found extends Results {
  readonly preview: boolean;
  /** Index of the first row among all; set when `rows` is the page only. */
  readonly firstRow?: number;
}

/** @throws SplError of a search over the results */
export async function resultPage(
  call: Call,
  job: Job,
  found: Found,
  wanted: ResultArguments,
): Promise<ResultSet> {
  const { search } = wanted;
  const { rows, pipeline } =
    search === undefined
      ? { rows: found.rows, pipeline: job.pipeline }
      : await searchResults(job, found, search, call.request.signal);
  const total = rows.rows.length;
  const isPage = found.firstRow !== undefined && search === undefined;
  const { from, to } = isPage ? { from: found.firstRow ?? 0, to: total } : pageBounds(wanted, total);
  const page = isPage ? rows.rows : rows.rows.slice(from, to);
  const time = timeFormatter(wanted.timeFormat, call.twin.timeZone);
  const fields = toColumns(rows.fields, { time, maxLines: wanted.maxLines });
  const columns = total === 0 ? [] : withInternals(fields, rows, found.isEvents, pipeline);
  const kept = orderColumns(columns, pipeline).filter(({ name }) => wanted.showsField?.(name) ?? true);
  const last = pipeline.commands.at(-1)?.name;
  return {
    preview: found.preview,
    offset: from,
    columns: await addMetadata(kept, page, from, wanted.summary, last === "top" || last === "rare"),
    rows: page,
    messages: job.notes.messages,
    ...(search === undefined ? {} : { postProcessCount: total }),
  };
}

/** Adds splunkd's internal fields, which locate an event, to rows that are events. */
function withInternals(
  columns: readonly ResultColumn[],
  { fields }: Rows,
  isEvents: boolean,
  pipeline: Pick<Pipeline, "commands">,
): readonly ResultColumn[] {
  const place = (name: string) => fields.findIndex((field) => field.name === name);
  if (!isEvents || place("_raw") < 0 || shapesRows(pipeline)) return columns;
  const index = place("index");
  const nameOf = (row: Row) => String(row[index] ?? "");
  const internals: ResultColumn[] = [
    { name: "_bkt", display: (row) => `${nameOf(row)}~0~${SERVER_GUID}` },
    { name: "_serial", display: (_, number) => String(number) },
    { name: "_si", display: (row) => [SERVER_NAME, nameOf(row)] },
  ];
  const own = columns.filter(({ name }) => !internals.some((internal) => internal.name === name));
  return [...own, ...internals];
}

/** Adds metadata to columns. */
async function addMetadata(
  columns: readonly ResultColumn[],
  rows: readonly Row[],
  offset: number,
  withSummary: boolean,
  isTop: boolean,
): Promise<ResultColumn[]> {
  const all: ResultColumn[] = [];
  for (const column of columns) {
    const { name } = column;
    const special = isTop && (name === "count" || name === "percent") ? ({ special: name } as const) : {};
    const summary = withSummary ? { summary: summarise(column, rows, offset) } : {};
    all.push({ ...column, ...special, ...summary });
    if (withSummary) await setImmediate();
  }
  return all;
}

/** Computes the summary of a field for `add_summary_to_metadata`. */
function summarise(column: ResultColumn, rows: readonly Row[], offset: number): Record<string, string> {
  const values = rows.flatMap((row, index) => column.display(row, offset + index) ?? []);
  const numbers = values.filter((value) => value.trim() !== "").map(Number);
  const numeric = numbers.filter((number) => !Number.isNaN(number));
  const statistics: Record<string, number> = {
    count: values.length,
    distinct_count: new Set(values).size,
    numeric_count: numeric.length,
  };
  if (numeric.length > 0 && numeric.length === values.length) {
    const sum = numeric.reduce((total, number) => total + number, 0);
    statistics.min = numeric.reduce((a, b) => Math.min(a, b));
    statistics.max = numeric.reduce((a, b) => Math.max(a, b));
    statistics.mean = sum / numeric.length;
  }
  return Object.fromEntries(Object.entries(statistics).map(([name, value]) => [name, String(value)]));
}
