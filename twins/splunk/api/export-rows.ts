/** The rows of an export, as a sequence of result sets. */
import type { Job } from "../jobs/job.ts";
import { RowStream } from "../jobs/row-stream.ts";
import type { ResultSet } from "../output/result-set.ts";
import { emptyRows } from "../spl/relation/rows.ts";
import type { Call } from "./call.ts";
import { failedJobError } from "./job-results.ts";
import { dispatcherError } from "./rest-error.ts";
import { MAX_ROWS, type ResultArguments } from "./result-arguments.ts";
import { resultPage } from "./result-page.ts";

/** Size of the first set: few rows are found fast. */
const FIRST_ROWS = 250;

/** A stream of the asked rows, limited by `max_count` and `count` alone. */
export function streamFor({ arguments: given }: Call, wanted: ResultArguments): RowStream {
  const { count, offset, summary, mode } = wanted;
  const maxRows =
    given.text("max_count") === undefined ? Number.POSITIVE_INFINITY : given.integer("max_count", 1, 1);
  // The summary is written before the rows, and covers the first set.
  const firstRows = summary ? MAX_ROWS : FIRST_ROWS;
  const range = { maxRows, offset, count: count === 0 ? Number.POSITIVE_INFINITY : count, firstRows };
  return new RowStream(range, mode === "raw" ? "_raw" : undefined);
}

/**
 * The rows, set after set. The last set has no `hasMore`, and comes when the search is done.
 * @throws RestError of a search that failed before its last row
 */
export async function* resultSets(
  call: Call,
  job: Job,
  stream: RowStream,
  wanted: ResultArguments,
): AsyncGenerator<ResultSet> {
  const { messages } = job.notes;
  let sentMessages = 0;
  let isContinuation = false;
  for (let slice = await stream.read(); slice !== undefined; slice = await stream.read()) {
    // Reading rows counts as a question about the job.
    job.presence.touch();
    const { hasMore } = slice;
    if (!hasMore) await job.done;
    if (!hasMore && job.row?.state !== "DONE") break;
    const found = { rows: slice, isEvents: job.isEvents, preview: false, firstRow: slice.from };
    const page = await resultPage(call, job, found, {
      ...wanted,
      summary: wanted.summary && !isContinuation,
    });
    const newMessages = messages.slice(sentMessages);
    if (!isContinuation) sentMessages = messages.length;
    yield { ...page, messages: newMessages, isContinuation, hasMore };
    if (!hasMore) return;
    isContinuation = true;
  }
  if (job.row?.state !== "DONE") throw incompleteError(job);
  // The owner or the time limit ended the search early.
  const noMoreRows = { rows: emptyRows, isEvents: job.isEvents, preview: false, firstRow: 0 };
  const end = await resultPage(call, job, noMoreRows, wanted);
  yield { ...end, messages: messages.slice(sentMessages), isContinuation };
}

/** The error of a job that ended before its last row. */
function incompleteError(job: Job): Error {
  return job.row === undefined
    ? dispatcherError(400, "Search not executed: the search was cancelled.")
    : failedJobError(job);
}
