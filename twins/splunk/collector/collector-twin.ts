import type { Clock } from "@offhook/platform/base/clock";
import type { RunningTwin } from "@offhook/platform/twin/twin";
import type { Knowledge } from "../spl/context/knowledge.ts";
import type { EventWriter } from "../world/event-writer.ts";
import type { LogQueryTables } from "../world/tables.ts";
import type { Channels } from "./channels.ts";
import type { CollectorView } from "./collector-view.ts";
import type { Intake } from "./intake.ts";

/** The parts of the twin that the event collector works with. */
export interface CollectorTwin extends RunningTwin {
  readonly tables: LogQueryTables;
  readonly collector: CollectorView;
  readonly knowledge: Pick<Knowledge, "indexes">;
  readonly writer: EventWriter;
  /** Acknowledgements: stored requests that their clients have not queried yet. */
  readonly channels: Channels;
  /** The requests that are accepted and not yet stored. */
  readonly intake: Intake;
  readonly clock: Clock;
  /** IANA name. */
  readonly timeZone: string;
}
