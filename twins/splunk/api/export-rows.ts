/** All rows of an export, in the sets in which they are written. */
import type { Job } from "../jobs/job.ts";
import { RowOutlet } from "../jobs/row-outlet.ts";
import type { ResultSet } from "../output/result-set.ts";
import { emptyRows } from "../spl/relation/rows.ts";
import type { Call } from "./call.ts";
import { failedJob } from "./job-results.ts";
import { fatal } from "./rest-error.ts";
import { MOST_ROWS, type ResultArguments } from "./result-arguments.ts";
import { resultPage } from "./result-page.ts";

/** Rows that are sent before the search knows how many there are: few are found soon. */
const FIRST_ROWS = 250;

/** An outlet for the rows that are asked for. No number of them is too large, unless `max_count` or `count` says so. */
export function outletFor({ arguments: given }: Call, wanted: ResultArguments): RowOutlet {
  const { count, offset, summary, mode } = wanted;
  const most =
    given.text("max_count") === undefined ? Number.POSITIVE_INFINITY : given.integer("max_count", 1, 1);
  // A summary stands before the rows, and is of those in the first set.
  const firstRows = summary ? MOST_ROWS : FIRST_ROWS;
  const part = { most, offset, count: count === 0 ? Number.POSITIVE_INFINITY : count, firstRows };
  return new RowOutlet(part, mode === "raw" ? "_raw" : undefined);
}

/**
 * The rows, set after set: the last one says that nothing comes behind it. It is there when the search is over.
 * @throws RestError of a search that failed: its rows are not all that there are
 */
export async function* resultSets(
  call: Call,
  job: Job,
  outlet: RowOutlet,
  wanted: ResultArguments,
): AsyncGenerator<ResultSet> {
  const { messages } = job.notes;
  let said = 0;
  let continues = false;
  for (let slice = await outlet.take(); slice !== undefined; slice = await outlet.take()) {
    // Who takes rows asks about the job.
    job.attention.draw();
    const { goesOn } = slice;
    if (!goesOn) await job.done;
    if (!goesOn && job.row?.state !== "DONE") break;
    const found = { rows: slice, isEvents: job.isEvents, preview: false, firstRow: slice.from };
    const page = await resultPage(call, job, found, { ...wanted, summary: wanted.summary && !continues });
    const more = messages.slice(said);
    if (!continues) said = messages.length;
    yield { ...page, messages: more, continues, goesOn };
    if (!goesOn) return;
    continues = true;
  }
  if (job.row?.state !== "DONE") throw endedEarly(job);
  // It was ended by its owner, or by its time limit.
  const nothing = { rows: emptyRows, isEvents: job.isEvents, preview: false, firstRow: 0 };
  const end = await resultPage(call, job, nothing, wanted);
  yield { ...end, messages: messages.slice(said), continues };
}

/** Why not all rows of a job came. */
function endedEarly(job: Job): Error {
  return job.row === undefined
    ? fatal(400, "Search not executed: the search was cancelled.")
    : failedJob(job);
}
