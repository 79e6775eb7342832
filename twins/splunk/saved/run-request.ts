/** Builds the job request of a saved search; arguments of the request override its settings. */
import { createHash } from "node:crypto";
import { DEFAULT_TTL_S, type JobRequest } from "../jobs/job-request.ts";
import { defaultLimits } from "../spl/context/search-context.ts";
import { withImplicitSearch } from "../spl/syntax/text.ts";
import type { TimeRange } from "../spl/time/time-range.ts";
import type { Rights } from "../world/roles.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { schedulePeriodMs } from "./due-times.ts";
import type { SavedSearchTwin } from "./saved-search-twin.ts";
import { settingsOf } from "./settings.ts";

/** Longest time to live of a job. */
export const MAX_TTL_S = 315_360_000;

export interface SavedRun {
  readonly row: SavedSearchRow;
  readonly owner: string;
  readonly rights: Pick<Rights, "srchJobsQuota" | "srchDiskQuotaMb">;
  /** Beginning of the sid: the owner, and who started the run. */
  readonly sidStem: string;
  /** Time of the run in its sid. */
  readonly atMs: number;
  /** `now` of the search; `undefined`: the sandbox's clock. */
  readonly nowMs: number | undefined;
  /** Arguments of the request, by name; they override the saved settings. */
  readonly given: Readonly<Record<string, string>>;
  /** The arguments as the job shows them. */
  readonly request: JobRequest["given"];
  /** @throws the caller's error for an invalid range */
  range(setting: (name: string) => string | undefined): TimeRange;
}

/** Makes a reader of `dispatch.` settings: the request's argument, else the saved one. */
function settingReader({ row, given }: Pick<SavedRun, "row" | "given">) {
  const settings = settingsOf(row);
  return (name: string): string | undefined =>
    given[`dispatch.${name}`] || textOf(settings[`dispatch.${name}`]);
}

export function buildSavedRequest(twin: SavedSearchTwin, run: SavedRun): JobRequest {
  const { row, owner, rights, nowMs, given } = run;
  const setting = settingReader(run);
  const number = (name: string, fallback: number) => {
    const value = Number(setting(name) ?? fallback);
    return Number.isSafeInteger(value) && value >= 0 ? value : fallback;
  };
  return {
    search: withImplicitSearch(fillArguments(row, given)),
    owner,
    app: row.app,
    sid: newSavedSid(twin, run),
    savedSearch: row.name,
    savedSearchOwner: row.owner,
    label: row.name,
    range: run.range(setting),
    nowMs,
    maxCount: Math.min(number("max_count", defaultLimits.maxResultRows), defaultLimits.maxResultRows) || 1,
    maxTimeS: number("max_time", 0),
    ttlS: Math.min(resolveTtlS(twin, row, setting("ttl")), MAX_TTL_S),
    statusBuckets: number("buckets", 0),
    priority: 5,
    quota: rights.srchJobsQuota,
    diskQuotaMb: rights.srchDiskQuotaMb,
    given: {
      ...run.request,
      ...Object.fromEntries(["earliest_time", "latest_time"].map((name) => [name, setting(name) ?? ""])),
    },
  };
}

/** Names a setting that the twin does not support; `undefined`: none. */
export function findUnsupportedSetting(run: Pick<SavedRun, "row" | "given">): string | undefined {
  const setting = settingReader(run);
  for (const name of ["index_earliest", "index_latest"]) {
    if (setting(name) !== undefined) return `dispatch.${name} is not served here.`;
  }
  const ratio = setting("sample_ratio");
  if (ratio !== undefined && Number(ratio) !== 1)
    return "dispatch.sample_ratio is not served here: every event is looked at.";
  for (const name of ["earliest_time", "latest_time"]) {
    if (/^rt/i.test(setting(name) ?? "")) return "Real-time searches are not served here.";
  }
  return undefined;
}

/** Resolves a time to live to seconds: `600`, or `2p` for two periods of the schedule. */
export function resolveTtlS(
  { clock, timeZone }: Pick<SavedSearchTwin, "clock" | "timeZone">,
  row: SavedSearchRow,
  text = "",
): number {
  const [, number, periods] = /^(\d{1,9})\s*(p)?$/.exec(text.trim()) ?? [];
  if (number === undefined) return DEFAULT_TTL_S;
  if (periods === undefined) return Number(number);
  const periodMs = schedulePeriodMs(row, clock.now(), timeZone);
  return periodMs === undefined ? DEFAULT_TTL_S : Number(number) * Math.round(periodMs / 1000);
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null || value === "" ? undefined : String(value);
}

/** Replaces `$args.x$` and `$x$` by the argument `args.x`. */
function fillArguments(
  { search, settings }: SavedSearchRow,
  given: Readonly<Record<string, string>>,
): string {
  let text = search;
  for (const name of new Set([...Object.keys(given), ...Object.keys(settings)])) {
    if (!name.startsWith("args.")) continue;
    const value = given[name] ?? settings[name] ?? "";
    text = text.replaceAll(`$${name}$`, () => value).replaceAll(`$${name.slice(5)}$`, () => value);
  }
  return text;
}

/** Makes an unused sid: `<stem>__<app>__RMD5<hash>_at_<epoch>_<n>`. */
export function newSavedSid(
  { jobs, tables }: Pick<SavedSearchTwin, "jobs" | "tables">,
  { row, sidStem, atMs }: Pick<SavedRun, "row" | "sidStem" | "atMs">,
): string {
  const hash = createHash("md5").update(row.name).digest("hex").slice(0, 16);
  const stem = `${sidStem}__${row.app}__RMD5${hash}_at_${Math.floor(atMs / 1000)}`;
  const runs = tables.table("scheduled_runs");
  let number = 0;
  while (jobs.find(`${stem}_${number}`) || runs.get(`${stem}_${number}`)) number++;
  return `${stem}_${number}`;
}

/** Prefix of the sids of the scheduler's jobs. */
export const SCHEDULER = "scheduler__";
