/** The summary of a search job: statistics of the fields of its events. */
import { type EventStatistics, eventStatistics } from "../jobs/event-statistics.ts";
import type { Job } from "../jobs/job.ts";
import { type FieldSummary, filterByText, summarise } from "../jobs/summary.ts";
import { filterByTime } from "../jobs/time-range.ts";
import { type Bucket, timeline } from "../jobs/timeline.ts";
import { RESULTS_DECLARATION } from "../output/write-xml.ts";
import { xmlAttribute, xmlText } from "../output/xml.ts";
import type { Relation } from "../spl/relation/relation.ts";
import type { TimeRange } from "../spl/time/time-range.ts";
import { invalidArgument } from "./arguments.ts";
import type { Call } from "./call.ts";
import { readRange } from "./job-arguments.ts";
import { bucketElement, bucketObject, type TimeFormatter } from "./job-buckets.ts";
import { finishedJob } from "./job-timeline.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { readResultArguments } from "./result-arguments.ts";
import { route } from "./route.ts";
import { timeFormatter } from "./time-format.ts";

/** Fields that all events have, and that are never relevant. */
const irrelevantFields = /^(linecount|punct|timestartpos|timeendpos|date_.*|splunk_server|index)$/;
const MAX_VALUES = 1_000;

interface Summary {
  readonly earliestS: number;
  readonly latestS: number;
  readonly events: number;
  readonly fields: readonly FieldSummary[];
  /** Its events over time, if that is asked for. */
  readonly buckets: readonly Bucket[];
}

/** @throws RestError 400 */
function readMinShare(call: Call): number {
  const text = call.arguments.text("min_freq") ?? "0";
  const share = Number(text);
  if (share >= 0 && share <= 1) return share;
  throw invalidArgument("min_freq", text);
}

/** The events that are asked for, and the range that they are of: the request's, the job's, or their own. */
function filterEvents(call: Call, job: Job): { events: Relation | undefined; range: TimeRange } {
  const asked = readRange(call, job.request.nowMs ?? job.createdMs);
  const range = {
    earliestMs: asked.earliestMs ?? job.request.range.earliestMs,
    latestMs: asked.latestMs ?? job.request.range.latestMs,
  };
  if (job.events === undefined) return { events: undefined, range };
  const within = filterByTime(job.events, asked);
  const text = call.arguments.text("search");
  return { events: text === undefined ? within : filterByText(within, text), range };
}

const noEvents: EventStatistics = { count: 0, earliest: undefined, latest: undefined };

async function summaryOf(call: Call, job: Job): Promise<Summary> {
  const { showsField } = readResultArguments(call);
  const topCount = Math.min(call.arguments.integer("top_count", 10), MAX_VALUES);
  const share = readMinShare(call);
  const wantsBuckets = call.arguments.flag("histogram", false);
  const { events, range } = filterEvents(call, job);
  const options = { signal: call.request.signal };
  const store = await job.store();
  const found = events === undefined ? noEvents : await eventStatistics(store, events, options);
  const earliestS = range.earliestMs === undefined ? (found.earliest ?? 0) : range.earliestMs / 1000;
  const latestS = range.latestMs === undefined ? (found.latest ?? 0) : range.latestMs / 1000;
  const whole = { earliestS, latestS, events: found.count };
  const maxBuckets = job.request.statusBuckets;
  if (events === undefined || maxBuckets === 0) return { ...whole, fields: [], buckets: [] };
  const columns = events.columns.filter(({ name }) => showsField?.(name) ?? !name.startsWith("_"));
  const fields = await summarise(store, events, columns, topCount, options);
  const buckets =
    !wantsBuckets || found.count === 0
      ? []
      : await timeline(store, events, {
          fromMs: earliestS * 1000,
          // The latest event is in it, the end of a range is not.
          toMs: latestS * 1000 + (range.latestMs === undefined ? 1 : 0),
          maxBuckets,
          timeZone: call.twin.timeZone,
          ...options,
        });
  return { ...whole, fields: fields.filter(({ count }) => count >= share * found.count), buckets };
}

async function summary(call: Call) {
  const job = finishedJob(call);
  if (job === undefined) return { status: 204 };
  await job.done;
  const found = await summaryOf(call, job);
  const time = timeFormatter(readResultArguments(call).timeFormat, call.twin.timeZone);
  const body = call.mode === "json" ? summaryJson(found, time) : summaryXml(found, time);
  return { status: 200, headers: { "content-type": call.mode === "json" ? JSON_TYPE : XML_TYPE }, body };
}

function summaryJson({ earliestS, latestS, events, fields, buckets }: Summary, time: TimeFormatter): string {
  const members = fields.map(({ name, count, numericCount, distinctCount, numbers, modes }) => [
    name,
    {
      count,
      numeric_count: numericCount,
      distinct_count: distinctCount,
      is_exact: true,
      relevant: count * 2 >= events && !irrelevantFields.test(name),
      ...(numbers === undefined
        ? {}
        : { min: String(numbers.min), max: String(numbers.max), mean: numbers.mean, stdev: numbers.stdev }),
      modes: modes.map((mode) => ({ ...mode, is_exact: true })),
    },
  ]);
  return JSON.stringify({
    earliest_time: time(earliestS),
    latest_time: time(latestS),
    duration: Math.max(0, latestS - earliestS),
    event_count: events,
    fields: Object.fromEntries(members),
    histogram: buckets.map((bucket) => bucketObject(bucket, time)),
  });
}

function summaryXml({ earliestS, latestS, events, fields, buckets }: Summary, time: TimeFormatter): string {
  const duration = Math.max(0, latestS - earliestS);
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
  const bars = buckets.map((bucket) => `  ${bucketElement(bucket, time)}`);
  return [
    `${RESULTS_DECLARATION}\n`,
    `<summary earliest_time='${time(earliestS)}' latest_time='${time(latestS)}' duration='${duration}' c='${events}'>\n`,
    ...elements,
    ...(bars.length === 0 ? [] : ["  <histogram>\n", ...bars, "  </histogram>\n"]),
    "</summary>\n",
  ].join("");
}

export const jobSummaryOperations = route({
  id: "job.summary",
  method: "GET",
  path: "/search/jobs/:sid/summary",
  v2: true,
  capability: "search",
  modes: ["xml", "json"],
  summary: "Answer with statistics of the fields of a search's events.",
  handle: summary,
});
