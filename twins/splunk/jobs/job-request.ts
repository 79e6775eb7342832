/** What a search is started with. */
import type { TimeRange } from "../spl/time/time-range.ts";
import type { RowOutlet } from "./row-outlet.ts";

export type ExecMode = "normal" | "blocking" | "oneshot";

export interface JobRequest {
  /** The search, whose first word is a command. */
  readonly search: string;
  readonly owner: string;
  readonly app: string;
  /** The sid that it is to have; one is made when absent. */
  readonly sid: string | undefined;
  readonly savedSearch: string | undefined;
  /** Whose saved search it is. */
  readonly savedSearchOwner?: string | undefined;
  /** Who may look at it beside its owner: roles, users, `*` for everybody. Absent: nobody. */
  readonly readers?: readonly string[];
  readonly label: string;
  readonly range: TimeRange;
  /** `now()`, when it is not the sandbox's clock. */
  readonly nowMs: number | undefined;
  /** Rows of the result that are kept. */
  readonly maxCount: number;
  /** Where all of the rows go instead, if they are not kept. */
  readonly outlet?: RowOutlet;
  /** Seconds after which it is ended with what it has; 0: as long as it takes. */
  readonly maxTimeS: number;
  /** Seconds it is kept for when it is over. */
  readonly ttlS: number;
  /** Most buckets of its timeline; 0: it has none, and no summary. */
  readonly statusBuckets: number;
  readonly priority: number;
  /** Searches that its owner may run at a time; 0: any number. */
  readonly quota: number;
  /** MB that the results of its owner's searches may have; absent or 0: any number. */
  readonly diskQuotaMb?: number;
  /** As they were given, for `request` of the job. */
  readonly given: Readonly<Record<string, string | string[]>>;
}

export const DEFAULT_TTL_S = 600;
export const SAVED_TTL_S = 604_800;
