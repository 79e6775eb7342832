/** What a search expression finds: among the events, or among the rows so far. */
import { identifier, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, filter, type Relation } from "../relation/relation.ts";
import { numberOf } from "../relation/typed.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import type { TimeRange } from "../time/time-range.ts";
import { accessExpression, accessibleRange, inIndexes } from "./event-access.ts";
import { eventsRelation, ROW_COLUMN } from "./events.ts";
import { amongIndexes, namesIndexes, withKnownIndexes } from "./indexes.ts";
import { resolveSearch } from "./resolve-search.ts";
import { type Known, searchFilter } from "./search-predicate.ts";
import { sieve } from "./sieve.ts";

/** The events that an expression finds, newest first: in its own time range, else the context's; in the default indexes if it names none. */
export async function searchEvents(expression: SearchExpression, context: SearchContext): Promise<Relation> {
  const { found: asked, times } = await resolveSearch(expression, context);
  const named = namesIndexes(asked) ? asked : both(defaultIndexes(context), asked);
  const found = await withKnownIndexes(await accessible(named, context), context);
  const sieved = await sieve(found, context);
  const range = accessibleRange(times.events ?? context.range, context);
  const passing = eventsRelation(context.within(range), undefined, sieved?.among);
  const events = sieved?.atMost === undefined ? passing : { ...passing, maxRows: sieved.atMost };
  const indexed = between(events, "_indextime", times.indexed);
  const known = sieved && { row: identifier(ROW_COLUMN), decided: sieved.decided };
  const predicate = allOf([...indexed, ...predicateOf(found, events, known)]);
  if (predicate === undefined) return events;
  const rows = filter(events, predicate);
  return { ...rows, candidates: { of: rows.select, passing: events, predicate } };
}

function defaultIndexes({ access, knowledge }: SearchContext): SearchExpression {
  return access === undefined ? amongIndexes(knowledge.defaultIndexes()) : inIndexes(access.defaults);
}

/** With what whoever searches may see. */
async function accessible(expression: SearchExpression, context: SearchContext): Promise<SearchExpression> {
  const allowed = accessExpression(context);
  return allowed === undefined ? expression : both((await resolveSearch(allowed, context)).found, expression);
}

function both(one: SearchExpression, other: SearchExpression): SearchExpression {
  return other.node === "all" ? one : { node: "and", operands: [one, other] };
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
  const all = allOf(await conditionsOf(expression, rows, context));
  return all === undefined ? sql`true` : sql`coalesce(${all}, false)`;
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

function predicateOf(found: SearchExpression, rows: Relation, known?: Known): Sql[] {
  return found.node === "all" ? [] : [searchFilter(found, rows, known)];
}

function filtered(rows: Relation, predicates: readonly Sql[]): Relation {
  const predicate = allOf(predicates);
  return predicate === undefined ? rows : filter(rows, predicate);
}

function allOf(predicates: readonly Sql[]): Sql | undefined {
  if (predicates.length === 0) return undefined;
  return sql`(${predicates.reduce((all, one) => sql`${all} AND ${one}`)})`;
}

function between(rows: Relation, field: string, range: TimeRange | undefined): Sql[] {
  const column = columnOf(rows, field);
  if (range === undefined) return [];
  if (column === undefined) return [sql`false`];
  const seconds = numberOf(fieldValue(column));
  const { earliestMs, latestMs } = range;
  return [
    ...(earliestMs === undefined ? [] : [sql`${seconds} >= CAST(${earliestMs / 1000} AS DOUBLE)`]),
    ...(latestMs === undefined ? [] : [sql`${seconds} < CAST(${latestMs / 1000} AS DOUBLE)`]),
  ];
}
