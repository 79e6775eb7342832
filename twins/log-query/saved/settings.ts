/** The settings of a saved search: what each is when nobody says otherwise, and where the row has it. */
import type { Content } from "../output/entry.ts";
import type { SavedSearchRow } from "../world/tables.ts";

/** Settings that have columns of their own. */
export const columnsOf = {
  search: "search",
  description: "description",
  disabled: "disabled",
  is_scheduled: "is_scheduled",
  cron_schedule: "cron_schedule",
  "dispatch.earliest_time": "earliest_time",
  "dispatch.latest_time": "latest_time",
} as const;

/** The rest, as a new saved search has them. Truth values are `1` and `0`, as the API takes them. */
export const defaults: Readonly<Record<string, Exclude<Content, object>>> = {
  "action.email": false,
  "action.email.sendresults": null,
  "action.email.subject": "Splunk Alert: $name$",
  "action.email.to": "",
  "action.populate_lookup": false,
  "action.rss": false,
  "action.script": false,
  "action.summary_index": false,
  "action.webhook": false,
  "action.webhook.param.url": "",
  actions: "",
  "alert.digest_mode": true,
  "alert.expires": "24h",
  "alert.managedBy": "",
  "alert.severity": 3,
  "alert.suppress": false,
  "alert.suppress.fields": "",
  "alert.suppress.group_name": "",
  "alert.suppress.period": "",
  "alert.track": false,
  alert_comparator: "",
  alert_condition: "",
  alert_threshold: "",
  alert_type: "always",
  allow_skew: "0",
  auto_summarize: false,
  "auto_summarize.cron_schedule": "*/10 * * * *",
  "auto_summarize.dispatch.earliest_time": "",
  "auto_summarize.dispatch.latest_time": "",
  "auto_summarize.max_summary_ratio": 0.1,
  "auto_summarize.max_summary_size": 52_428_800,
  "auto_summarize.max_time": 3600,
  "auto_summarize.timespan": "",
  defer_scheduled_searchable_idxc: "0",
  "dispatch.allow_partial_results": true,
  "dispatch.auto_cancel": "0",
  "dispatch.auto_pause": "0",
  "dispatch.buckets": 0,
  "dispatch.index_earliest": "",
  "dispatch.index_latest": "",
  "dispatch.indexedRealtime": null,
  "dispatch.lookups": true,
  "dispatch.max_count": 500_000,
  "dispatch.max_time": 0,
  "dispatch.reduce_freq": 10,
  "dispatch.rt_backfill": false,
  "dispatch.sample_ratio": 1,
  "dispatch.spawn_process": true,
  "dispatch.time_format": "%FT%T.%Q%:z",
  "dispatch.ttl": "2p",
  displayview: "",
  durable: null,
  "display.events.fields": '["host","source","sourcetype"]',
  "display.events.type": "list",
  "display.general.type": "events",
  "display.page.search.mode": "smart",
  "display.statistics.show": true,
  "display.visualizations.charting.chart": "column",
  "display.visualizations.show": true,
  "display.visualizations.type": "charting",
  embed: null,
  is_visible: true,
  max_concurrent: 1,
  realtime_schedule: true,
  "request.ui_dispatch_app": "",
  "request.ui_dispatch_view": "",
  restart_on_searchpeer_add: true,
  run_n_times: 0,
  run_on_startup: false,
  schedule_as: "auto",
  schedule_priority: "default",
  schedule_window: "0",
  vsid: "",
  workload_pool: "",
};

const families =
  /^(action|alert|args|auto_summarize|dispatch|display|durable|embed|federated|request|summary_index|triggeredalerts)(\.|$)/;

export function isSetting(name: string): boolean {
  return Object.hasOwn(columnsOf, name) || Object.hasOwn(defaults, name) || families.test(name);
}

/** All settings of a saved search, as an entry shows them. */
export function settingsOf(row: SavedSearchRow): Record<string, Content> {
  const given = Object.entries(row.settings).map(([name, text]): [string, Content] => [
    name,
    asDefault(text, defaults[name]),
  ]);
  return {
    ...defaults,
    ...Object.fromEntries(given),
    cron_schedule: row.cron_schedule,
    description: row.description,
    disabled: row.disabled,
    "dispatch.earliest_time": row.earliest_time,
    "dispatch.latest_time": row.latest_time,
    is_scheduled: row.is_scheduled,
    search: row.search,
  };
}

/** The text as what the setting is by default. */
function asDefault(text: string, usual: Content | undefined): Content {
  if (typeof usual === "boolean") return /^(1|t|true|yes)$/i.test(text);
  if (typeof usual === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text;
}
