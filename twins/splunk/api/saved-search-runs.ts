/** Running saved searches, and what became of it. */
import type { Job } from "../jobs/job.ts";
import type { JobRequest } from "../jobs/job-request.ts";
import type { Entry } from "../output/entry.ts";
import { fireAlerts, isRunOf } from "../saved/alerts.ts";
import { buildSavedRequest, SCHEDULER, unservedSetting } from "../saved/run-request.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { type Call, userOf } from "./call.ts";
import { feedOf } from "./collection.ts";
import { feedResponse, pageOf } from "./entries.ts";
import { checkedRange } from "./job-arguments.ts";
import { startedResponse } from "./jobs.ts";
import { segmentOf } from "./name-segment.ts";
import { fatal } from "./rest-error.ts";
import { rights } from "./rights.ts";
import { route } from "./route.ts";
import { checkSettingValues, disabledSearch, findSaved } from "./saved-searches.ts";
import { startJob } from "./start-job.ts";
import { readTime } from "./time-argument.ts";

const PATH = "/saved/searches/:name";

/** What the saved search is run with. @throws RestError 400 */
function requestOf(call: Call, row: SavedSearchRow): JobRequest {
  const { arguments: asked, twin } = call;
  checkSettingValues(call, row.settings);
  const given = Object.fromEntries(asked.names().map((name) => [name, asked.get(name) ?? ""]));
  const unserved = unservedSetting({ row, given });
  if (unserved !== undefined) throw fatal(400, unserved);
  const nowText = asked.text("dispatch.now") ?? asked.text("now");
  const nowMs = nowText === undefined ? undefined : readTime(call, "now", nowText);
  const owner = userOf(call).name;
  return buildSavedRequest(twin, {
    row,
    owner,
    rights: rights(call),
    sidStem: `${owner}__${owner}`,
    atMs: twin.clock.now(),
    nowMs,
    given,
    request: asked.plain(),
    range(setting) {
      const time = (name: "earliest_time" | "latest_time") => {
        const text = setting(name);
        return text === undefined ? undefined : readTime(call, name, text, nowMs, setting("time_format"));
      };
      return checkedRange(time("earliest_time"), time("latest_time"));
    },
  });
}

function historyEntries(call: Call, row: SavedSearchRow): Entry[] {
  return call.twin.jobs.list().flatMap((job): Entry[] => {
    const { row: state } = job;
    if (state === undefined || !isRunOf(row, state)) return [];
    const createdMs = Date.parse(state.created_at);
    return [
      {
        name: job.sid,
        path: `/servicesNS/nobody/${state.app}/search/jobs/${segmentOf(job.sid)}`,
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
          isScheduled: job.sid.startsWith(SCHEDULER),
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
function fireWhenOver({ twin }: Call, row: SavedSearchRow, job: Job): void {
  fireAlerts(twin, row, job).catch((error: unknown) => {
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
      if (triggers) fireWhenOver(call, row, job);
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
