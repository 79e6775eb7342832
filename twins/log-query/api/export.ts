/** A search whose results are sent as they are written: no job is left to be asked. */
import { Readable } from "node:stream";
import type { Job } from "../jobs/job.ts";
import type { ResultSet } from "../output/result-set.ts";
import { csvHeader, csvRows } from "../output/write-csv.ts";
import { objectOf } from "../output/write-json.ts";
import { writeRaw } from "../output/write-raw.ts";
import { type RawMarkup, RESULTS_DECLARATION, resultElements, resultsHead } from "../output/write-xml.ts";
import type { Call } from "./call.ts";
import { checkLaunch } from "./get-search.ts";
import { readJobRequest } from "./job-arguments.ts";
import { checkJobParameters } from "./job-parameters.ts";
import { failedJob } from "./job-results.ts";
import { startJobNow } from "./jobs.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { outputModes } from "./output-mode.ts";
import { pageBounds, type ResultArguments, readResultArguments } from "./result-arguments.ts";
import { resultPage } from "./result-page.ts";
import { route } from "./route.ts";
import { markupOf } from "./segmentation.ts";

/** Rows that are written at a time. */
const ROWS_AT_A_TIME = 500;
const TEXT = "text/plain; charset=UTF-8";

async function exported(call: Call) {
  const given = readResultArguments(call);
  // The search is in `search`, and all of its results are meant unless a number is given.
  const wanted = { ...given, search: undefined, count: call.arguments.integer("count", 0) };
  const markup = markupOf(wanted.segmentation);
  checkLaunch(call);
  checkJobParameters(call);
  const job = startJobNow(call, readJobRequest(call));
  const leave = () => call.twin.jobs.remove(job.sid);
  call.request.signal.addEventListener("abort", leave, { once: true });
  await job.done;
  if (job.row?.state === "FAILED") {
    const failure = failedJob(job);
    leave();
    throw failure;
  }
  const { contentType, pieces } = writerOf(wanted.mode, markup);
  return {
    status: 200,
    headers: { "content-type": contentType },
    body: Readable.from(written(call, job, wanted, pieces, leave), { objectMode: false }),
  };
}

type Pieces = (page: ResultSet, place: { first: boolean; last: boolean }) => string;

async function* written(
  call: Call,
  job: Job,
  wanted: ResultArguments,
  pieces: Pieces,
  leave: () => void,
): AsyncGenerator<string> {
  try {
    const rows = job.rows ?? { fields: [], rows: [] };
    const { from, to } = pageBounds(wanted, rows.rows.length);
    for (let offset = from; offset < to || offset === from; offset += ROWS_AT_A_TIME) {
      const count = Math.max(1, Math.min(ROWS_AT_A_TIME, to - offset));
      const page = await resultPage(
        call,
        job,
        { rows: to === from ? { ...rows, rows: [] } : rows, isEvents: job.isEvents, preview: false },
        { ...wanted, offset, count },
      );
      yield pieces(page, { first: offset === from, last: offset + ROWS_AT_A_TIME >= to });
    }
  } finally {
    leave();
  }
}

function writerOf(mode: ResultArguments["mode"], markup: RawMarkup): { contentType: string; pieces: Pieces } {
  switch (mode) {
    case "json":
      return { contentType: JSON_TYPE, pieces: jsonLines };
    case "json_rows":
      return { contentType: JSON_TYPE, pieces: (page, place) => jsonRows(page, place) };
    case "json_cols":
      return { contentType: JSON_TYPE, pieces: (page, place) => jsonRows(page, place) };
    case "csv":
      return {
        contentType: "text/csv; charset=UTF-8",
        pieces: ({ fields, rows }, { first }) =>
          rows.length === 0 ? "" : `${first ? csvHeader(fields) : ""}${csvRows(rows)}`,
      };
    case "raw":
      return { contentType: TEXT, pieces: writeRaw };
    default:
      return {
        contentType: XML_TYPE,
        pieces: (page, { first, last }) =>
          [
            first ? `${RESULTS_DECLARATION}\n${resultsHead(page)}` : "",
            resultElements(page, markup),
            last ? "</results>\n" : "",
          ].join(""),
      };
  }
}

/** One object a line, one line a row. */
function jsonLines({ preview, offset, fields, rows, messages }: ResultSet, place: { last: boolean }): string {
  if (rows.length === 0) {
    const said = messages.length === 0 ? {} : { messages };
    return `${JSON.stringify({ preview, ...said, lastrow: true })}\n`;
  }
  return rows
    .map((row, index) => {
      const lastrow = place.last && index === rows.length - 1 ? { lastrow: true } : {};
      const result = objectOf(fields, row);
      return `${JSON.stringify({ preview, offset: offset + index, ...lastrow, result })}\n`;
    })
    .join("");
}

/** One object a line, one line a row; the values stand in the order of `fields`. */
function jsonRows({ preview, offset, fields, rows }: ResultSet, place: { last: boolean }): string {
  if (rows.length === 0) return `${JSON.stringify({ preview, lastrow: true })}\n`;
  const names = fields.map(({ name }) => name);
  return rows
    .map((row, index) => {
      const lastrow = place.last && index === rows.length - 1 ? { lastrow: true } : {};
      return `${JSON.stringify({ preview, offset: offset + index, ...lastrow, fields: names, row })}\n`;
    })
    .join("");
}

export const exportOperations = (["GET", "POST"] as const).flatMap((method) =>
  route({
    id: "job.export",
    method,
    path: "/search/jobs/export",
    capability: "search",
    v2: true,
    modes: ["xml", ...outputModes],
    summary: "Search, and send the results as a stream.",
    handle: exported,
  }),
);
