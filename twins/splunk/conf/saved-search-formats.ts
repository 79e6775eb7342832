/** Names and value formats of a saved search's settings. Source: the vendor's `savedsearches.conf.spec`. */

import { actionFormats } from "./action-formats.ts";
import { displayFormats } from "./display-formats.ts";
import {
  anyOf,
  cron,
  decimal,
  type Formats,
  flag,
  integer,
  matchingPattern,
  oneOf,
  period,
  text,
  time,
  timeToLive,
} from "./formats.ts";

const number = integer();
const moment = time("dispatch.time_format");
const summaryMoment = time("auto_summarize.dispatch.time_format");
/** How far the scheduler may spread runs over their period. */
const skew = anyOf(
  matchingPattern(/^\d{1,3}%$/, "a share such as 50%"),
  matchingPattern(
    /^(0|\d{1,9}\s*(m|mins?|minutes?|h|hrs?|hours?|d|days?))$/i,
    "a span such as 5m, 1h or 1d; 0 for none",
  ),
);
const comparators = ["greater than", "less than", "equal to", "not equal to", "rises by", "drops by"];

const alerts: Formats = {
  actions: text,
  "alert.digest_mode": flag,
  "alert.expires": period,
  "alert.managedBy": text,
  "alert.severity": oneOf("1", "2", "3", "4", "5", "6"),
  "alert.suppress": flag,
  "alert.suppress.fields": text,
  "alert.suppress.group_name": text,
  "alert.suppress.period": period,
  "alert.track": anyOf(flag, oneOf("auto")),
  alert_comparator: oneOf(...comparators, "rises by perc", "drops by perc"),
  // A search: checked where the macros are known.
  alert_condition: text,
  alert_threshold: matchingPattern(/^[+-]?\d{1,15}(\s*%)?$/, "a whole number, or one with % behind it"),
  alert_type: oneOf("always", "custom", "number of events", "number of hosts", "number of sources"),
};

const dispatch: Formats = {
  "dispatch.allow_partial_results": flag,
  "dispatch.auto_cancel": number,
  "dispatch.auto_pause": number,
  "dispatch.buckets": number,
  "dispatch.earliest_time": moment,
  "dispatch.index_earliest": moment,
  "dispatch.index_latest": moment,
  "dispatch.indexedRealtime": flag,
  "dispatch.indexedRealtimeMinSpan": number,
  "dispatch.indexedRealtimeOffset": number,
  "dispatch.latest_time": moment,
  "dispatch.lookups": flag,
  "dispatch.max_count": number,
  "dispatch.max_time": number,
  "dispatch.rate_limit_retry": flag,
  "dispatch.reduce_freq": number,
  "dispatch.rt_backfill": flag,
  "dispatch.rt_maximum_span": number,
  "dispatch.sample_ratio": integer({ min: 1 }),
  "dispatch.spawn_process": flag,
  "dispatch.time_format": text,
  "dispatch.ttl": timeToLive,
  dispatchAs: oneOf("user", "owner"),
};

const summaries: Formats = {
  auto_summarize: flag,
  "auto_summarize.command": text,
  "auto_summarize.cron_schedule": cron,
  "auto_summarize.dispatch.earliest_time": summaryMoment,
  "auto_summarize.dispatch.latest_time": summaryMoment,
  "auto_summarize.dispatch.time_format": text,
  "auto_summarize.dispatch.ttl": timeToLive,
  "auto_summarize.max_concurrent": number,
  "auto_summarize.max_disabled_buckets": number,
  "auto_summarize.max_summary_ratio": decimal(),
  "auto_summarize.max_summary_size": number,
  "auto_summarize.max_time": number,
  "auto_summarize.suspend_period": period,
  "auto_summarize.timespan": matchingPattern(
    /^\d{1,9}[a-z]+(\s*,\s*\d{1,9}[a-z]+)*$/i,
    "spans of time, apart by commas: 1h,1d",
  ),
  "auto_summarize.workload_pool": text,
};

const schedule: Formats = {
  allow_data_time_skew: skew,
  allow_skew: skew,
  cron_schedule: cron,
  defer_scheduled_searchable_idxc: flag,
  disabled: flag,
  "durable.backfill_type": oneOf("auto", "time_interval", "time_whole"),
  "durable.lag_time": number,
  "durable.max_backfill_intervals": number,
  "durable.track_time_type": oneOf("_time", "_indextime", "none"),
  is_scheduled: flag,
  max_concurrent: number,
  realtime_schedule: flag,
  restart_on_searchpeer_add: flag,
  run_n_times: number,
  run_on_startup: flag,
  schedule_as: oneOf("auto", "classic", "prjob"),
  schedule_priority: oneOf("default", "higher", "highest"),
  schedule_window: integer({}, "auto"),
  skip_scheduled_realtime_idxc: flag,
};

/** All documented settings, by name. */
export const savedSearchFormats: Formats = {
  ...alerts,
  ...dispatch,
  ...summaries,
  ...schedule,
  ...actionFormats,
  ...displayFormats,
  description: text,
  displayview: text,
  "embed.enabled": flag,
  federated_providers: text,
  is_visible: flag,
  precalculate_required_fields_for_alerts: flag,
  "request.ui_dispatch_app": text,
  "request.ui_dispatch_view": text,
  search: text,
  vsid: text,
  workload_pool: text,
};

/** Settings that have a column of their own in a row, by name. */
export const settingColumns = {
  search: "search",
  description: "description",
  disabled: "disabled",
  is_scheduled: "is_scheduled",
  cron_schedule: "cron_schedule",
  "dispatch.earliest_time": "earliest_time",
  "dispatch.latest_time": "latest_time",
} as const;

/** Prefixes under which any setting is accepted. */
const families =
  /^(action|alert|args|auto_summarize|dispatch|display|durable|embed|federated|request|summary_index|triggeredalerts)(\.|$)/;

/** Whether a name is a setting of a saved search. */
export function isSetting(name: string): boolean {
  return Object.hasOwn(savedSearchFormats, name) || families.test(name);
}
