/** Reads the request of a new search. */
import { DEFAULT_TTL_S, type ExecMode, type JobRequest } from "../jobs/job-request.ts";
import { MAX_TTL_S } from "../saved/run-request.ts";
import { defaultLimits } from "../spl/context/search-context.ts";
import type { TimeRange } from "../spl/time/time-range.ts";
import type { Arguments } from "./arguments.ts";
import { appOf, type Call, userOf } from "./call.ts";
import { dispatcherError } from "./rest-error.ts";
import { rightsOf } from "./rights.ts";
import { LATEST_NOT_AFTER, readTime } from "./time-argument.ts";

const SEARCH_MISSING =
  "The required 'search' parameter for the Splunk platform REST API search/jobs endpoint is not specified. Specify the required 'search' parameter for the POST request on the endpoint and then retry your request.";
const NAME = /^[A-Za-z0-9_.@-]{1,200}$/;

/** @throws RestError 400 */
export function readExecMode(given: Arguments): ExecMode {
  const mode = given.text("exec_mode") ?? "normal";
  if (mode === "normal" || mode === "blocking" || mode === "oneshot") return mode;
  throw dispatcherError(400, "Invalid exec_mode.");
}

/** Reads a job request from a call's arguments. @param more defaults, as of a saved search @throws RestError 400 */
export function readJobRequest(call: Call, more: Partial<JobRequest> = {}): JobRequest {
  const given = call.arguments;
  const search = more.search ?? given.text("search");
  if (search === undefined || search.trim() === "") throw dispatcherError(400, SEARCH_MISSING);
  const sid = given.text("id");
  if (sid !== undefined && !NAME.test(sid)) throw dispatcherError(400, "Invalid id.");
  if (sid !== undefined && call.twin.jobs.find(sid))
    throw dispatcherError(409, `A search job with the sid ${sid} exists already.`);
  if ((given.text("search_mode") ?? "normal") !== "normal") throw noRealTime();
  for (const name of ["index_earliest", "index_latest"]) {
    if (given.text(name) !== undefined)
      throw dispatcherError(400, `${name} is not served here; say _${name}= in the search.`);
  }
  const nowText = given.text("now");
  const nowMs = nowText === undefined ? undefined : readTime(call, "now", nowText, undefined);
  const range = readRange(call, nowMs);
  const { srchJobsQuota, srchDiskQuotaMb } = rightsOf(call);
  return {
    search,
    owner: userOf(call).name,
    app: given.text("namespace") ?? appOf(call),
    sid,
    savedSearch: undefined,
    label: given.text("label") ?? "",
    nowMs,
    maxCount: Math.min(
      given.integer("max_count", defaultLimits.maxResultRows, 1),
      defaultLimits.maxResultRows,
    ),
    maxTimeS: given.integer("max_time", 0),
    ttlS: Math.min(given.integer("timeout", DEFAULT_TTL_S), MAX_TTL_S),
    statusBuckets: Math.min(given.integer("status_buckets", 0), MAX_BUCKETS),
    priority: Math.min(given.integer("priority", 5), 10),
    quota: srchJobsQuota,
    diskQuotaMb: srchDiskQuotaMb,
    given: given.toObject(),
    ...more,
    range: {
      earliestMs: range.earliestMs ?? more.range?.earliestMs,
      latestMs: range.latestMs ?? more.range?.latestMs,
    },
  };
}

const MAX_BUCKETS = 10_000;

/** @throws RestError 400 */
export function readRange(call: Call, nowMs: number | undefined): TimeRange {
  const earliest = call.arguments.text("earliest_time");
  const latest = call.arguments.text("latest_time");
  for (const text of [earliest, latest]) if (text?.startsWith("rt")) throw noRealTime();
  const earliestMs = earliest === undefined ? undefined : readTime(call, "earliest_time", earliest, nowMs);
  const latestMs = latest === undefined ? undefined : readTime(call, "latest_time", latest, nowMs);
  return toRange(earliestMs, latestMs);
}

/** Makes a time range; an earliest time of 0 is open. @throws RestError 400 for an empty range */
export function toRange(earliestMs: number | undefined, latestMs: number | undefined): TimeRange {
  if (earliestMs !== undefined && latestMs !== undefined && earliestMs > 0 && earliestMs >= latestMs) {
    throw dispatcherError(400, LATEST_NOT_AFTER);
  }
  return { earliestMs: earliestMs === 0 ? undefined : earliestMs, latestMs };
}

const noRealTime = () => dispatcherError(400, "Real-time searches are not served here.");
