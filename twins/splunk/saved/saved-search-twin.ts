import type { Clock } from "@offhook/platform/base/clock";
import type { Logger } from "pino";
import type { JobBook } from "../jobs/job-book.ts";
import type { LogQueryTables } from "../world/tables.ts";

/** The parts of the twin that run saved searches and their alert actions. */
export interface SavedSearchTwin {
  readonly jobs: JobBook;
  /** Users, sessions, saved searches, jobs and all other rows that are not events. */
  readonly tables: LogQueryTables;
  /** The sandbox's clock: `now` in a search, and every timestamp in an answer. */
  readonly clock: Clock;
  /** IANA name of the zone in which searches and answers have their days and hours. */
  readonly timeZone: string;
  /** Hosts beside this machine that webhooks may be posted to. */
  readonly webhookHosts: readonly string[];
  /** Aborts when the twin ends. */
  readonly ending: AbortSignal;
  readonly log: Logger;
}
