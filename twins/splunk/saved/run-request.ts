/** What a saved search is run with: its own settings, and before them what a request says. */
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

/** The longest that a job is kept. */
export const MAX_TTL_S = 315_360_000;

export interface SavedRun {
  readonly row: SavedSearchRow;
  readonly owner: string;
  readonly rights: Pick<Rights, "srchJobsQuota" | "srchDiskQuotaMb">;
  /** What the sid begins with: whose it is, and by whom it was started. */
  readonly sidStem: string;
  /** What the sid says that it was at; `now` of the search, if that is not the sandbox's clock. */
  readonly atMs: number;
  readonly nowMs: number | undefined;
  /** The arguments of the request, by name; they stand before what is saved. */
  readonly given: Readonly<Record<string, string>>;
  /** As the job keeps them. */
  readonly request: JobRequest["given"];
  /** @throws what is said of a range that is none */
  range(setting: (name: string) => string | undefined): TimeRange;
}

/** A setting of a run: what the request says of it, else what is saved. */
function settingReader({ row, given }: Pick<SavedRun, "row" | "given">) {
  const settings = settingsOf(row);
  return (name: string): string | undefined =>
    given[`dispatch.${name}`] || textOf(settings[`dispatch.${name}`]);
}

export function savedRequest(twin: SavedSearchTwin, run: SavedRun): JobRequest {
  const { row, owner, rights, nowMs, given } = run;
  const setting = settingReader(run);
  const number = (name: string, usual: number) => {
    const value = Number(setting(name) ?? usual);
    return Number.isSafeInteger(value) && value >= 0 ? value : usual;
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
    ttlS: Math.min(ttlS(twin, row, setting("ttl")), MAX_TTL_S),
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

/** What a run cannot do here, in words; `undefined`: nothing. */
export function unservedSetting(run: Pick<SavedRun, "row" | "given">): string | undefined {
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

/** Seconds that a run is kept: `600`, or `2p` for twice the time between two runs of its schedule. */
export function ttlS(
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

/** `$args.x$` and `$x$` stand for the arguments `args.x`. */
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

/** `<stem>__<app>__RMD5<hash>_at_<epoch>_<n>`, of which there is none yet. */
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

/** What the sids of the scheduler's jobs begin with. */
export const SCHEDULER = "scheduler__";
