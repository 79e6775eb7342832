/** The state of a log-query twin: its events, its other tables, and what searches see of them. */
import type { LogStore } from "@offhook/log-store/store/log-store";
import { EventWorld } from "@offhook/log-store/world/event-world";
import { EventsAndTables } from "@offhook/log-store/world/events-and-tables";
import type { Clock } from "@offhook/platform/base/clock";
import type { World } from "@offhook/platform/world/world";
import type { Knowledge } from "../spl/context/knowledge.ts";
import { EventWriter } from "./event-writer.ts";
import { createKnowledge, type NamespacedKnowledge } from "./knowledge.ts";
import { seedTables } from "./seed.ts";
import { createTables, type LogQueryTables, logQueryTables } from "./tables.ts";

export interface WorldOptions {
  /** Opens the store the first time; the same one from then on. */
  store(): Promise<LogStore>;
  /** The store, once it is open. */
  opened(): LogStore | undefined;
  /** Index of events that name none. */
  index: string;
  clock: Clock;
  /** Rows of a finished job, or of the latest of a saved search. */
  jobResults: Knowledge["jobResults"];
  /** Entries of one of the twin's REST collections. */
  rest: Knowledge["rest"];
}

export interface LogQueryWorld {
  /** As the control plane sees it. */
  world: World;
  tables: LogQueryTables;
  knowledge: NamespacedKnowledge;
  /** What events are written with. */
  writer: EventWriter;
  /** Puts the tables (not the events) back to what they are at the start. */
  seed(): Promise<void>;
}

export function openWorld(options: WorldOptions): LogQueryWorld {
  const { store, clock, index, jobResults, rest } = options;
  const tables = createTables();
  const writer = new EventWriter(store, () => clock.now());
  // The same at every reset, so that a reset gives back what there was.
  const start = seedTables(index);
  return {
    world: new EventsAndTables(new EventWorld(options), tables, Object.keys(logQueryTables)),
    tables,
    knowledge: createKnowledge({ tables, store, writer, index, jobResults, rest }),
    writer,
    seed: () => tables.load(start),
  };
}
