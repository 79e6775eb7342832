/** Summary and timeline of a search job. */
import type { Job } from "../jobs/job.ts";
import { type FieldSummary, summarise } from "../jobs/summary.ts";
import { type Bucket, timeline } from "../jobs/timeline.ts";
import { RESULTS_DECLARATION } from "../output/write-xml.ts";
import { xmlAttribute, xmlText } from "../output/xml.ts";
import type { Call } from "./call.ts";
import { failedJob } from "./job-results.ts";
import { findJob } from "./jobs.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { readResultArguments } from "./result-arguments.ts";
import { route } from "./route.ts";
import { timeWriter } from "./time-format.ts";

/** Fields that all events have and nobody asks about. */
const ordinary = /^(linecount|punct|timestartpos|timeendpos|date_.*|splunk_server|index)$/;
const MOST_VALUES = 1_000;

interface Range {
  earliestS: number;
  latestS: number;
}

/** The range that the search looked at: the request's, else that of its events. */
async function rangeOf(job: Job): Promise<Range & { events: number }> {
  const figures = await job.figures();
  const { earliestMs, latestMs } = job.request.range;
  const found = figures?.found;
  return {
    earliestS: earliestMs === undefined ? (found?.earliest ?? 0) : earliestMs / 1000,
    latestS: latestMs === undefined ? (found?.latest ?? 0) : latestMs / 1000,
    events: found?.count ?? 0,
  };
}

/** @throws RestError 400; `undefined` while the search goes on */
function finishedJob(call: Call): Job | undefined {
  const job = findJob(call);
  if (job.row?.state === "FAILED") throw failedJob(job);
  return job.isOver ? job : undefined;
}

async function summary(call: Call) {
  const job = finishedJob(call);
  if (job === undefined) return { status: 204 };
  await job.done;
  const { keeps, timeFormat } = readResultArguments(call);
  const topCount = Math.min(call.arguments.integer("top_count", 10), MOST_VALUES);
  const leastShare = Number(call.arguments.text("min_freq") ?? 0);
  const range = await rangeOf(job);
  const { events } = job;
  const wanted = events?.columns.filter(({ name }) => keeps?.(name) ?? !name.startsWith("_")) ?? [];
  const fields =
    events === undefined || job.request.statusBuckets === 0
      ? []
      : await summarise(await job.store(), events, wanted, topCount, { signal: call.request.signal });
  const shown = fields.filter(({ count }) => count >= leastShare * range.events);
  const time = timeWriter(timeFormat, call.twin.timeZone);
  const body = call.mode === "json" ? summaryJson(shown, range, time) : summaryXml(shown, range, time);
  return { status: 200, headers: { "content-type": call.mode === "json" ? JSON_TYPE : XML_TYPE }, body };
}

type Writer = (seconds: number) => string;

function summaryJson(
  fields: readonly FieldSummary[],
  range: Range & { events: number },
  time: Writer,
): string {
  const members = fields.map(({ name, count, numericCount, distinctCount, numbers, modes }) => [
    name,
    {
      count,
      numeric_count: numericCount,
      distinct_count: distinctCount,
      is_exact: true,
      relevant: count * 2 >= range.events && !ordinary.test(name),
      ...(numbers === undefined
        ? {}
        : { min: String(numbers.min), max: String(numbers.max), mean: numbers.mean, stdev: numbers.stdev }),
      modes: modes.map((mode) => ({ ...mode, is_exact: true })),
    },
  ]);
  return JSON.stringify({
    earliest_time: time(range.earliestS),
    latest_time: time(range.latestS),
    duration: Math.max(0, range.latestS - range.earliestS),
    event_count: range.events,
    fields: Object.fromEntries(members),
    histogram: [],
  });
}

function summaryXml(
  fields: readonly FieldSummary[],
  range: Range & { events: number },
  time: Writer,
): string {
  const duration = Math.max(0, range.latestS - range.earliestS);
  const elements = fields.map(({ name, count, numericCount, distinctCount, numbers, modes }) => {
    const figures =
      numbers === undefined
        ? ""
        : Object.entries(numbers)
            .map(([figure, value]) => `    <${figure}>${value}</${figure}>\n`)
            .join("");
    const values = modes.map(
      (mode) =>
        `      <value c='${mode.count}' exact='1'>\n        <text>${xmlText(mode.value)}</text>\n      </value>\n`,
    );
    return [
      `  <field k='${xmlAttribute(name)}' c='${count}' nc='${numericCount}' dc='${distinctCount}' exact='1'>\n`,
      figures,
      `    <modes>\n${values.join("")}    </modes>\n  </field>\n`,
    ].join("");
  });
  return [
    `${RESULTS_DECLARATION}\n`,
    `<summary earliest_time='${time(range.earliestS)}' latest_time='${time(range.latestS)}' duration='${duration}' c='${range.events}'>\n`,
    ...elements,
    "</summary>\n",
  ].join("");
}

async function buckets(call: Call) {
  const job = finishedJob(call);
  if (job === undefined) return { status: 204 };
  await job.done;
  const range = await rangeOf(job);
  const found =
    job.events === undefined || job.request.statusBuckets === 0 || range.events === 0
      ? []
      : await timeline(await job.store(), job.events, {
          fromMs: range.earliestS * 1000,
          // The latest event is in it, the end of a range is not.
          toMs: range.latestS * 1000 + (job.request.range.latestMs === undefined ? 1 : 0),
          mostBuckets: job.request.statusBuckets,
          timeZone: call.twin.timeZone,
          signal: call.request.signal,
        });
  const time = timeWriter(readResultArguments(call).timeFormat, call.twin.timeZone);
  const body = call.mode === "json" ? timelineJson(found, range, time) : timelineXml(found, range, time);
  return { status: 200, headers: { "content-type": call.mode === "json" ? JSON_TYPE : XML_TYPE }, body };
}

function timelineJson(
  found: readonly Bucket[],
  { earliestS, events }: Range & { events: number },
  time: Writer,
): string {
  return JSON.stringify({
    cursor_time: earliestS,
    is_time_cursored: true,
    buckets: found.map(({ startMs, endMs, count }) => ({
      total_count: count,
      available_count: count,
      is_finalized: true,
      duration: (endMs - startMs) / 1000,
      earliest_strftime: time(startMs / 1000),
      earliest_time: startMs / 1000,
      earliest_time_offset: 0,
      latest_time_offset: 0,
    })),
    event_count: events,
  });
}

function timelineXml(
  found: readonly Bucket[],
  { earliestS, events }: Range & { events: number },
  time: Writer,
): string {
  const elements = found.map(({ startMs, endMs, count }) => {
    const duration = (endMs - startMs) / 1000;
    return `  <bucket c='${count}' a='${count}' t='${startMs / 1000}' d='${duration}' f='1' etz='0' ltz='0'>${time(startMs / 1000)}</bucket>\n`;
  });
  return [
    `${RESULTS_DECLARATION}\n`,
    `<timeline c='${events}' cursor='${earliestS}' is_time_cursored='1'>\n`,
    ...elements,
    "</timeline>\n",
  ].join("");
}

export const jobFigureOperations = [
  ...route({
    id: "job.summary",
    method: "GET",
    path: "/search/jobs/:sid/summary",
    capability: "search",
    v2: true,
    modes: ["xml", "json"],
    summary: "Answer with statistics of the fields of a search's events.",
    handle: summary,
  }),
  ...route({
    id: "job.timeline",
    method: "GET",
    path: "/search/jobs/:sid/timeline",
    capability: "search",
    v2: true,
    modes: ["xml", "json"],
    summary: "Answer with a search's events over time.",
    handle: buckets,
  }),
];
