/** The state of a log-query twin: its events, its other tables, and what searches see of them. */
import type { LogStore } from "../../datasets/store/log-store.ts";
import { EventWorld } from "../../datasets/world/event-world.ts";
import type { Clock } from "../../sandbox/clock.ts";
import type { World } from "../../sandbox/world.ts";
import type { Knowledge } from "../spl/knowledge.ts";
import type { Rows } from "../spl/rows.ts";
import { seedTables } from "./seed.ts";
import { createTables, type LogQueryTables } from "./tables.ts";

export interface WorldOptions {
  /** Opens the store the first time; the same one from then on. */
  store(): Promise<LogStore>;
  /** The store, once it is open. */
  opened(): LogStore | undefined;
  /** Index of events that name none. */
  index: string;
  clock: Clock;
  /** Rows of a finished job, or of the latest of a saved search. */
  jobResults(job: string): Promise<Rows | undefined>;
  /** Entries of one of the twin's own REST collections. */
  rest(path: string): Promise<Rows | undefined>;
}

export interface LogQueryWorld {
  /** As the control plane sees it. */
  world: World;
  tables: LogQueryTables;
  knowledge: Knowledge;
  /** Puts the tables (not the events) back to what they are at the start. */
  seed(): Promise<void>;
}

export function openWorld(options: WorldOptions): LogQueryWorld {
  const tables = createTables();
  return {
    world: new EventWorld(options),
    tables,
    knowledge: noKnowledge(options),
    seed: () => tables.load(seedTables(options.clock)),
  };
}

function noKnowledge({ index, jobResults, rest }: WorldOptions): Knowledge {
  return {
    macro: () => undefined,
    savedSearch: () => undefined,
    lookup: async () => undefined,
    writeLookup: async () => {},
    removeLookup: async () => {},
    tagged: () => [],
    tagsOf: () => [],
    eventType: () => undefined,
    dataModel: () => [],
    jobResults,
    rest,
    collect: async () => {},
    indexes: async () => [index],
    defaultIndexes: () => [index],
  };
}
