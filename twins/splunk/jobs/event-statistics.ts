/** Statistics of the events that a search found. */
import { pruneColumns } from "@offhook/log-store/column-pruning";
import { identifier, raw, sql } from "@offhook/log-store/sql";
import type { LogReader, QueryOptions } from "@offhook/log-store/store/log-store";
import { columnOf, type Relation } from "../spl/relation/relation.ts";
import type { CompiledSearch } from "./compile-search.ts";

export interface EventStatistics {
  count: number;
  /** Seconds since the epoch; absent without events, or when they have no time. */
  earliest: number | undefined;
  latest: number | undefined;
}

export interface EventCounts {
  /** Of the events before any transforming command. */
  readonly found: EventStatistics;
  /** Number of events that the first command found. */
  readonly scanned: number;
}

/** Counts the events of a search; `undefined` for a search without events. */
export async function countEvents(
  store: LogReader,
  { events, scanned }: Pick<CompiledSearch, "events" | "scanned">,
  options: QueryOptions,
): Promise<EventCounts | undefined> {
  if (events === undefined || scanned === undefined) return undefined;
  const found = await eventStatistics(store, events, options);
  const all = scanned.select === events.select ? found : await eventStatistics(store, scanned, options);
  return { found, scanned: all.count };
}

export async function eventStatistics(
  store: LogReader,
  events: Relation,
  options: QueryOptions,
): Promise<EventStatistics> {
  const column = columnOf(events, "_time");
  const time = column === undefined ? raw("NULL") : sql`TRY_CAST(${identifier(column.column)} AS DOUBLE)`;
  const { rows } = await store.query(
    pruneColumns(sql`SELECT count(*), min(${time}), max(${time}) FROM (${events.select}) AS r`),
    options,
  );
  const [count, earliest, latest] = rows[0] ?? [];
  return { count: Number(count ?? 0), earliest: numberOf(earliest), latest: numberOf(latest) };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
