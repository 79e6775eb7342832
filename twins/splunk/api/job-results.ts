/** Results and events of a search job. */
import type { VendorResponse } from "@offhook/platform/http/operation";
import { isOn } from "../conf/values.ts";
import type { Job } from "../jobs/job.ts";
import { computePreview } from "../jobs/preview.ts";
import { largeResultRelation } from "../jobs/search-results.ts";
import { filterByTime, filterRowsByTime } from "../jobs/time-range.ts";
import { joinOrStream } from "../output/chunks.ts";
import { feedXml } from "../output/entry.ts";
import type { ResultSet } from "../output/result-set.ts";
import { writeResults } from "../output/write-results.ts";
import { limit } from "../spl/relation/order.ts";
import { emptyRows } from "../spl/relation/rows.ts";
import { readStanza } from "../world/stanza.ts";
import type { Call } from "./call.ts";
import { entryContext } from "./entries.ts";
import { findJob } from "./find-job.ts";
import { readRange } from "./job-arguments.ts";
import { XML_TYPE } from "./messages.ts";
import { segmentOf } from "./name-segment.ts";
import { outputModes } from "./output-mode.ts";
import { RestError } from "./rest-error.ts";
import { MAX_ROWS, type ResultArguments, readResultArguments } from "./result-arguments.ts";
import { type Found, resultPage } from "./result-page.ts";
import { route } from "./route.ts";
import { markupOf } from "./segmentation.ts";

type ResultsKind = "results" | "results_preview" | "events";

/** The error that a failed search returns instead of results. */
export function failedJobError(job: Job): RestError {
  const messages = job.notes.messages.filter(({ type }) => type !== "ERROR");
  return new RestError(400, messages.length > 0 ? messages : (job.row?.messages ?? []));
}

/** Responds with the results of a oneshot search, with status 200 even when it failed. Its `search` is the search itself, not one over results. */
export async function oneshotResponse(
  call: Call,
  job: Job,
  defaultMode: ResultArguments["mode"] = "xml",
): Promise<VendorResponse> {
  const asked = readResultArguments(call);
  // The default of results is XML, that of other responses Atom.
  const mode = call.arguments.text("output_mode") === undefined ? defaultMode : asked.mode;
  const found = { rows: job.rows ?? emptyRows, isEvents: job.isEvents, preview: false };
  const page = await resultPage(call, job, found, { ...asked, search: undefined });
  // A failed search has no rows, and shows its error once.
  const isFailed = job.row?.state === "FAILED";
  const messages = isFailed ? page.messages.filter(({ type }) => type !== "ERROR") : page.messages;
  const set = { ...page, messages };
  return toResponse(
    call,
    job,
    "results",
    set,
    { ...asked, mode },
    mode === "csv" && defaultMode !== "csv" ? "\n" : "",
  );
}

/** Responds with results, a preview or events; 204 while there are none. @throws RestError 400 */
async function resultsResponse(call: Call, job: Job, of: ResultsKind): Promise<VendorResponse> {
  const wanted = readResultArguments(call);
  if (job.row?.state === "FAILED") throw failedJobError(job);
  const found = await findRows(call, job, of);
  if (found === undefined) return { status: 204 };
  const set = await resultPage(call, job, found, wanted);
  return toResponse(call, job, of, set, wanted);
}

/** @param before text before the rows: splunkd writes an empty line before the CSV of a oneshot search */
function toResponse(
  call: Call,
  job: Job,
  of: ResultsKind,
  set: ResultSet,
  { mode, segmentation }: ResultArguments,
  before = "",
): VendorResponse {
  if (mode === "atom") {
    return { status: 200, headers: { "content-type": XML_TYPE }, body: resultsFeed(call, job, of, set) };
  }
  const { contentType, chunks } = writeResults(set, mode, markupOf(segmentation));
  const isEmpty = set.rows.length === 0;
  const body = joinOrStream(isEmpty || before === "" ? chunks : prepend(before, chunks));
  return { status: 200, headers: { "content-type": contentType }, body };
}

function* prepend(first: string, others: Iterable<string>): Generator<string> {
  yield first;
  yield* others;
}

/** Finds the rows to show; `undefined` while there are none. */
async function findRows(call: Call, job: Job, of: ResultsKind): Promise<Found | undefined> {
  // A job from a snapshot is searched again.
  if (job.isOver) await job.done;
  switch (of) {
    case "results": {
      if (!job.isOver || job.rows === undefined) return undefined;
      return { rows: job.rows, isEvents: job.isEvents, preview: false, relation: largeResultRelation(job) };
    }
    case "results_preview": {
      const preview = !job.isOver;
      if (preview && job.previews === false) return undefined;
      const rows = await job.preview(PREVIEW_ROWS);
      if (!preview || job.isEvents || rows.rows.length > 0) {
        return { rows, isEvents: job.isEvents, preview, relation: largeResultRelation(job) };
      }
      return { ...(await computePreview(job, PREVIEW_EVENTS, PREVIEW_ROWS, call.request.signal)), preview };
    }
    case "events": {
      if (!job.isOver) return undefined;
      return { ...(await fetchEvents(call, job)), isEvents: true, preview: false };
    }
  }
}

const PREVIEW_ROWS = 1_000;
/** Number of newest events in the preview of a report. */
const PREVIEW_EVENTS = 10_000;

/** Fetches the events before any transforming command, within the asked time range. */
async function fetchEvents(call: Call, job: Job): Promise<Pick<Found, "rows" | "relation" | "firstRow">> {
  const range = readRange(call, job.request.nowMs ?? job.createdMs);
  if (job.isEvents && job.rows) {
    const many = largeResultRelation(job);
    return { rows: filterRowsByTime(job.rows, range), relation: many && filterByTime(many, range) };
  }
  if (job.events === undefined || !job.keepsEvents) return { rows: emptyRows };
  const events = filterByTime(job.events, range);
  const { count, offset, search } = readResultArguments(call);
  if (search !== undefined) return { rows: emptyRows, relation: limit(events, MAX_ROWS) };
  const context = await job.openContext(call.request.signal);
  // Only the page is fetched, except to count from the end.
  if (offset < 0) return { rows: await context.run(limit(events, MAX_ROWS), MAX_ROWS) };
  const size = Math.max(0, Math.min(count === 0 ? MAX_ROWS : count, MAX_ROWS - offset));
  return { rows: await context.run(limit(events, size, offset), size), firstRow: offset };
}

/** Writes results as entries of a feed. */
function resultsFeed(call: Call, job: Job, of: ResultsKind, set: ResultSet): string {
  const path = `/services/search/jobs/${segmentOf(job.sid)}/${of}`;
  const owner = job.row?.owner ?? "admin";
  const entries = set.rows.map((row, index) => ({
    name: String(set.offset + index),
    path: `${path}/${set.offset + index}`,
    author: owner,
    updatedMs: job.createdMs,
    links: {},
    acl: { app: job.request.app, owner, sharing: "global" as const, read: [owner], write: [owner] },
    content: Object.fromEntries(
      set.columns.flatMap((column): [string, string | readonly string[]][] => {
        const value = column.display(row, set.offset + index);
        return value === null ? [] : [[column.name, value]];
      }),
    ),
  }));
  const paging = { total: set.rows.length, perPage: set.rows.length, offset: set.offset };
  return feedXml(
    { title: of, path, updatedMs: job.createdMs, links: {}, entries, paging, messages: set.messages },
    entryContext(call),
  );
}

/** Refuses a GET with a search over results: always in the second version, in the first by `restmap.conf`. @throws RestError 405 */
function checkPostProcessMethod({ request, twin }: Call): void {
  if (request.method !== "GET") return;
  const { v1APIBlockGETSearchLaunch } = readStanza(twin.tables, "restmap/global");
  if (!request.path.includes("/search/v2/") && !isOn(v1APIBlockGETSearchLaunch)) return;
  throw new RestError(405, [{ type: "FATAL", text: "The method is not allowed." }], { allow: "POST" });
}

const kinds: readonly [ResultsKind, string][] = [
  ["results", "Answer with the results of a finished search."],
  ["results_preview", "Answer with what a search has found so far."],
  ["events", "Answer with the events of a search, before any transforming command."],
];

export const jobResultOperations = kinds.flatMap(([of, summary]) =>
  (["GET", "POST"] as const).flatMap((method) =>
    route({
      id: `job.${of}`,
      method,
      path: `/search/jobs/:sid/${of}`,
      capability: "search",
      v2: true,
      modes: ["xml", ...outputModes],
      summary,
      handle(call) {
        const job = findJob(call);
        if (call.arguments.text("search") !== undefined) checkPostProcessMethod(call);
        return resultsResponse(call, job, of);
      },
    }),
  ),
);
