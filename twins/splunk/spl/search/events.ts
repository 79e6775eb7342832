/** The events of the store as a relation. */

import { prunableColumns, prunableTableColumn, tableScope } from "@offhook/log-store/column-pruning";
import type { FieldCatalog } from "@offhook/log-store/fields";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { type DeferredColumns, ROW } from "../relation/deferred-columns.ts";
import { type Column, filter, markNonNull, type Relation, select } from "../relation/relation.ts";
import type { TimeRange } from "../time/time-range.ts";
import { type EventTime, eventFields, timeOf } from "./event-fields.ts";

/** Order keys of events: time and row number. No other relation uses these names. */
const MOMENT_COLUMN = "#order of time";
export const ROW_COLUMN = "#order of row";
const newestFirst = [
  { column: MOMENT_COLUMN, direction: "DESC" },
  { column: ROW_COLUMN, direction: "DESC", unique: true },
] as const;

/**
 * The events in the context's time range, newest first, with all their fields. A snapshot: events written after this call are left out.
 * @param predicate on the columns of the relation; never NULL
 * @param candidates condition on the columns of `documents` (`prefilter.ts`)
 */
export function eventsRelation(context: SearchContext, predicate?: Sql, candidates = raw("true")): Relation {
  const { fields, nextRow } = context.store;
  const time = timeOf(fields);
  // An event without a time counts as of now.
  const moment = prunableTableColumn(MOMENT_COLUMN, sql`coalesce(${time.moment}, ${time.at(context.nowMs)})`);
  const { columns, items, selectList } = fieldsOf(fields);
  const documents = sql`documents AS d WHERE _row < CAST(${nextRow} AS BIGINT) AND ${candidates} AND ${timeCondition(context, time)}`;
  const select = sql`SELECT ${moment}${selectList} FROM ${tableScope(documents)}`;
  const keyed = sql`SELECT *, ${moment}_row AS ${identifier(ROW_COLUMN)} FROM documents AS d`;
  const events: Relation = {
    select,
    columns,
    order: newestFirst,
    kind: "events",
    deferred: deferredEvents(select, keyed, items),
    range: context.range,
    ofEvents: true,
  };
  return predicate === undefined ? events : filter(events, predicate);
}

interface EventColumns {
  columns: readonly Column[];
  items: readonly { column: string; value: Sql }[];
  /** SELECT list of the columns that are read, and the row number. */
  selectList: Sql;
}

/** A store whose fields change has a new catalog. */
const columnsByCatalog = new WeakMap<FieldCatalog, EventColumns>();

function fieldsOf(fields: FieldCatalog): EventColumns {
  const cached = columnsByCatalog.get(fields);
  if (cached !== undefined) return cached;
  const outputs = eventFields(fields, identifier(MOMENT_COLUMN));
  const columns = markNonNull(select(raw("documents"), outputs, newestFirst, "events").columns, outputs);
  const items = columns.map(({ column }, index) => ({
    column,
    value: outputs[index]?.value.sql ?? raw("NULL"),
  }));
  const row = raw("_row");
  const selectList = prunableColumns(
    [...items, { column: ROW, value: row }],
    [sql`${row} AS ${identifier(ROW_COLUMN)}`],
  );
  const result = { columns, items, selectList };
  columnsByCatalog.set(fields, result);
  return result;
}

/** @param events SELECT of events with their order keys */
function deferredEvents(
  of: Sql,
  events: Sql,
  columns: readonly { column: string; value: Sql }[],
): DeferredColumns {
  const row = identifier(ROW);
  const select = (found: Sql) =>
    sql`SELECT ${prunableColumns(columns, [row])} FROM (${events} JOIN (SELECT ${row} FROM (${found}) AS f) AS k ON d._row = k.${row}) AS r`;
  return { of, passthrough: [ROW], select };
}

function timeCondition(context: SearchContext, { moment, at }: EventTime): Sql {
  const { earliestMs, latestMs } = context.range;
  if (earliestMs === undefined && latestMs === undefined) return raw("true");
  const from = earliestMs === undefined ? raw("true") : sql`${moment} >= ${at(earliestMs)}`;
  const until = latestMs === undefined ? raw("true") : sql`${moment} < ${at(latestMs)}`;
  const undated = containsNow(context.range, context.nowMs) ? sql` OR ${moment} IS NULL` : raw("");
  return sql`((${from} AND ${until})${undated})`;
}

function containsNow({ earliestMs = -Infinity, latestMs = Infinity }: TimeRange, nowMs: number): boolean {
  return earliestMs <= nowMs && nowMs <= latestMs;
}
