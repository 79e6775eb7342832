/** Running saved searches, and what became of it. */
import { createHash } from "node:crypto";
import { DEFAULT_TTL_S, type JobRequest } from "../jobs/job-request.ts";
import type { Entry } from "../output/entry.ts";
import { nextTimes, parseCron } from "../saved/cron.ts";
import { settingsOf } from "../saved/settings.ts";
import { defaultLimits } from "../spl/search-context.ts";
import { withImplicitSearch } from "../spl/syntax/text.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { type Call, userOf } from "./call.ts";
import { feedOf } from "./collection.ts";
import { feedResponse, pageOf } from "./entries.ts";
import { checkedRange, MOST_TTL_S, noRealTime } from "./job-arguments.ts";
import { startedResponse, startJob } from "./jobs.ts";
import { refused } from "./rest-error.ts";
import { rights } from "./rights.ts";
import { route } from "./route.ts";
import { disabledSearch, findSaved, savedPath, savedResponse } from "./saved-searches.ts";
import { readTime } from "./time-argument.ts";

const PATH = "/saved/searches/:name";

/** What the saved search is run with: its own settings, and before them what the request says. */
function requestOf(call: Call, row: SavedSearchRow): JobRequest {
  const given = call.arguments;
  const settings = settingsOf(row);
  const setting = (name: string) => given.text(`dispatch.${name}`) ?? textOf(settings[`dispatch.${name}`]);
  const nowText = given.text("dispatch.now") ?? given.text("now");
  const nowMs = nowText === undefined ? undefined : readTime(call, "now", nowText);
  const time = (name: "earliest_time" | "latest_time") => {
    const text = setting(name);
    if (text === undefined) return undefined;
    if (text.startsWith("rt")) throw noRealTime();
    return readTime(call, name, text, nowMs);
  };
  const app = row.app;
  const owner = userOf(call).name;
  const number = (name: string, usual: number) => {
    const value = Number(setting(name) ?? usual);
    return Number.isSafeInteger(value) && value >= 0 ? value : usual;
  };
  return {
    search: withImplicitSearch(withArguments(call, row.search)),
    owner,
    app,
    sid: savedSid(call, row, owner, app),
    savedSearch: row.name,
    label: row.name,
    range: checkedRange(time("earliest_time"), time("latest_time")),
    nowMs,
    maxCount: Math.min(number("max_count", defaultLimits.maxResultRows), defaultLimits.maxResultRows) || 1,
    maxTimeS: number("max_time", 0),
    ttlS: Math.min(number("ttl", DEFAULT_TTL_S), MOST_TTL_S),
    statusBuckets: number("buckets", 0),
    priority: 5,
    quota: rights(call).srchJobsQuota,
    given: {
      ...given.plain(),
      ...Object.fromEntries(["earliest_time", "latest_time"].map((name) => [name, setting(name) ?? ""])),
    },
  };
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null || value === "" ? undefined : String(value);
}

/** `$args.x$` and `$x$` stand for the arguments `args.x`. */
function withArguments(call: Call, search: string): string {
  let text = search;
  for (const name of call.arguments.names()) {
    if (!name.startsWith("args.")) continue;
    const value = call.arguments.get(name) ?? "";
    text = text.replaceAll(`$${name}$`, () => value).replaceAll(`$${name.slice(5)}$`, () => value);
  }
  return text;
}

function savedSid(call: Call, { name }: SavedSearchRow, owner: string, app: string): string {
  const hash = createHash("md5").update(name).digest("hex").slice(0, 16);
  const stem = `${owner}__${owner}__${app}__RMD5${hash}_at_${Math.floor(call.twin.clock.now() / 1000)}`;
  let number = 0;
  while (call.twin.jobs.find(`${stem}_${number}`)) number++;
  return `${stem}_${number}`;
}

function historyEntries(call: Call, row: SavedSearchRow): Entry[] {
  return call.twin.jobs.list().flatMap((job): Entry[] => {
    const { row: state } = job;
    if (state?.saved_search !== row.name) return [];
    const createdMs = Date.parse(state.created_at);
    return [
      {
        name: job.sid,
        path: `/servicesNS/nobody/${state.app}/search/jobs/${encodeURIComponent(job.sid)}`,
        author: state.owner,
        updatedMs: Date.parse(state.finished_at ?? state.created_at),
        publishedMs: createdMs,
        links: {},
        acl: {
          app: state.app,
          owner: state.owner,
          sharing: "system",
          read: [state.owner],
          write: [state.owner],
          removable: false,
        },
        content: {
          earliestTime: state.earliest_at ?? "",
          eventCount: state.event_count ?? 0,
          isDone: job.isOver,
          isFinalized: state.finalized,
          isRealTimeSearch: false,
          isSaved: state.saved,
          isScheduled: false,
          isZombie: false,
          latestTime: state.latest_at ?? "",
          resultCount: state.result_count,
          start: Math.floor(createdMs / 1000),
          ttl: state.ttl_s,
        },
      },
    ];
  });
}

/** The times of a schedule within a range. @throws RestError 400 */
function scheduledTimes(call: Call, row: SavedSearchRow) {
  const now = call.twin.clock.now();
  const time = (name: string, usual: string) => readTime(call, name, call.arguments.text(name) ?? usual, now);
  const fromMs = time("earliest_time", "now");
  const untilMs = time("latest_time", "+7d");
  const cron = row.is_scheduled && !row.disabled ? parseCron(row.cron_schedule) : undefined;
  if (cron === undefined) return [];
  const times = nextTimes(cron, fromMs - 1, MOST_TIMES, call.twin.timeZone, untilMs);
  return times.map((timeMs) => Math.floor(timeMs / 1000));
}

const MOST_TIMES = 1_000;

/** Something about a saved search, as the only entry of a feed. */
function aboutSaved(call: Call, row: SavedSearchRow, content: Entry["content"]) {
  const entry: Entry = {
    name: row.name,
    path: savedPath(row),
    author: row.owner,
    updatedMs: Date.parse(row.updated_at),
    links: { list: "" },
    acl: { app: row.app, owner: row.owner, sharing: row.sharing, read: ["*"], write: ["*"] },
    content,
  };
  const paging = { total: 1, perPage: 30, offset: 0 };
  return feedResponse(call, {
    ...feedOf(call, "savedsearch", "/saved/searches", {}),
    entries: [entry],
    paging,
  });
}

export const savedSearchRunOperations = [
  ...route({
    id: "saved_search.dispatch",
    method: "POST",
    path: `${PATH}/dispatch`,
    capability: "search",
    summary: "Run a saved search.",
    handle(call) {
      const row = findSaved(call);
      if (row.disabled && !call.arguments.flag("force_dispatch", false)) throw disabledSearch(row.name);
      return startedResponse(call, startJob(call, requestOf(call, row)).sid);
    },
  }),
  ...route({
    id: "saved_search.history",
    method: "GET",
    path: `${PATH}/history`,
    summary: "List the jobs that a saved search has had.",
    handle(call) {
      const row = findSaved(call);
      const page = pageOf(call, historyEntries(call, row), "given");
      return feedResponse(call, { ...feedOf(call, row.name, "/saved/searches", {}), ...page });
    },
  }),
  ...route({
    id: "saved_search.scheduled_times",
    method: "GET",
    path: `${PATH}/scheduled_times`,
    summary: "Say when a saved search is to run.",
    handle(call) {
      const row = findSaved(call);
      return aboutSaved(call, row, { scheduled_times: scheduledTimes(call, row) });
    },
  }),
  ...route({
    id: "saved_search.suppress",
    method: "GET",
    path: `${PATH}/suppress`,
    summary: "Say whether the alerts of a saved search are held back.",
    handle(call) {
      return aboutSaved(call, findSaved(call), { expiration: "0", suppressed: "0", suppressionKey: "" });
    },
  }),
  ...route({
    id: "saved_search.acknowledge",
    method: "POST",
    path: `${PATH}/acknowledge`,
    summary: "Take note of the alerts of a saved search.",
    handle: (call) => savedResponse(call, findSaved(call)),
  }),
  ...route({
    id: "saved_search.reschedule",
    method: "POST",
    path: `${PATH}/reschedule`,
    summary: "Say when a saved search is to run next.",
    handle(call) {
      const row = findSaved(call);
      const text = call.arguments.text("schedule_time");
      if (text !== undefined) {
        try {
          readTime(call, "schedule_time", text);
        } catch {
          throw refused(400, "Invalid schedule_time format");
        }
      }
      return savedResponse(call, row);
    },
  }),
];
