/** Runs a saved search for its schedule, in its owner's name and with the scheduled time as `now`. */
import { DiskQuotaReached, TooManySearches } from "../jobs/job-book.ts";
import { SplError } from "../spl/spl-error.ts";
import { InvalidTime, resolveTime } from "../spl/time/resolve-time.ts";
import type { TimeRange } from "../spl/time/time-range.ts";
import { isSystem, rightsOfAccount } from "../world/access.ts";
import type { ScheduledRunRow } from "../world/alert-tables.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { fireAlerts } from "./alerts.ts";
import {
  buildSavedRequest,
  findUnsupportedSetting,
  newSavedSid,
  type SavedRun,
  SCHEDULER,
} from "./run-request.ts";
import type { SavedSearchTwin } from "./saved-search-twin.ts";

type Changes = Partial<Omit<ScheduledRunRow, "name">>;

/** Resolves when the run and its alert actions are finished. */
export async function runScheduled(twin: SavedSearchTwin, row: SavedSearchRow, atMs: number): Promise<void> {
  const name = newSavedSid(twin, sidParts(row, atMs));
  const skipped = skipReason(twin, row);
  if (skipped !== undefined) {
    record(twin, row, atMs, name, { status: "skipped", reason: skipped });
    return;
  }
  let job: ReturnType<typeof twin.jobs.start>;
  try {
    // The results are visible to everyone who sees the saved search.
    const readers = row.sharing === "user" ? [] : ["*"];
    job = twin.jobs.start({ ...buildSavedRequest(twin, scheduledRun(twin, row, atMs)), readers });
  } catch (error) {
    const reason = failureReason(error);
    if (reason === undefined) throw error;
    record(twin, row, atMs, name, { status: "failed", reason });
    return;
  }
  record(twin, row, atMs, job.sid, { status: "running" });
  const update = (changes: Changes) => twin.tables.table("scheduled_runs").update(job.sid, changes);
  await job.done;
  const { state, result_count = 0, messages = [] } = job.row ?? {};
  if (state !== "DONE") {
    const reason = messages.map(({ text }) => text).at(-1) ?? "The job was cancelled.";
    update({ status: "failed", reason });
    return;
  }
  try {
    const outcome = await fireAlerts(twin, row, job);
    update({ status: "success", result_count, ...outcome });
  } catch (error) {
    const reason = failureReason(error);
    if (reason === undefined) throw error;
    update({ status: "failed", result_count, reason });
  }
}

/** Records that a scheduled time was skipped. */
export function recordSkipped(
  twin: SavedSearchTwin,
  row: SavedSearchRow,
  atMs: number,
  reason: string,
): void {
  const name = newSavedSid(twin, sidParts(row, atMs));
  record(twin, row, atMs, name, { status: "skipped", reason });
}

function record(
  { tables, clock }: SavedSearchTwin,
  { name: saved_search, owner, app }: SavedSearchRow,
  atMs: number,
  name: string,
  more: Changes & Pick<ScheduledRunRow, "status">,
): void {
  tables.table("scheduled_runs").insert({
    name,
    saved_search,
    owner,
    app,
    scheduled_at: new Date(atMs).toISOString(),
    dispatched_at: new Date(clock.now()).toISOString(),
    ...more,
  });
}

const sidParts = (row: SavedSearchRow, atMs: number) => ({ row, sidStem: `${SCHEDULER}${row.owner}`, atMs });

/** Why the search cannot run; `undefined`: it can. */
function skipReason({ tables }: SavedSearchTwin, row: SavedSearchRow): string | undefined {
  const { owner } = row;
  if (!isSystem(tables, owner)) {
    if (tables.table("users").get(owner) === undefined)
      return `It is orphaned: there is no account '${owner}'.`;
    const { capabilities } = rightsOfAccount(tables, owner);
    const missing = ["search", "schedule_search"].find((one) => !capabilities.has(one));
    if (missing !== undefined) return `The owner '${owner}' lacks the capability ${missing}.`;
  }
  return findUnsupportedSetting({ row, given: {} });
}

function scheduledRun(twin: SavedSearchTwin, row: SavedSearchRow, atMs: number): SavedRun {
  const { tables, timeZone } = twin;
  const rights = isSystem(tables, row.owner)
    ? { srchJobsQuota: 0, srchDiskQuotaMb: 0 }
    : rightsOfAccount(tables, row.owner);
  return {
    ...sidParts(row, atMs),
    owner: row.owner,
    rights,
    nowMs: atMs,
    given: {},
    request: {},
    range(setting): TimeRange {
      const time = (name: string) => {
        const text = setting(name);
        const format = setting("time_format");
        if (text === undefined) return undefined;
        return resolveTime(text, { nowMs: atMs, timeZone, ...(format === undefined ? {} : { format }) });
      };
      const earliestMs = time("earliest_time");
      return { earliestMs: earliestMs === 0 ? undefined : earliestMs, latestMs: time("latest_time") };
    },
  };
}

/** Words the failure of a search; `undefined` for any other error. */
function failureReason(error: unknown): string | undefined {
  if (error instanceof SplError || error instanceof InvalidTime) return error.message;
  if (error instanceof TooManySearches)
    return "The maximum number of concurrent historical searches on this instance has been reached.";
  if (error instanceof DiskQuotaReached)
    return `The role-based disk usage quota of search artifacts has been reached (usage=${error.usedMb}MB).`;
  return undefined;
}
