/** Schedule and suppression of saved searches. */

import { nextTimes, parseCron } from "../conf/cron.ts";
import type { Entry } from "../output/entry.ts";
import { firedAlerts, suppressedUntilMs, WHOLE_SEARCH } from "../saved/alerts.ts";
import { settingsOf } from "../saved/settings.ts";
import { ownedKey } from "../world/ownership.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import type { Call } from "./call.ts";
import { singleResponse } from "./collection.ts";
import { readSharing } from "./objects.ts";
import { aclOf, checkNameFree } from "./ownership.ts";
import { handlerError, missingArgument } from "./rest-error.ts";
import { route } from "./route.ts";
import { findSavedSearch, findWritable, savedPath, savedResponse } from "./saved-searches.ts";
import { readTime } from "./time-argument.ts";

const PATH = "/saved/searches/:name";
const MAX_TIMES = 1_000;

/** The times of a schedule within a range, in seconds. @throws RestError 400 */
function scheduledTimes(call: Call, row: SavedSearchRow): number[] {
  const now = call.twin.clock.now();
  const time = (name: string, fallback: string) =>
    readTime(call, name, call.arguments.text(name) ?? fallback, now);
  const fromMs = time("earliest_time", "now");
  const untilMs = time("latest_time", "+7d");
  const cron = row.is_scheduled && !row.disabled ? parseCron(row.cron_schedule) : undefined;
  if (cron === undefined) return [];
  const rescheduledMs = row.rescheduled_to === null ? -Infinity : Date.parse(row.rescheduled_to);
  // The schedule resumes after the rescheduled run.
  const times = nextTimes(cron, Math.max(fromMs - 1, rescheduledMs), MAX_TIMES, call.twin.timeZone, untilMs);
  const all = rescheduledMs >= fromMs && rescheduledMs < untilMs ? [rescheduledMs, ...times] : times;
  return all.map((timeMs) => Math.floor(timeMs / 1000));
}

/** Responds with a feed whose only entry has the given content. */
function contentResponse(call: Call, row: SavedSearchRow, content: Entry["content"]) {
  const entry: Entry = {
    name: row.name,
    path: savedPath(row),
    author: row.owner,
    updatedMs: Date.parse(row.updated_at),
    links: { list: "" },
    acl: aclOf(row),
    content,
  };
  return singleResponse(call, entry, "savedsearch", "/saved/searches", {});
}

/** The suppression key in a call. */
const keyOf = (call: Call) => call.arguments.get("key") ?? WHOLE_SEARCH;

function suppressionResponse(call: Call, row: SavedSearchRow) {
  const key = keyOf(call);
  const nowMs = call.twin.clock.now();
  const untilMs = suppressedUntilMs(row, key, nowMs);
  return contentResponse(call, row, {
    // Seconds left, as clients read it.
    expiration: String(untilMs === undefined ? 0 : Math.ceil((untilMs - nowMs) / 1000)),
    suppressed: untilMs === undefined ? "0" : "1",
    suppressionKey: key,
  });
}

function update({ twin }: Call, row: SavedSearchRow, changes: Partial<SavedSearchRow>): SavedSearchRow {
  const table = twin.tables.table("saved_searches");
  checkNameFree(table, { ...row, ...changes }, row);
  const changed = table.update(ownedKey(row), changes) ?? row;
  const { owner, app } = changed;
  if (ownedKey(changed) !== ownedKey(row)) {
    const alerts = twin.tables.table("fired_alerts");
    for (const { name } of firedAlerts(twin, row)) alerts.update(name, { owner, app });
  }
  return changed;
}

/** Reads the time of a rescheduled run. @throws RestError 400 */
function scheduleTime(call: Call): number {
  const text = call.arguments.text("schedule_time");
  if (text === undefined) return call.twin.clock.now();
  try {
    return readTime(call, "schedule_time", text);
  } catch {
    throw handlerError(400, "Invalid schedule_time format");
  }
}

export const savedSearchScheduleOperations = [
  ...route({
    id: "saved_search.scheduled_times",
    method: "GET",
    path: `${PATH}/scheduled_times`,
    summary: "Say when a saved search is to run.",
    handle(call) {
      const row = findSavedSearch(call);
      return contentResponse(call, row, { ...settingsOf(row), scheduled_times: scheduledTimes(call, row) });
    },
  }),
  ...route({
    id: "saved_search.reschedule",
    method: "POST",
    path: `${PATH}/reschedule`,
    capability: "schedule_search",
    summary: "Say when a saved search is to run next; from then on it has its schedule again.",
    handle(call) {
      const row = findWritable(call);
      const rescheduled_to = new Date(scheduleTime(call)).toISOString();
      if (!row.is_scheduled) throw handlerError(400, `The saved search '${row.name}' has no schedule.`);
      return savedResponse(call, update(call, row, { rescheduled_to }));
    },
  }),
  ...route({
    id: "saved_search.suppress",
    method: "GET",
    path: `${PATH}/suppress`,
    summary: "Say whether the alerts of a saved search are held back.",
    handle: (call) => suppressionResponse(call, findSavedSearch(call)),
  }),
  ...route({
    id: "saved_search.suppress",
    method: "POST",
    path: `${PATH}/suppress`,
    summary: "Hold back the alerts of a saved search for a time, or no longer.",
    handle(call) {
      const row = findWritable(call);
      const seconds = call.arguments.integer("expiration", 0);
      const until = new Date(call.twin.clock.now() + seconds * 1000).toISOString();
      const suppressed_until = { ...row.suppressed_until, [keyOf(call)]: until };
      return suppressionResponse(call, update(call, row, { suppressed_until }));
    },
  }),
  ...route({
    id: "saved_search.acknowledge",
    method: "POST",
    path: `${PATH}/acknowledge`,
    summary: "Let the alerts of a saved search, which were held back, be fired again.",
    handle(call) {
      const row = findWritable(call);
      const { [keyOf(call)]: _, ...others } = row.suppressed_until;
      const suppressed_until = call.arguments.has("key") ? others : {};
      return savedResponse(call, update(call, row, { suppressed_until }));
    },
  }),
  ...route({
    id: "saved_search.share",
    method: "POST",
    path: `${PATH}/acl`,
    summary: "Say whose a saved search is, and who sees it.",
    handle(call) {
      const row = findWritable(call);
      return savedResponse(call, update(call, row, readSharing(call)));
    },
  }),
  ...route({
    id: "saved_search.move",
    method: "POST",
    path: `${PATH}/move`,
    summary: "Give a saved search to another app.",
    handle(call) {
      const row = findWritable(call);
      const app = call.arguments.text("app");
      const owner = call.arguments.text("user") ?? row.owner;
      if (app === undefined) throw missingArgument("app");
      return savedResponse(call, update(call, row, { app, owner }));
    },
  }),
];
