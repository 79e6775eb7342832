/** Exports: a search whose results are streamed while it runs. No job remains afterwards. */
import { Readable } from "node:stream";
import type { Job } from "../jobs/job.ts";
import type { RowStream } from "../jobs/row-stream.ts";
import { joinOrStream, yieldBetween } from "../output/chunks.ts";
import type { ResultSet } from "../output/result-set.ts";
import { writeCsv } from "../output/write-csv.ts";
import { jsonRowsLines, writeJsonColsLine } from "../output/write-json.ts";
import { writeJsonLines } from "../output/write-json-lines.ts";
import { writeRaw } from "../output/write-raw.ts";
import { type RawMarkup, RESULTS_DECLARATION, resultsElement } from "../output/write-xml.ts";
import type { Call } from "./call.ts";
import { previews, waitForPreview, wantsPreviews } from "./export-previews.ts";
import { resultSets, streamFor } from "./export-rows.ts";
import { readJobRequest } from "./job-arguments.ts";
import { checkJobParameters } from "./job-parameters.ts";
import { failedJobError } from "./job-results.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { outputModes } from "./output-mode.ts";
import { type ResultArguments, readResultArguments } from "./result-arguments.ts";
import { resultPage } from "./result-page.ts";
import { route } from "./route.ts";
import { markupOf } from "./segmentation.ts";
import { startJobNow } from "./start-job.ts";

const TEXT = "text/plain; charset=UTF-8";

async function exportSearch(call: Call) {
  const given = readResultArguments(call);
  // `search` is the search to run, not one over results; and all rows are sent unless `count` is given.
  const wanted = { ...given, search: undefined, count: call.arguments.integer("count", 0) };
  const markup = markupOf(wanted.segmentation);
  checkJobParameters(call);
  const stream = streamFor(call, wanted);
  const job = startJobNow(call, readJobRequest(call, { stream }));
  const cleanUp = () => {
    call.twin.jobs.remove(job.sid);
    stream.end();
  };
  call.request.signal.addEventListener("abort", cleanUp, { once: true });
  const withPreviews = wantsPreviews(call, job, wanted);
  // Most errors show before the first row, in time for a status of their own.
  await (withPreviews ? waitForPreview(call, stream) : stream.started);
  if (job.row?.state === "FAILED") {
    const failure = failedJobError(job);
    cleanUp();
    throw failure;
  }
  const writer = writerOf(wanted.mode, markup);
  const results = resultSets(call, job, stream, wanted);
  const body = withPreviews
    ? toStream(writer, withPreviewSets(call, job, stream, wanted, results))
    : await toBody(writer, results).catch((error: unknown) => {
        cleanUp();
        throw error;
      });
  if (typeof body === "string") cleanUp();
  else body.once("close", cleanUp);
  return { status: 200, headers: { "content-type": writer.contentType }, body };
}

/** Results up to this length are sent as one body. */
const MAX_BUFFERED_CHARACTERS = 16 * 1024;

/** The body of an answer: a string for a single short set, else a stream. */
async function toBody(writer: Writer, sets: AsyncGenerator<ResultSet>): Promise<string | Readable> {
  const first = await sets.next();
  if (!first.done && !first.value.hasMore) {
    return joinOrStream(writeWhole(writer, first.value), MAX_BUFFERED_CHARACTERS);
  }
  return toStream(writer, sets, first);
}

function* writeWhole({ begin, write }: Writer, results: ResultSet): Generator<string> {
  if (begin !== "") yield begin;
  yield* write(results);
}

function toStream(
  { begin, write }: Writer,
  sets: AsyncGenerator<ResultSet>,
  first?: IteratorResult<ResultSet>,
): Readable {
  async function* chunks() {
    if (begin !== "") yield begin;
    for (let next = first ?? (await sets.next()); !next.done; next = await sets.next()) {
      yield* yieldBetween(write(next.value));
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}

/** Yields the previews, then the results. */
async function* withPreviewSets(
  call: Call,
  job: Job,
  stream: RowStream,
  wanted: ResultArguments,
  results: AsyncGenerator<ResultSet>,
): AsyncGenerator<ResultSet> {
  for await (const preview of previews(call, job, stream)) {
    const found = { ...preview, preview: true };
    const page = await resultPage(call, job, found, { ...wanted, offset: 0, count: 0 });
    yield { ...page, messages: [] };
  }
  yield* results;
}

interface Writer {
  contentType: string;
  /** Written once, before all sets. */
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
    handle: exportSearch,
  }),
);
