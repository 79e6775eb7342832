/** Fires the alerts of a run: checks the condition and the suppression, lists the alert and runs its actions. */

import { periodMs } from "../conf/period.ts";
import { isOn, type SettingValue } from "../conf/values.ts";
import type { Job } from "../jobs/job.ts";
import { searchResults } from "../jobs/search-results.ts";
import type { Rows } from "../spl/relation/rows.ts";
import type { FiredAlertRow } from "../world/alert-tables.ts";
import { ownedKey } from "../world/ownership.ts";
import type { JobRow, SavedSearchRow } from "../world/tables.ts";
import { enabledActions, performActions, resultRecord } from "./actions.ts";
import { alertSettings, isTriggered } from "./alert-condition.ts";
import type { SavedSearchTwin } from "./saved-search-twin.ts";
import { settingsOf } from "./settings.ts";

const DAY_MS = 86_400_000;
/** Maximum of alerts that one run fires. */
const MAX_ALERTS_PER_RUN = 1_000;
/** The suppression key for all alerts of a saved search. */
export const WHOLE_SEARCH = "";

/** Outcome of a run, as far as alerts go. */
export interface AlertOutcome {
  /** Whether the alert condition was met. */
  readonly triggered: boolean;
  /** Whether all alerts were suppressed. */
  readonly suppressed: boolean;
}

const notTriggered: AlertOutcome = { triggered: false, suppressed: false };

/** Waits for a run and fires its alerts. */
export async function fireAlerts(
  twin: SavedSearchTwin,
  dispatched: SavedSearchRow,
  job: Job,
): Promise<AlertOutcome> {
  await job.done;
  const { tables, clock, jobs } = twin;
  const row = tables.table("saved_searches").get(ownedKey(dispatched));
  const { rows } = job;
  if (row === undefined || rows === undefined || job.row?.state !== "DONE") return notTriggered;
  const settings = settingsOf(row);
  const [before] = jobs
    .list()
    .filter(
      (one) =>
        one.row !== undefined && isRunOf(row, one.row) && one.createdMs <= job.createdMs && one !== job,
    );
  const triggered = await isTriggered(alertSettings(settings), {
    rows,
    rowsBefore: before?.row?.result_count ?? 0,
    async countMatches(search) {
      const found = await searchResults(job, { rows, isEvents: job.isEvents }, search, twin.ending);
      return found.rows.rows.length;
    },
  });
  if (!triggered) return notTriggered;
  const tracked = isTracked(settings);
  let fired = 0;
  for (const [number, key] of suppressionKeys(settings, rows).entries()) {
    if (twin.ending.aborted) break;
    const nowMs = clock.now();
    // An alert about one result may suppress those about later ones.
    const current = tables.table("saved_searches").get(ownedKey(row)) ?? row;
    if (suppressedUntilMs(current, key, nowMs) !== undefined) continue;
    if (tracked) tables.table("fired_alerts").insert(alertRow(current, settings, job, number, nowMs));
    suppressNext(twin, current, settings, key, nowMs);
    fired++;
    await performActions(twin, { row: current, settings, job, number, result: resultRecord(rows, number) });
  }
  return { triggered: true, suppressed: fired === 0 };
}

/** Whether the alert is listed; `auto` lists one that has an action and a condition. */
function isTracked(settings: Readonly<Record<string, SettingValue>>): boolean {
  const track = String(settings["alert.track"] ?? "");
  if (track !== "auto") return isOn(track);
  return enabledActions(settings).length > 0 && settings.alert_type !== "always";
}

/** The suppression keys of a run's alerts: one for all results, or one per result by the values of the suppression fields. */
function suppressionKeys(settings: Readonly<Record<string, SettingValue>>, { fields, rows }: Rows): string[] {
  if (settings["alert.digest_mode"] !== false) return [WHOLE_SEARCH];
  const names = String(settings["alert.suppress.fields"] ?? "")
    .split(",")
    .flatMap((name) => name.trim() || []);
  const places = names.map((name) => fields.findIndex((field) => field.name === name));
  return rows
    .slice(0, MAX_ALERTS_PER_RUN)
    .map((row) => places.map((place) => String(row[place] ?? "")).join(","));
}

function alertRow(
  row: SavedSearchRow,
  settings: Readonly<Record<string, SettingValue>>,
  job: Job,
  number: number,
  nowMs: number,
): FiredAlertRow {
  const expiresMs = nowMs + (periodMs(String(settings["alert.expires"])) ?? DAY_MS);
  return {
    name: `${job.sid}_${Math.floor(nowMs / 1000)}_${number}`,
    saved_search: row.name,
    owner: row.owner,
    app: row.app,
    sid: job.sid,
    triggered_at: new Date(nowMs).toISOString(),
    expires_at: new Date(expiresMs).toISOString(),
    severity: severityOf(settings["alert.severity"]),
    digest_mode: settings["alert.digest_mode"] !== false,
    actions: enabledActions(settings).join(","),
    results: job.row?.result_count ?? 0,
  };
}

function severityOf(value: SettingValue | undefined): number {
  const severity = Number(value);
  return Number.isInteger(severity) && severity >= 1 && severity <= 6 ? severity : 3;
}

/** Suppresses further alerts for the set period: of the saved search, and of all in its group. */
function suppressNext(
  { tables }: SavedSearchTwin,
  row: SavedSearchRow,
  settings: Readonly<Record<string, SettingValue>>,
  key: string,
  nowMs: number,
): void {
  const period = periodMs(String(settings["alert.suppress.period"] ?? ""));
  if (period === undefined || !isOn(String(settings["alert.suppress"] ?? ""))) return;
  const group = String(settings["alert.suppress.group_name"] ?? "");
  const table = tables.table("saved_searches");
  const suppressed = table
    .all()
    .filter(
      (one) =>
        ownedKey(one) === ownedKey(row) ||
        (group !== "" && one.owner === row.owner && one.settings["alert.suppress.group_name"] === group),
    );
  for (const one of suppressed) {
    const until = new Date(nowMs + period).toISOString();
    table.update(ownedKey(one), { suppressed_until: { ...one.suppressed_until, [key]: until } });
  }
}

/** End of the suppression of a key; `undefined`: not suppressed. */
export function suppressedUntilMs(row: SavedSearchRow, key: string, nowMs: number): number | undefined {
  const untils = [WHOLE_SEARCH, key].map((one) => Date.parse(row.suppressed_until[one] ?? ""));
  const until = Math.max(...untils.filter((ms) => ms > nowMs));
  return Number.isFinite(until) ? until : undefined;
}

/** Whether a run of the saved search fired the alert. */
export function isAlertOf({ name, owner, app }: SavedSearchRow, alert: FiredAlertRow): boolean {
  return alert.saved_search === name && alert.owner === owner && alert.app === app;
}

/** Whether a job is a run of the saved search. Jobs of older snapshots do not have its owner. */
export function isRunOf({ name, owner, app }: SavedSearchRow, job: JobRow): boolean {
  return job.saved_search === name && job.app === app && (job.saved_search_owner ?? owner) === owner;
}

/** The alerts of one or all saved searches that have not expired, the latest first. */
export function firedAlerts(
  { tables, clock }: SavedSearchTwin,
  savedSearch?: SavedSearchRow,
): FiredAlertRow[] {
  const nowMs = clock.now();
  const rows = tables.table("fired_alerts").all();
  return rows
    .filter((row) => savedSearch === undefined || isAlertOf(savedSearch, row))
    .filter((row) => Date.parse(row.expires_at) > nowMs)
    .reverse();
}
