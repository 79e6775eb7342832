/** Opens the state of a log-query twin: events, tables, and the knowledge objects that searches see. */
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
  /** Opens the store on first use. */
  store(): Promise<LogStore>;
  /** The store, once it is open. */
  opened(): LogStore | undefined;
  /** Calls the listener with the store when it is opened, at once if it is; absent: it is open from the start. */
  whenOpened?(listener: (store: LogStore) => void): void;
  /** Index of events that name none. */
  index: string;
  clock: Clock;
  /** Rows of a finished job, or of a saved search's latest. */
  jobResults: Knowledge["jobResults"];
  /** Entries of one of the twin's REST collections. */
  rest: Knowledge["rest"];
}

export interface LogQueryWorld {
  /** As the control plane sees it. */
  world: World;
  tables: LogQueryTables;
  knowledge: NamespacedKnowledge;
  /** Writes events. */
  writer: EventWriter;
  /** Resets the tables, but not the events, to their initial rows. */
  seed(): Promise<void>;
}

export function openWorld(options: WorldOptions): LogQueryWorld {
  const { store, clock, index, jobResults, rest } = options;
  const tables = createTables();
  const writer = new EventWriter(store, () => clock.now());
  // Computed once: every reset restores the same rows.
  const start = seedTables(index);
  return {
    world: new EventsAndTables(new EventWorld(options), tables, Object.keys(logQueryTables)),
    tables,
    knowledge: createKnowledge({ tables, store, writer, index, jobResults, rest }),
    writer,
    seed: () => tables.load(start),
  };
}
