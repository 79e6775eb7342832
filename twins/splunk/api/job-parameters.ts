/** Checks the arguments of a new search. */

import { lookupTable, ownValue } from "@offhook/platform/base/lookup-table";
import { searchLevels } from "../jobs/job-options.ts";
import { invalidArgument } from "./arguments.ts";
import type { Call } from "./call.ts";
import { handlerError } from "./rest-error.ts";

type Kind =
  | "flag"
  | "number"
  /** Checked where it is used. */
  | "text"
  /** For real-time searches only, which are refused. */
  | "replay";

/** The documented arguments. */
const documented = lookupTable<Kind>({
  adhoc_search_level: "text",
  allow_partial_results: "flag",
  auto_cancel: "number",
  auto_finalize_ec: "number",
  auto_pause: "number",
  earliest_time: "text",
  enable_lookups: "flag",
  exec_mode: "text",
  force_bundle_replication: "flag",
  id: "text",
  index_earliest: "text",
  index_latest: "text",
  indexedRealtime: "flag",
  indexedRealtimeOffset: "number",
  label: "text",
  latest_time: "text",
  max_count: "number",
  max_time: "number",
  namespace: "text",
  now: "text",
  output_mode: "text",
  preview: "flag",
  priority: "number",
  reduce_freq: "number",
  reload_macros: "flag",
  remote_server_list: "text",
  replay_et: "replay",
  replay_lt: "replay",
  replay_speed: "replay",
  required_field_list: "text",
  reuse_max_seconds_ago: "number",
  rf: "text",
  rt_blocking: "flag",
  rt_indexfilter: "flag",
  rt_maxblocksecs: "number",
  rt_queue_size: "number",
  search: "text",
  search_listener: "text",
  search_mode: "text",
  spawn_process: "flag",
  status_buckets: "number",
  sync_bundle_replication: "flag",
  time_format: "text",
  timeout: "number",
  workload_pool: "text",
});

/** Arguments of results that the response contains: `exec_mode=oneshot`, `export`. */
const resultArguments: ReadonlySet<string> = new Set([
  ...["add_summary_to_metadata", "count", "f", "field_list", "max_lines", "offset", "output_time_format"],
  ...["segmentation", "truncation_mode"],
]);

/**
 * Checks the arguments, also those without effect in the twin, which is a single server without bundles and real-time searches.
 * @returns undocumented arguments, which have no effect and are accepted, as by splunkd
 * @throws RestError 400 naming the argument
 */
export function checkJobParameters({ arguments: given }: Call): string[] {
  const unknown: string[] = [];
  for (const name of given.names()) {
    switch (ownValue(documented, name)) {
      case "flag":
        given.flag(name, false);
        break;
      case "number":
        given.integer(name, 0);
        break;
      case "replay":
        throw handlerError(400, `${name} is for real-time searches, which are not served here.`);
      case "text":
        break;
      default:
        if (!name.startsWith("custom.") && !resultArguments.has(name)) unknown.push(name);
    }
  }
  const level = given.text("adhoc_search_level");
  if (level !== undefined && !searchLevels.some((one) => one === level)) {
    throw invalidArgument("adhoc_search_level", level);
  }
  const pool = given.text("workload_pool");
  if (pool !== undefined) {
    throw handlerError(400, `workload_pool: workload management is not enabled on this instance.`);
  }
  return unknown;
}
