/** Running saved searches, and what became of it. */
import { createHash } from "node:crypto";
import type { Job } from "../jobs/job.ts";
import { DEFAULT_TTL_S, type JobRequest } from "../jobs/job-request.ts";
import type { Entry } from "../output/entry.ts";
import { fireAlerts } from "../saved/alerts.ts";
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
import { fatal } from "./rest-error.ts";
import { rights } from "./rights.ts";
import { route } from "./route.ts";
import { checkSettingValues, disabledSearch, findSaved } from "./saved-searches.ts";
import { readTime } from "./time-argument.ts";

const PATH = "/saved/searches/:name";

/** What the saved search is run with: its own settings, and before them what the request says. */
function requestOf(call: Call, row: SavedSearchRow): JobRequest {
  const given = call.arguments;
  checkSettingValues(call, row.settings);
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
  refuseUnserved(setting);
  const app = row.app;
  const { srchJobsQuota, srchDiskQuotaMb } = rights(call);
  const owner = userOf(call).name;
  const number = (name: string, usual: number) => {
    const value = Number(setting(name) ?? usual);
    return Number.isSafeInteger(value) && value >= 0 ? value : usual;
  };
  return {
    search: withImplicitSearch(withArguments(call, row)),
    owner,
    app,
    sid: savedSid(call, row, owner, app),
    savedSearch: row.name,
    label: row.name,
    range: checkedRange(time("earliest_time"), time("latest_time")),
    nowMs,
    maxCount: Math.min(number("max_count", defaultLimits.maxResultRows), defaultLimits.maxResultRows) || 1,
    maxTimeS: number("max_time", 0),
    ttlS: Math.min(ttlS(call, row, setting("ttl")), MOST_TTL_S),
    statusBuckets: number("buckets", 0),
    priority: 5,
    quota: srchJobsQuota,
    diskQuotaMb: srchDiskQuotaMb,
    given: {
      ...given.plain(),
      ...Object.fromEntries(["earliest_time", "latest_time"].map((name) => [name, setting(name) ?? ""])),
    },
  };
}

/** What a run cannot do here is not left out in silence. @throws RestError 400 */
function refuseUnserved(setting: (name: string) => string | undefined): void {
  for (const name of ["index_earliest", "index_latest"]) {
    if (setting(name) !== undefined) throw fatal(400, `dispatch.${name} is not served here.`);
  }
  const ratio = setting("sample_ratio");
  if (ratio !== undefined && Number(ratio) !== 1) {
    throw fatal(400, "dispatch.sample_ratio is not served here: every event is looked at.");
  }
}

/** Seconds that a run is kept: `600`, or `2p` for twice the time between two runs of its schedule. */
function ttlS(call: Call, row: SavedSearchRow, text = ""): number {
  const [, number, periods] = /^\s*(\d{1,9})\s*(p)?\s*$/.exec(text) ?? [];
  if (number === undefined) return DEFAULT_TTL_S;
  if (periods === undefined) return Number(number);
  const cron = row.is_scheduled ? parseCron(row.cron_schedule) : undefined;
  const [first, second] = cron ? nextTimes(cron, call.twin.clock.now(), 2, call.twin.timeZone) : [];
  if (first === undefined || second === undefined) return DEFAULT_TTL_S;
  return Number(number) * Math.round((second - first) / 1000);
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null || value === "" ? undefined : String(value);
}

/** `$args.x$` and `$x$` stand for the arguments `args.x`. */
function withArguments({ arguments: given }: Call, { search, settings }: SavedSearchRow): string {
  let text = search;
  // What is given stands before what is saved.
  for (const name of new Set([...given.names(), ...Object.keys(settings)])) {
    if (!name.startsWith("args.")) continue;
    const value = given.get(name) ?? settings[name] ?? "";
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

/** Nobody waits for it: what goes wrong with a condition is said in the log. */
function fireWhenOver({ twin }: Call, name: string, job: Job): void {
  fireAlerts(twin, name, job).catch((error: unknown) => {
    twin.log.warn({ err: error, sid: job.sid }, "the alert's condition could not be looked at");
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
      const triggers = call.arguments.flag("trigger_actions", false);
      const job = startJob(call, requestOf(call, row));
      if (triggers) fireWhenOver(call, row.name, job);
      return startedResponse(call, job.sid);
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
];
