/** Runs saved searches, and lists their jobs. */
import type { Job } from "../jobs/job.ts";
import type { JobRequest } from "../jobs/job-request.ts";
import type { Entry } from "../output/entry.ts";
import { fireAlerts, isRunOf } from "../saved/alerts.ts";
import { buildSavedRequest, findUnsupportedSetting, SCHEDULER } from "../saved/run-request.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { type Call, userOf } from "./call.ts";
import { feedOf } from "./collection.ts";
import { feedResponse, pageOf } from "./entries.ts";
import { toRange } from "./job-arguments.ts";
import { startedResponse } from "./jobs.ts";
import { segmentOf } from "./name-segment.ts";
import { dispatcherError } from "./rest-error.ts";
import { rightsOf } from "./rights.ts";
import { route } from "./route.ts";
import { checkSettingValues, disabledSearchError, findSavedSearch } from "./saved-searches.ts";
import { startJob } from "./start-job.ts";
import { readTime } from "./time-argument.ts";

const PATH = "/saved/searches/:name";

/** The job request of a saved search. @throws RestError 400 */
function requestOf(call: Call, row: SavedSearchRow): JobRequest {
  const { arguments: asked, twin } = call;
  checkSettingValues(call, row.settings);
  const given = Object.fromEntries(asked.names().map((name) => [name, asked.get(name) ?? ""]));
  const unserved = findUnsupportedSetting({ row, given });
  if (unserved !== undefined) throw dispatcherError(400, unserved);
  const nowText = asked.text("dispatch.now") ?? asked.text("now");
  const nowMs = nowText === undefined ? undefined : readTime(call, "now", nowText);
  const owner = userOf(call).name;
  return buildSavedRequest(twin, {
    row,
    owner,
    rights: rightsOf(call),
    sidStem: `${owner}__${owner}`,
    atMs: twin.clock.now(),
    nowMs,
    given,
    request: asked.toObject(),
    range(setting) {
      const time = (name: "earliest_time" | "latest_time") => {
        const text = setting(name);
        return text === undefined ? undefined : readTime(call, name, text, nowMs, setting("time_format"));
      };
      return toRange(time("earliest_time"), time("latest_time"));
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

/** Fires alerts when the job ends, in the background: the log has any error of the condition. */
function fireWhenDone({ twin }: Call, row: SavedSearchRow, job: Job): void {
  fireAlerts(twin, row, job).catch((error: unknown) => {
    twin.log.warn({ err: error, sid: job.sid }, "could not evaluate the alert condition");
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
      const row = findSavedSearch(call);
      if (row.disabled && !call.arguments.flag("force_dispatch", false)) throw disabledSearchError(row.name);
      const triggersActions = call.arguments.flag("trigger_actions", false);
      const job = startJob(call, requestOf(call, row));
      if (triggersActions) fireWhenDone(call, row, job);
      return startedResponse(call, job.sid);
    },
  }),
  ...route({
    id: "saved_search.history",
    method: "GET",
    path: `${PATH}/history`,
    summary: "List the jobs that a saved search has had.",
    handle(call) {
      const row = findSavedSearch(call);
      const page = pageOf(call, historyEntries(call, row), "given");
      return feedResponse(call, { ...feedOf(call, row.name, "/saved/searches", {}), ...page });
    },
  }),
];
