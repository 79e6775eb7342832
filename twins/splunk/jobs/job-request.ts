/** The request that starts a search. */
import type { TimeRange } from "../spl/time/time-range.ts";
import type { RowStream } from "./row-stream.ts";

export type ExecMode = "normal" | "blocking" | "oneshot";

export interface JobRequest {
  /** The search; its first word is a command. */
  readonly search: string;
  readonly owner: string;
  readonly app: string;
  /** The job's sid; generated when absent. */
  readonly sid: string | undefined;
  readonly savedSearch: string | undefined;
  /** Owner of the saved search. */
  readonly savedSearchOwner?: string | undefined;
  /** Roles and users that may read the job beside its owner; `*` is everybody. Absent: nobody. */
  readonly readers?: readonly string[];
  readonly label: string;
  readonly range: TimeRange;
  /** `now()` of the search; absent: the sandbox's clock. */
  readonly nowMs: number | undefined;
  /** Maximum of result rows to keep. */
  readonly maxCount: number;
  /** Receives all rows, which are not kept then. */
  readonly stream?: RowStream;
  /** Seconds after which the search ends with what it has; 0: no limit. */
  readonly maxTimeS: number;
  /** Seconds that the finished job is kept. */
  readonly ttlS: number;
  /** Maximum of timeline buckets; 0: no timeline and no summary. */
  readonly statusBuckets: number;
  readonly priority: number;
  /** Searches that the owner may run at a time; 0: any number. */
  readonly quota: number;
  /** Megabytes that the results of the owner's searches may take; absent or 0: no limit. */
  readonly diskQuotaMb?: number;
  /** The arguments as sent, which the job shows as its `request`. */
  readonly given: Readonly<Record<string, string | string[]>>;
}

export const DEFAULT_TTL_S = 600;
export const SAVED_TTL_S = 604_800;
