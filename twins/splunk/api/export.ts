/** A search whose results are sent as they are written: no job is left to be asked. */
import { Readable } from "node:stream";
import type { Job } from "../jobs/job.ts";
import type { RowOutlet } from "../jobs/row-outlet.ts";
import { bodyOf, inTurns } from "../output/pieces.ts";
import type { ResultSet } from "../output/result-set.ts";
import { writeCsv } from "../output/write-csv.ts";
import { jsonRowsLines, writeJsonColsLine } from "../output/write-json.ts";
import { writeJsonLines } from "../output/write-json-lines.ts";
import { writeRaw } from "../output/write-raw.ts";
import { type RawMarkup, RESULTS_DECLARATION, resultsElement } from "../output/write-xml.ts";
import type { Call } from "./call.ts";
import { previews, untilPreview, wantsPreviews } from "./export-previews.ts";
import { outletFor, resultSets } from "./export-rows.ts";
import { readJobRequest } from "./job-arguments.ts";
import { checkJobParameters } from "./job-parameters.ts";
import { failedJob } from "./job-results.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { outputModes } from "./output-mode.ts";
import { type ResultArguments, readResultArguments } from "./result-arguments.ts";
import { resultPage } from "./result-page.ts";
import { route } from "./route.ts";
import { markupOf } from "./segmentation.ts";
import { startJobNow } from "./start-job.ts";

const TEXT = "text/plain; charset=UTF-8";

async function exported(call: Call) {
  const given = readResultArguments(call);
  // The search is in `search`, and all of its results are meant unless a number is given.
  const wanted = { ...given, search: undefined, count: call.arguments.integer("count", 0) };
  const markup = markupOf(wanted.segmentation);
  checkJobParameters(call);
  const outlet = outletFor(call, wanted);
  const job = startJobNow(call, readJobRequest(call, { outlet }));
  const leave = () => {
    call.twin.jobs.remove(job.sid);
    outlet.end();
  };
  call.request.signal.addEventListener("abort", leave, { once: true });
  const withPreviews = wantsPreviews(call, job, wanted);
  // What is wrong with a search shows at once, as a rule: it has a status of its own then.
  await (withPreviews ? untilPreview(call, outlet) : outlet.begun);
  if (job.row?.state === "FAILED") {
    const failure = failedJob(job);
    leave();
    throw failure;
  }
  const writer = writerOf(wanted.mode, markup);
  const results = resultSets(call, job, outlet, wanted);
  const body = withPreviews
    ? streamed(writer, allSets(call, job, outlet, wanted, results))
    : await shortest(writer, results).catch((error: unknown) => {
        leave();
        throw error;
      });
  if (typeof body === "string") leave();
  else body.once("close", leave);
  return { status: 200, headers: { "content-type": writer.contentType }, body };
}

/** Results that are no longer than this go out at once. */
const LONGEST_WHOLE = 16 * 1024;

/** A text when there is one set of a few rows. */
async function shortest(writer: Writer, sets: AsyncGenerator<ResultSet>): Promise<string | Readable> {
  const first = await sets.next();
  if (!first.done && !first.value.goesOn) return bodyOf(whole(writer, first.value), LONGEST_WHOLE);
  return streamed(writer, sets, first);
}

function* whole({ begin, write }: Writer, results: ResultSet): Generator<string> {
  if (begin !== "") yield begin;
  yield* write(results);
}

function streamed(
  { begin, write }: Writer,
  sets: AsyncGenerator<ResultSet>,
  first?: IteratorResult<ResultSet>,
): Readable {
  async function* pieces() {
    if (begin !== "") yield begin;
    for (let next = first ?? (await sets.next()); !next.done; next = await sets.next()) {
      yield* inTurns(write(next.value));
    }
  }
  return Readable.from(pieces(), { objectMode: false });
}

/** Previews, and behind them the results. */
async function* allSets(
  call: Call,
  job: Job,
  outlet: RowOutlet,
  wanted: ResultArguments,
  results: AsyncGenerator<ResultSet>,
): AsyncGenerator<ResultSet> {
  for await (const preview of previews(call, job, outlet)) {
    const found = { ...preview, preview: true };
    const page = await resultPage(call, job, found, { ...wanted, offset: 0, count: 0 });
    yield { ...page, messages: [] };
  }
  yield* results;
}

interface Writer {
  contentType: string;
  /** What stands before everything. */
  begin: string;
  write(set: ResultSet): Generator<string>;
}

function writerOf(mode: ResultArguments["mode"], markup: RawMarkup): Writer {
  switch (mode) {
    case "json":
      return { contentType: JSON_TYPE, begin: "", write: writeJsonLines };
    case "json_rows":
      return { contentType: JSON_TYPE, begin: "", write: jsonRowsLines() };
    case "json_cols":
      return { contentType: JSON_TYPE, begin: "", write: writeJsonColsLine };
    case "csv":
      return { contentType: "text/csv; charset=UTF-8", begin: "", write: writeCsv };
    case "raw":
      return { contentType: TEXT, begin: "", write: writeRaw };
    default:
      return {
        contentType: XML_TYPE,
        begin: `${RESULTS_DECLARATION}\n`,
        write: (set) => resultsElement(set, markup),
      };
  }
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
