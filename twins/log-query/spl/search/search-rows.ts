/** What a search expression finds: among the events, or among the rows so far. */
import { type Sql, sql } from "../../../datasets/sql.ts";
import { columnOf, fieldValue, filter, type Relation } from "../relation.ts";
import type { SearchContext, TimeRange } from "../search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { numberOf } from "../typed.ts";
import { isOneOf } from "./comparisons.ts";
import { eventsRelation, ROW_COLUMN } from "./events.ts";
import { namesIndexes } from "./indexes.ts";
import { resolveSearch } from "./resolve-search.ts";
import { searchPredicate } from "./search-predicate.ts";
import { sieve } from "./sieve.ts";
import { type SegmentIndex, segmentIndex } from "./terms.ts";

/** The events that an expression finds, newest first: in its own time range, else the context's; in the default indexes if it names none. */
export async function searchEvents(expression: SearchExpression, context: SearchContext): Promise<Relation> {
  const { found, times } = await resolveSearch(expression, context);
  const index = await segmentIndex(context, ROW_COLUMN);
  const sieved = index && (await sieve(found, context, index));
  const range = times.events ?? context.range;
  const events = eventsRelation(context.within(range), undefined, sieved?.predicate);
  const indexed = between(events, "_indextime", times.indexed);
  const inDefault = namesIndexes(found) ? [] : [inIndexes(context.knowledge.defaultIndexes(), events)];
  return filtered(events, [
    ...inDefault,
    ...indexed,
    ...predicateOf(found, events, sieved?.isRare ? undefined : index),
  ]);
}

/** The rows that an expression finds. Time modifiers look at their `_time`. */
export async function searchRows(
  expression: SearchExpression,
  rows: Relation,
  context: SearchContext,
): Promise<Relation> {
  return filtered(rows, await conditionsOf(expression, rows, context));
}

/** Whether an expression finds a row: never NULL. */
export async function searchCondition(
  expression: SearchExpression,
  rows: Relation,
  context: SearchContext,
): Promise<Sql> {
  return allOf(await conditionsOf(expression, rows, context)) ?? sql`true`;
}

async function conditionsOf(
  expression: SearchExpression,
  rows: Relation,
  context: SearchContext,
): Promise<Sql[]> {
  const { found, times } = await resolveSearch(expression, context);
  const timed = [...between(rows, "_time", times.events), ...between(rows, "_indextime", times.indexed)];
  return [...timed, ...predicateOf(found, rows)];
}

function predicateOf(found: SearchExpression, rows: Relation, index?: SegmentIndex): Sql[] {
  return found.node === "all" ? [] : [searchPredicate(found, rows, index)];
}

function filtered(rows: Relation, predicates: readonly Sql[]): Relation {
  const predicate = allOf(predicates);
  return predicate === undefined ? rows : filter(rows, predicate);
}

function allOf(predicates: readonly Sql[]): Sql | undefined {
  if (predicates.length === 0) return undefined;
  return sql`(${predicates.reduce((all, one) => sql`${all} AND ${one}`)})`;
}

function inIndexes(names: readonly string[], events: Relation): Sql {
  const values = names.map((text) => ({ text, quoted: true }));
  return sql`(${isOneOf("index", values, events)})`;
}

function between(rows: Relation, field: string, range: TimeRange | undefined): Sql[] {
  const column = columnOf(rows, field);
  if (range === undefined) return [];
  if (column === undefined) return [sql`false`];
  const seconds = numberOf(fieldValue(column));
  const { earliestMs, latestMs } = range;
  return [
    ...(earliestMs === undefined
      ? []
      : [sql`coalesce(${seconds} >= CAST(${earliestMs / 1000} AS DOUBLE), false)`]),
    ...(latestMs === undefined
      ? []
      : [sql`coalesce(${seconds} < CAST(${latestMs / 1000} AS DOUBLE), false)`]),
  ];
}
