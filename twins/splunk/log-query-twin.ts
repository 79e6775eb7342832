/** The log-query twin at work in one sandbox. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import type { Clock } from "@offhook/platform/base/clock";
import type { RunningTwin } from "@offhook/platform/twin/twin";
import type { Logger } from "pino";
import type { Channels } from "./collector/channels.ts";
import type { EventWriter } from "./collector/event-writer.ts";
import type { Intake } from "./collector/intake.ts";
import type { JobBook } from "./jobs/job-book.ts";
import type { ClearValues } from "./world/clear-values.ts";
import type { NamespacedKnowledge } from "./world/knowledge.ts";
import type { LogQueryTables } from "./world/tables.ts";

export interface LogQueryTwin extends RunningTwin {
  /** The events. Opened by the first request that needs it. */
  store(): Promise<LogStore>;
  /** Users, sessions, saved searches, jobs and other rows that are no events. */
  readonly tables: LogQueryTables;
  /** What searches refer to by name: over `tables`. */
  readonly knowledge: NamespacedKnowledge;
  readonly jobs: JobBook;
  /** What the event collector writes with, and which of its requests are to be acknowledged. */
  readonly writer: EventWriter;
  readonly channels: Channels;
  /** What the event collector has taken and not stored yet. */
  readonly intake: Intake;
  /** The clear text of tokens and passwords whose digests are rows. */
  readonly clear: ClearValues;
  /** HTTP address of the vendor API, without a slash at the end. */
  readonly address: string;
  /** The sandbox's: `now` in a search, and every timestamp in an answer. */
  readonly clock: Clock;
  /** When it was started, or restarted by a client, by that clock. */
  startedMs: number;
  /** Index of events that name none. */
  readonly index: string;
  /** IANA name: what days and hours are in searches and in answers. */
  readonly timeZone: string;
  /** Hosts beside this machine that webhooks may be posted to. */
  readonly webhookHosts: readonly string[];
  /** Aborts when the twin ends. */
  readonly ending: AbortSignal;
  readonly log: Logger;
}
