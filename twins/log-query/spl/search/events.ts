/** The events of the store as rows: what `search` begins with, and every command that looks at events itself. */
import type { FieldCatalog } from "../../../datasets/fields.ts";
import { columnsIfRead } from "../../../datasets/needed-columns.ts";
import { identifier, raw, type Sql, sql } from "../../../datasets/sql.ts";
import { type Late, ROW } from "../late-columns.ts";
import { filter, type Output, type Relation, selected } from "../relation.ts";
import type { SearchContext, TimeRange } from "../search-context.ts";
import { type EventTime, eventFields, timeOf } from "./event-fields.ts";

/** The column of events with their number in the store. */
export const ROW_COLUMN = "#order1";
const newestFirst = [
  { column: "#order0", direction: "DESC" },
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
  const moment = sql`coalesce(${time.moment}, ${time.at(context.nowMs)})`;
  const placed = sql`SELECT *, ${moment} AS "#order0", _row AS "#order1" FROM documents AS d`;
  const outputs = fieldsOf(fields);
  const hidden = [{ column: ROW, value: raw('"#order1"') }];
  const events = selected(
    sql`${placed} WHERE _row < CAST(${nextRow} AS BIGINT) AND ${among} AND ${within(context, time)}`,
    outputs,
    newestFirst,
    "events",
    hidden,
  );
  const items = events.columns.map(({ column }, index) => ({
    column,
    value: outputs[index]?.value.sql ?? raw("NULL"),
  }));
  const late = lateEvents(events.select, placed, items);
  const relation = { ...events, late, range: context.range, ofEvents: true } as const;
  return predicate === undefined ? relation : filter(relation, predicate);
}

/** They are the same for as long as the dataset's fields are. */
const made = new WeakMap<FieldCatalog, readonly Output[]>();

function fieldsOf(fields: FieldCatalog): readonly Output[] {
  const known = made.get(fields) ?? eventFields(fields, raw('"#order0"'));
  made.set(fields, known);
  return known;
}

/** @param events each with its place in the order */
function lateEvents(of: Sql, events: Sql, columns: readonly { column: string; value: Sql }[]): Late {
  const row = identifier(ROW);
  const select = (found: Sql) =>
    sql`SELECT ${columnsIfRead(columns, [row])} FROM (${events} JOIN (SELECT ${row} FROM (${found}) AS f) AS k ON d._row = k.${row}) AS r`;
  return { of, carried: [ROW], select };
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
