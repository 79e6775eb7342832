/** The timeline of a search job. */
import type { Job } from "../jobs/job.ts";
import { type Bucket, timeline } from "../jobs/timeline.ts";
import { RESULTS_DECLARATION } from "../output/write-xml.ts";
import type { Call } from "./call.ts";
import { findJob } from "./find-job.ts";
import { bucketElement, bucketObject, type TimeFormatter } from "./job-buckets.ts";
import { failedJobError } from "./job-results.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { readResultArguments } from "./result-arguments.ts";
import { route } from "./route.ts";
import { timeFormatter } from "./time-format.ts";

interface Range {
  earliestS: number;
  latestS: number;
}

/** The time range of the search: the request's, else that of its events. */
async function rangeOf(job: Job): Promise<Range & { events: number }> {
  const counts = await job.countEvents();
  const { earliestMs, latestMs } = job.request.range;
  const found = counts?.found;
  return {
    earliestS: earliestMs === undefined ? (found?.earliest ?? 0) : earliestMs / 1000,
    latestS: latestMs === undefined ? (found?.latest ?? 0) : latestMs / 1000,
    events: found?.count ?? 0,
  };
}

/** Finds a finished job; `undefined` while it runs. @throws RestError 400 for a failed one */
export function finishedJob(call: Call): Job | undefined {
  const job = findJob(call);
  if (job.row?.state === "FAILED") throw failedJobError(job);
  return job.isOver ? job : undefined;
}

async function respondTimeline(call: Call) {
  const job = finishedJob(call);
  if (job === undefined) return { status: 204 };
  await job.done;
  const range = await rangeOf(job);
  const found =
    job.events === undefined || job.request.statusBuckets === 0 || range.events === 0
      ? []
      : await timeline(await job.store(), job.events, {
          fromMs: range.earliestS * 1000,
          // The end of a range is exclusive, the time of the latest event inclusive.
          toMs: range.latestS * 1000 + (job.request.range.latestMs === undefined ? 1 : 0),
          maxBuckets: job.request.statusBuckets,
          timeZone: call.twin.timeZone,
          signal: call.request.signal,
        });
  const time = timeFormatter(readResultArguments(call).timeFormat, call.twin.timeZone);
  const body = call.mode === "json" ? timelineJson(found, range, time) : timelineXml(found, range, time);
  return { status: 200, headers: { "content-type": call.mode === "json" ? JSON_TYPE : XML_TYPE }, body };
}

function timelineJson(
  found: readonly Bucket[],
  { earliestS, events }: Range & { events: number },
  time: TimeFormatter,
): string {
  return JSON.stringify({
    cursor_time: earliestS,
    is_time_cursored: true,
    buckets: found.map((bucket) => bucketObject(bucket, time)),
    event_count: events,
  });
}

function timelineXml(
  found: readonly Bucket[],
  { earliestS, events }: Range & { events: number },
  time: TimeFormatter,
): string {
  return [
    `${RESULTS_DECLARATION}\n`,
    `<timeline c='${events}' cursor='${earliestS}' is_time_cursored='1'>\n`,
    ...found.map((bucket) => bucketElement(bucket, time)),
    "</timeline>\n",
  ].join("");
}

export const jobTimelineOperations = [
  ...route({
    id: "job.timeline",
    method: "GET",
    path: "/search/jobs/:sid/timeline",
    capability: "search",
    v2: true,
    modes: ["xml", "json"],
    summary: "Answer with a search's events over time.",
    handle: respondTimeline,
  }),
];
