/** Runs alert actions. The twin supports the webhook; it records that other actions were not carried out, and why. */

import { lookupTable, ownValue } from "@offhook/platform/base/lookup-table";
import { hostOf, postWebhook } from "@offhook/platform/client/webhook";
import { actionDefaults } from "../conf/action-defaults.ts";
import { isOn, type SettingValue } from "../conf/values.ts";
import type { Job } from "../jobs/job.ts";
import { displayValue } from "../output/result-set.ts";
import { SERVER_GUID, SERVER_NAME } from "../product.ts";
import type { Rows } from "../spl/relation/rows.ts";
import type { AlertActionRow } from "../world/alert-tables.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { resolveTtlS } from "./run-request.ts";
import type { SavedSearchTwin } from "./saved-search-twin.ts";
import { mayCall } from "./webhook-hosts.ts";

type Settings = Readonly<Record<string, SettingValue>>;

/** Timeout of a webhook. */
const WEBHOOK_TIMEOUT_MS = 10_000;
/** The product's default. */
const WEBHOOK_TTL = "10p";

/** A triggered alert: for all results, or for one. */
export interface Triggered {
  readonly row: SavedSearchRow;
  readonly settings: Settings;
  readonly job: Job;
  /** Index of the alert among the job's alerts. */
  readonly number: number;
  /** The result of the alert; the first one when the alert is for all. */
  readonly result: Readonly<Record<string, string>>;
}

/** Names of the enabled actions: listed in `actions`, or switched on by a setting `action.<name>`. */
export function enabledActions(settings: Settings): string[] {
  const listed = String(settings.actions ?? "")
    .split(",")
    .flatMap((name) => name.trim() || []);
  const switched = Object.entries(settings).flatMap(([name, value]) => {
    const [, action] = /^action\.([^.]+)$/.exec(name) ?? [];
    return action !== undefined && isOn(String(value)) ? [action] : [];
  });
  return [...new Set([...listed, ...switched])];
}

/** A result as a record of texts. */
export function resultRecord({ fields, rows }: Rows, index: number): Record<string, string> {
  const row = rows[index];
  return Object.fromEntries(
    fields.flatMap(({ name }, place): [string, string][] => {
      const value = displayValue(row?.[place] ?? null);
      return value === null ? [] : [[name, typeof value === "string" ? value : value.join("\n")]];
    }),
  );
}

/** Runs the supported alert actions and records the outcome of each. */
export async function performActions(twin: SavedSearchTwin, triggered: Triggered): Promise<void> {
  const { row, settings, job, number } = triggered;
  const names = enabledActions(settings);
  extendTtl(twin, triggered, names);
  for (const action of names) {
    const outcome = action === "webhook" ? await postAlert(twin, triggered) : unsupportedOutcome(action);
    twin.tables.table("alert_actions").insert({
      name: uniqueName(twin, `${job.sid}_${number}_${action}`),
      saved_search: row.name,
      sid: job.sid,
      action,
      ...outcome,
      at: new Date(twin.clock.now()).toISOString(),
    });
  }
}

function uniqueName({ tables }: SavedSearchTwin, stem: string): string {
  const table = tables.table("alert_actions");
  let name = stem;
  for (let number = 1; table.get(name); number++) name = `${stem}_${number}`;
  return name;
}

type Outcome = Pick<AlertActionRow, "status" | "detail">;

const unsupportedReasons = lookupTable<string>({
  email: "no mail is sent",
  lookup: "no lookup is written",
  populate_lookup: "no lookup is written",
  rss: "no feed is written",
  script: "no script is run",
  summary_index: "nothing is written to an index",
});

function unsupportedOutcome(action: string): Outcome {
  const what = unsupportedReasons[action] ?? "there is no program for it";
  return {
    status: "not_carried_out",
    detail: `The action '${action}' is not carried out by this twin: ${what}.`,
  };
}

async function postAlert(twin: SavedSearchTwin, triggered: Triggered): Promise<Outcome> {
  const { row, settings, job, result } = triggered;
  const url = fillTokens(String(settings["action.webhook.param.url"] ?? "").trim(), triggered);
  if (url === "") return failure("There is no address: set action.webhook.param.url.");
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return failure("The address is no http or https address.");
  const host = hostOf(url);
  if (!mayCall(url, twin.webhookHosts)) {
    const detail = `The host ${host} is not called: this twin posts to this machine alone, and to the hosts that its config names in webhook_hosts.`;
    return { status: "not_carried_out", detail };
  }
  const body = JSON.stringify({
    sid: job.sid,
    search_name: row.name,
    app: job.request.app,
    owner: job.request.owner,
    results_link: `http://${SERVER_NAME}:8000/app/${encodeURIComponent(job.request.app)}/@go?sid=${encodeURIComponent(job.sid)}`,
    result,
  });
  const answer = await postWebhook({
    url,
    headers: {},
    userAgent: `Splunk/${SERVER_GUID}`,
    body,
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    signal: twin.ending,
  });
  switch (answer.kind) {
    case "answered": {
      const detail = `${host} answered HTTP status ${answer.status}.`;
      return answer.status >= 200 && answer.status < 300 ? { status: "done", detail } : failure(detail);
    }
    case "timed-out":
      return failure(`${host} did not answer within ${answer.afterMs / 1000} seconds.`);
    case "too-large":
      return failure(`${host} answered with more than ${answer.limitBytes} bytes.`);
    case "failed":
      return failure(`${host} could not be called: ${answer.reason}.`);
    case "cancelled":
      return failure("The twin ended before it was answered.");
  }
}

const failure = (detail: string): Outcome => ({ status: "failed", detail });

/** Replaces the tokens of an address, such as `$name$` and `$result.host$`. */
function fillTokens(text: string, { row, job, result }: Triggered): string {
  const known: Readonly<Record<string, string>> = {
    name: row.name,
    app: job.request.app,
    owner: job.request.owner,
    "job.sid": job.sid,
    "job.resultCount": String(job.row?.result_count ?? 0),
  };
  return text.replace(/\$([\w.]+)\$/g, (whole, name: string) => {
    const value = name.startsWith("result.")
      ? ownValue(result, name.slice("result.".length))
      : ownValue(known, name);
    return value === undefined ? whole : encodeURIComponent(value);
  });
}

/** Extends the job's time to live to the longest that the actions of its alert set. */
function extendTtl(twin: SavedSearchTwin, { row, settings, job }: Triggered, names: readonly string[]): void {
  const texts = names.flatMap((name) => {
    const fallback = name === "webhook" ? WEBHOOK_TTL : actionDefaults[`action.${name}.ttl`];
    const text = settings[`action.${name}.ttl`] || fallback;
    return text === undefined || text === null ? [] : [String(text)];
  });
  const state = job.row;
  if (texts.length === 0 || state === undefined) return;
  const seconds = Math.max(...texts.map((text) => resolveTtlS(twin, row, text)));
  const finishedMs = Date.parse(state.finished_at ?? state.created_at);
  twin.tables.table("jobs").update(job.sid, {
    ttl_s: seconds,
    expires_at: new Date(finishedMs + seconds * 1000).toISOString(),
  });
}
