/** Figures of the events that a search has found. */
import { withNeededColumns } from "@offhook/log-store/needed-columns";
import { identifier, raw, sql } from "@offhook/log-store/sql";
import type { LogReader, QueryOptions } from "@offhook/log-store/store/log-store";
import { columnOf, type Relation } from "../spl/relation/relation.ts";
import type { CompiledSearch } from "./compile-search.ts";

export interface EventFigures {
  count: number;
  /** Seconds since the epoch; absent when there are no events, or they have no time. */
  earliest: number | undefined;
  latest: number | undefined;
}

export interface JobFigures {
  /** Of the events before any transforming command. */
  readonly found: EventFigures;
  /** Events that the first command found. */
  readonly scanned: number;
}

/** `undefined` for a search that has no events. */
export async function jobFigures(
  store: LogReader,
  { events, scanned }: Pick<CompiledSearch, "events" | "scanned">,
  options: QueryOptions,
): Promise<JobFigures | undefined> {
  if (events === undefined || scanned === undefined) return undefined;
  const found = await eventFigures(store, events, options);
  const of = scanned.select === events.select ? found : await eventFigures(store, scanned, options);
  return { found, scanned: of.count };
}

export async function eventFigures(
  store: LogReader,
  events: Relation,
  options: QueryOptions,
): Promise<EventFigures> {
  const column = columnOf(events, "_time");
  const time = column === undefined ? raw("NULL") : sql`TRY_CAST(${identifier(column.column)} AS DOUBLE)`;
  const { rows } = await store.query(
    withNeededColumns(sql`SELECT count(*), min(${time}), max(${time}) FROM (${events.select}) AS r`),
    options,
  );
  const [count, earliest, latest] = rows[0] ?? [];
  return { count: Number(count ?? 0), earliest: numberOf(earliest), latest: numberOf(latest) };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
