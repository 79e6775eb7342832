/** The entry of a search job. */
import { eventCommands } from "../jobs/compile-search.ts";
import type { EventCounts } from "../jobs/event-statistics.ts";
import type { Job } from "../jobs/job.ts";
import { diskUsageBytes } from "../jobs/job-book.ts";
import { DEFAULT_TTL_S, SAVED_TTL_S } from "../jobs/job-request.ts";
import type { Acl, Content, Entry } from "../output/entry.ts";
import { isoTime } from "../output/timestamp.ts";
import { SERVER_NAME } from "../product.ts";
import { SCHEDULER } from "../saved/run-request.ts";
import type { JobRow } from "../world/tables.ts";
import { segmentOf } from "./name-segment.ts";

const links = {
  "search_telemetry.json": "search_telemetry.json",
  "search.log": "search.log",
  events: "events",
  results: "results",
  results_preview: "results_preview",
  timeline: "timeline",
  summary: "summary",
  control: "control",
};

/**
 * @param place address of the collection by which the client asked for the job
 * @param counts absent until the events are counted
 */
export function jobEntry(
  place: string,
  job: Job,
  row: JobRow,
  counts: EventCounts | undefined,
  timeZone: string,
  nowMs: number,
): Entry {
  const createdMs = Date.parse(row.created_at);
  return {
    name: row.state === "QUEUED" ? "" : row.search,
    path: `${place}/${segmentOf(row.sid)}`,
    author: row.owner,
    // The time to live starts at the creation, the end or the last touch of the job.
    updatedMs: Date.parse(row.expires_at) - row.ttl_s * 1000,
    publishedMs: createdMs,
    links,
    acl: jobAcl(row),
    content: {
      ...(row.state === "QUEUED" || row.state === "PARSING" ? {} : runContent(job, row, counts)),
      ...stateContent(job, row, timeZone, nowMs),
    },
  };
}

/** A job is private to its owner, except the scheduled run of a shared search. */
export function jobAcl({ app, owner, readers, ttl_s }: JobRow): Acl {
  return { app, owner, sharing: "global", read: [owner, ...readers], write: [owner], ttl: ttl_s };
}

/** Members of a job in any state. */
function stateContent(job: Job, row: JobRow, timeZone: string, nowMs: number): Record<string, Content> {
  const { state } = row;
  const isOver = state === "DONE" || state === "FAILED";
  const earliestMs = row.earliest_at === null ? 0 : Date.parse(row.earliest_at);
  const left = isOver ? Math.max(0, Math.round((Date.parse(row.expires_at) - nowMs) / 1000)) : row.ttl_s;
  return {
    cursorTime: isoTime(earliestMs, timeZone),
    defaultSaveTTL: String(SAVED_TTL_S),
    defaultTTL: String(DEFAULT_TTL_S),
    delegate: "",
    diskUsage: diskUsageBytes(row),
    // The vendor uses two words; the API shows the documented one.
    dispatchState: state === "PAUSED" ? "PAUSE" : state,
    doneProgress: job.progress,
    earliestTime: isoTime(earliestMs, timeZone),
    ...(row.latest_at === null ? {} : { latestTime: isoTime(Date.parse(row.latest_at), timeZone) }),
    isDone: isOver,
    isFailed: state === "FAILED",
    isFinalized: row.finalized,
    isPaused: state === "PAUSED",
    isSaved: row.saved,
    isSavedSearch: row.saved_search !== null,
    isZombie: false,
    is_prjob: false,
    label: row.saved_search ?? job.request.label,
    priority: row.priority,
    sid: row.sid,
    statusBuckets: job.request.statusBuckets,
    ttl: left,
    workload_pool: "",
    messages: row.messages.map(({ type, text }) => ({ type, text })),
    request: row.request,
    runtime: {
      auto_cancel: String(job.options.autoCancelS),
      auto_pause: String(job.options.autoPauseS),
    },
    ...customContent(row),
    searchProviders: [SERVER_NAME],
  };
}

/** Members of a job that has started. */
function runContent(job: Job, row: JobRow, counts: EventCounts | undefined): Record<string, Content> {
  const { commands, text } = job.pipeline;
  const onEvents = eventCommands(job.pipeline);
  const part = (from: number, to: number) =>
    commands
      .slice(from, to)
      .map(({ name, rawArgs }) => `${name} ${rawArgs}`.trim())
      .join(" | ");
  const eventSearch = part(0, onEvents);
  const { keepsEvents } = job;
  const events = row.event_count ?? counts?.found.count ?? 0;
  const earliestMs = row.earliest_at === null ? 0 : Date.parse(row.earliest_at);
  const latestMs = Date.parse(row.latest_at ?? row.created_at);
  const performance = Object.fromEntries(
    [...job.durations].map(([name, seconds]) => [name, { duration_secs: round(seconds), invocations: 1 }]),
  );
  const lastCommand = commands.at(-1)?.name;
  const counted: Record<string, Content> =
    lastCommand === undefined || !job.isOver
      ? {}
      : { [`command.${lastCommand}`]: { invocations: 1, output_count: row.result_count } };
  return {
    bundleVersion: "1",
    canSummarize: onEvents < commands.length && commands[onEvents]?.name === "stats",
    dropCount: 0,
    eventAvailableCount: onEvents === commands.length ? row.result_count : keepsEvents ? events : 0,
    eventCount: events,
    eventFieldCount: job.events?.columns.length ?? 0,
    eventIsStreaming: commands.slice(0, onEvents).every(({ kind }) => kind === "streaming"),
    eventIsTruncated: !keepsEvents,
    eventSearch,
    eventSorting: job.events === undefined ? "none" : "desc",
    indexEarliestTime: counts?.found.earliest === undefined ? 0 : Math.floor(counts.found.earliest),
    indexLatestTime: counts?.found.latest === undefined ? 0 : Math.floor(counts.found.latest),
    isBatchModeSearch: false,
    isEventsPreviewEnabled: false,
    isPreviewEnabled: job.previews ?? false,
    isRealTimeSearch: false,
    isRemoteTimeline: false,
    isTimeCursored: true,
    keywords: "",
    normalizedSearch: text,
    numPreviews: job.previewCount,
    optimizedSearch: text,
    phase0: eventSearch,
    phase1: part(onEvents, commands.length),
    pid: String(process.pid),
    provenance: provenanceOf(row),
    remoteSearch: eventSearch,
    reportSearch: part(onEvents, commands.length),
    resultCount: row.result_count,
    resultIsStreaming: onEvents === commands.length,
    resultPreviewCount: row.result_count,
    runDuration: job.runDurationS,
    sampleRatio: "1",
    sampleSeed: "0",
    scanCount: row.scan_count ?? counts?.scanned ?? 0,
    search: row.search,
    searchCanBeEventType: commands.length === 1 && commands[0]?.name === "search",
    searchEarliestTime: earliestMs / 1000,
    searchLatestTime: latestMs / 1000,
    searchTotalBucketsCount: 0,
    searchTotalEliminatedBucketsCount: 0,
    performance: { ...counted, ...performance },
  };
}

/** What started the job. */
function provenanceOf({ sid, saved_search }: JobRow): string {
  if (sid.startsWith(SCHEDULER)) return "scheduler";
  return saved_search === null ? "rest:jobs" : `rest:saved:${saved_search}`;
}

/** Custom properties of the job. */
function customContent({ request }: JobRow): Record<string, Content> {
  const given = Object.entries(request).flatMap(([name, value]): [string, Content][] =>
    name.startsWith("custom.") ? [[name.slice("custom.".length), value]] : [],
  );
  return given.length === 0 ? {} : { custom: Object.fromEntries(given) };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
