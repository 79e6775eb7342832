/** The events of the store as rows: what `search` begins with, and every command that looks at events itself. */
import type { FieldCatalog } from "@offhook/log-store/fields";
import { columnsIfRead, ofTables, tableColumnIfRead } from "@offhook/log-store/needed-columns";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { type DeferredColumns, ROW } from "../relation/deferred-columns.ts";
import { type Column, filter, markNonNull, type Relation, select } from "../relation/relation.ts";
import type { TimeRange } from "../time/time-range.ts";
import { type EventTime, eventFields, timeOf } from "./event-fields.ts";

/** The columns of events with their moment and their number in the store: no other rows' keys are called so. */
const MOMENT_COLUMN = "#order of time";
export const ROW_COLUMN = "#order of row";
const newestFirst = [
  { column: MOMENT_COLUMN, direction: "DESC" },
  { column: ROW_COLUMN, direction: "DESC", unique: true },
] as const;

/**
 * The events of the context's time range that are there by now, newest first, with all their fields. What is written while the search
 * runs, or until somebody asks for its events again, is not among them.
 * @param predicate on the fields, as columns of the relation; never NULL
 * @param among on the columns of `documents`: what is worth looking at (`sieve.ts`)
 */
export function eventsRelation(context: SearchContext, predicate?: Sql, among = raw("true")): Relation {
  const { fields, nextRow } = context.store;
  const time = timeOf(fields);
  // An event that does not say when it happened is one of now.
  const moment = tableColumnIfRead(MOMENT_COLUMN, sql`coalesce(${time.moment}, ${time.at(context.nowMs)})`);
  const { columns, items, made } = fieldsOf(fields);
  const documents = sql`documents AS d WHERE _row < CAST(${nextRow} AS BIGINT) AND ${among} AND ${within(context, time)}`;
  const select = sql`SELECT ${moment}${made} FROM ${ofTables(documents)}`;
  const placed = sql`SELECT *, ${moment}_row AS ${identifier(ROW_COLUMN)} FROM documents AS d`;
  const events: Relation = {
    select,
    columns,
    order: newestFirst,
    kind: "events",
    deferred: lateEvents(select, placed, items),
    range: context.range,
    ofEvents: true,
  };
  return predicate === undefined ? events : filter(events, predicate);
}

interface EventColumns {
  columns: readonly Column[];
  items: readonly { column: string; value: Sql }[];
  /** All of them that are read, and the number in the store. */
  made: Sql;
}

/** They are the same for as long as the dataset's fields are. */
const known = new WeakMap<FieldCatalog, EventColumns>();

function fieldsOf(fields: FieldCatalog): EventColumns {
  const before = known.get(fields);
  if (before !== undefined) return before;
  const outputs = eventFields(fields, identifier(MOMENT_COLUMN));
  const columns = markNonNull(select(raw("documents"), outputs, newestFirst, "events").columns, outputs);
  const items = columns.map(({ column }, index) => ({
    column,
    value: outputs[index]?.value.sql ?? raw("NULL"),
  }));
  const row = raw("_row");
  const made = columnsIfRead(
    [...items, { column: ROW, value: row }],
    [sql`${row} AS ${identifier(ROW_COLUMN)}`],
  );
  const found = { columns, items, made };
  known.set(fields, found);
  return found;
}

/** @param events each with its place in the order */
function lateEvents(
  of: Sql,
  events: Sql,
  columns: readonly { column: string; value: Sql }[],
): DeferredColumns {
  const row = identifier(ROW);
  const select = (found: Sql) =>
    sql`SELECT ${columnsIfRead(columns, [row])} FROM (${events} JOIN (SELECT ${row} FROM (${found}) AS f) AS k ON d._row = k.${row}) AS r`;
  return { of, passthrough: [ROW], select };
}

function within(context: SearchContext, { moment, at }: EventTime): Sql {
  const { earliestMs, latestMs } = context.range;
  if (earliestMs === undefined && latestMs === undefined) return raw("true");
  const from = earliestMs === undefined ? raw("true") : sql`${moment} >= ${at(earliestMs)}`;
  const until = latestMs === undefined ? raw("true") : sql`${moment} < ${at(latestMs)}`;
  const undated = holdsNow(context.range, context.nowMs) ? sql` OR ${moment} IS NULL` : raw("");
  return sql`((${from} AND ${until})${undated})`;
}

function holdsNow({ earliestMs = -Infinity, latestMs = Infinity }: TimeRange, nowMs: number): boolean {
  return earliestMs <= nowMs && nowMs <= latestMs;
}
