/** Options that are known and unsupported: rejected with the reason, never ignored. */
import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { ArgumentReader } from "./argument-reader.ts";

export interface UnservedOption {
  /** The rejected value; absent: any except `served`. */
  readonly value?: boolean;
  readonly served?: string;
  readonly reason: string;
}

type Unserved = Readonly<Record<string, UnservedOption>>;

const noGroups: UnservedOption = { reason: "there are no groups of servers" };

/** By command and option. */
export const unservedOptions = {
  collect: {
    file: { reason: "events are stored at once, by way of no file" },
    spool: { value: false, reason: "events are stored at once, by way of no file" },
    run_in_preview: { value: true, reason: "the rows of a preview are not collected" },
  },
  extract: {
    segment: { value: true, reason: "where pairs stand in the text is not kept" },
  },
  loadjob: {
    job_delegate: { reason: "no job has a delegate" },
    ignore_running: { value: false, reason: "a job that is running has no results to load" },
  },
  makeresults: { splunk_server_group: noGroups },
  metadata: { splunk_server_group: noGroups },
  outputlookup: {
    createinapp: { value: false, reason: "lookup tables are in one place, for all apps" },
    create_context: { served: "app", reason: "lookup tables are in one place, for all apps and users" },
  },
  rest: { splunk_server_group: noGroups },
} satisfies Readonly<Record<string, Unserved>>;

/** @throws SplError for an unsupported option */
export function rejectUnserved(
  reader: ArgumentReader,
  command: keyof typeof unservedOptions,
  options: Readonly<Record<string, unknown>>,
): void {
  const unserved: Unserved = unservedOptions[command];
  for (const [name, { value, served, reason }] of Object.entries(unserved)) {
    const given = options[name];
    if (given === undefined || given === served || (value !== undefined && given !== value)) continue;
    reader.fail(`${name}=${String(given)} is not served here: ${reason}.`);
  }
}

/** Options that only tune how Splunk runs a command, such as servers or memory. They change no result. */
export const ignoredOptions = lookupTable<readonly string[]>({
  appendpipe: ["run_in_preview"],
  collect: ["uselb"],
  eventstats: ["limit"],
  extract: ["reload"],
  lookup: ["local", "update"],
  rest: ["timeout"],
  stats: ["partitions"],
  tstats: [
    ...["allow_old_summaries", "chunk_size", "include_reduced_buckets", "local"],
    ...["summariesonly", "use_summary_index_values"],
  ],
  typeahead: ["max_servers", "max_time", "use_cache"],
});
