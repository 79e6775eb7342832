/** Makes the page of results that a request asks for. */
import type { Job } from "../jobs/job.ts";
import { orderedColumns, shapesRows } from "../output/column-order.ts";
import { type ResultField, type ResultSet, type Shown, shownRows, withFields } from "../output/result-set.ts";
import { SERVER_GUID, SERVER_NAME } from "../product.ts";
import { compilePipeline } from "../spl/compile-pipeline.ts";
import { type Rows, relationOf } from "../spl/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { Call } from "./call.ts";
import { pageBounds, type ResultArguments } from "./result-arguments.ts";
import { timeWriter } from "./time-format.ts";

export interface Found {
  readonly rows: Rows;
  /** Whether the rows are events. */
  readonly isEvents: boolean;
  readonly preview: boolean;
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
      : await searched(call, job, found, search);
  const total = rows.rows.length;
  const { from, to } = pageBounds(wanted, total);
  const some = { fields: rows.fields, rows: rows.rows.slice(from, to) };
  const page = orderedColumns(withInternals(some, from, found.isEvents, pipeline), pipeline);
  const shown = shownRows(page, { time: timeWriter(wanted.timeFormat, call.twin.timeZone) });
  const last = pipeline.commands.at(-1)?.name;
  const isTop = last === "top" || last === "rare";
  const set: ResultSet = {
    preview: found.preview,
    offset: from,
    fields: page.fields.map(({ name, groupRank }, index) => ({
      name,
      ...(groupRank === undefined ? {} : { groupRank }),
      ...(isTop && (name === "count" || name === "percent") ? { special: name } : {}),
      ...(wanted.summary ? { summary: summaryOf(shown, index) } : {}),
    })),
    rows: linesOf(page.fields, shown, wanted),
    messages: job.notes.messages,
    ...(search === undefined ? {} : { postProcessCount: total }),
  };
  const kept = wanted.keeps === undefined ? set : withFields(set, wanted.keeps);
  return withoutEmptyFields(kept, total);
}

/** A page without rows has no fields. */
function withoutEmptyFields(set: ResultSet, total: number): ResultSet {
  return total === 0 ? { ...set, fields: [] } : set;
}

/** Event rows with what splunkd says of where an event is kept; nothing is added to rows that a command has put together. */
function withInternals(
  rows: Rows,
  from: number,
  isEvents: boolean,
  pipeline: Pick<Pipeline, "commands">,
): Rows {
  const place = (name: string) => rows.fields.findIndex((field) => field.name === name);
  if (!isEvents || place("_raw") < 0 || shapesRows(pipeline)) return rows;
  const index = place("index");
  const text = { type: "text", multi: false } as const;
  return {
    fields: [
      ...rows.fields,
      { name: "_bkt", ...text },
      { name: "_serial", ...text },
      { name: "_si", type: "text", multi: true },
    ],
    rows: rows.rows.map((row, number) => {
      const name = String(row[index] ?? "");
      return [...row, `${name}~0~${SERVER_GUID}`, String(from + number), [SERVER_NAME, name]];
    }),
  };
}

async function searched(call: Call, job: Job, { rows, isEvents }: Found, search: string) {
  const context = await job.reopened(call.request.signal);
  const pipeline = context.parse(search);
  const relation = await compilePipeline(pipeline, context, relationOf(rows, isEvents ? "events" : "report"));
  const found = await context.run(relation, context.limits.maxResultRows);
  return { rows: found, pipeline: { commands: [...job.pipeline.commands, ...pipeline.commands] } };
}

/** What `add_summary_to_metadata` says of a field. */
function summaryOf(rows: readonly (readonly Shown[])[], column: number): Record<string, string> {
  const values = rows.flatMap((row) => row[column] ?? []);
  const numbers = values.filter((value) => value.trim() !== "").map(Number);
  const numeric = numbers.filter((number) => !Number.isNaN(number));
  const figures: Record<string, number> = {
    count: values.length,
    distinct_count: new Set(values).size,
    numeric_count: numeric.length,
  };
  if (numeric.length > 0 && numeric.length === values.length) {
    const sum = numeric.reduce((total, number) => total + number, 0);
    figures.min = numeric.reduce((a, b) => Math.min(a, b));
    figures.max = numeric.reduce((a, b) => Math.max(a, b));
    figures.mean = sum / numeric.length;
  }
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, String(value)]));
}

/** With no more lines of an event than were asked for. */
function linesOf(
  fields: readonly Pick<ResultField, "name">[],
  rows: readonly (readonly Shown[])[],
  { maxLines }: ResultArguments,
): readonly (readonly Shown[])[] {
  const raw = fields.findIndex(({ name }) => name === "_raw");
  if (maxLines === 0 || raw < 0) return rows;
  return rows.map((row) =>
    row.map((value, column) => {
      if (column !== raw || typeof value !== "string") return value;
      return value.split("\n").slice(0, maxLines).join("\n");
    }),
  );
}
