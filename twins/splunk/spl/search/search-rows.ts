/** Runs a search expression on the events, or on the rows of the preceding command. */
import { identifier, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, filter, type Relation } from "../relation/relation.ts";
import { numberOf } from "../relation/typed.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import type { TimeRange } from "../time/time-range.ts";
import { eventsRelation, ROW_COLUMN } from "./events.ts";
import { eventsOfIndexes, namesIndexes, withKnownIndexes } from "./indexes.ts";
import { prefilter } from "./prefilter.ts";
import { resolveSearch } from "./resolve-search.ts";
import { accessExpression, indexPatterns, limitRange } from "./restrict-access.ts";
import { type ExactTests, searchFilter } from "./search-predicate.ts";

/** The matching events, newest first. Time range and indexes default to the context's range and the default indexes. */
export async function searchEvents(expression: SearchExpression, context: SearchContext): Promise<Relation> {
  const { found: asked, times } = await resolveSearch(expression, context);
  const named = namesIndexes(asked) ? asked : and(defaultIndexes(context), asked);
  const found = await withKnownIndexes(await restrictToAccess(named, context), context);
  const prefiltered = await prefilter(found, context);
  const range = limitRange(times.events ?? context.range, context);
  const passing = eventsRelation(context.within(range), undefined, prefiltered?.candidates);
  const events = prefiltered?.maxRows === undefined ? passing : { ...passing, maxRows: prefiltered.maxRows };
  const indexed = timeConditions(events, "_indextime", times.indexed);
  const known = prefiltered && { row: identifier(ROW_COLUMN), tests: prefiltered.exact };
  const predicate = conjunction([...indexed, ...predicateOf(found, events, known)]);
  if (predicate === undefined) return events;
  const rows = filter(events, predicate);
  return { ...rows, candidates: { of: rows.select, passing: events, predicate } };
}

function defaultIndexes({ access, knowledge }: SearchContext): SearchExpression {
  return access === undefined ? eventsOfIndexes(knowledge.defaultIndexes()) : indexPatterns(access.defaults);
}

/** Adds the restrictions of the user's roles. */
async function restrictToAccess(
  expression: SearchExpression,
  context: SearchContext,
): Promise<SearchExpression> {
  const allowed = accessExpression(context);
  return allowed === undefined ? expression : and((await resolveSearch(allowed, context)).found, expression);
}

function and(one: SearchExpression, other: SearchExpression): SearchExpression {
  return other.node === "all" ? one : { node: "and", operands: [one, other] };
}

/** The matching rows. Time modifiers apply to `_time`. */
export async function searchRows(
  expression: SearchExpression,
  rows: Relation,
  context: SearchContext,
): Promise<Relation> {
  return filterBy(rows, await conditionsOf(expression, rows, context));
}

/** The condition that a row matches; never NULL. */
export async function searchCondition(
  expression: SearchExpression,
  rows: Relation,
  context: SearchContext,
): Promise<Sql> {
  const all = conjunction(await conditionsOf(expression, rows, context));
  return all === undefined ? sql`true` : sql`coalesce(${all}, false)`;
}

async function conditionsOf(
  expression: SearchExpression,
  rows: Relation,
  context: SearchContext,
): Promise<Sql[]> {
  const { found, times } = await resolveSearch(expression, context);
  const timed = [
    ...timeConditions(rows, "_time", times.events),
    ...timeConditions(rows, "_indextime", times.indexed),
  ];
  return [...timed, ...predicateOf(found, rows)];
}

function predicateOf(found: SearchExpression, rows: Relation, known?: ExactTests): Sql[] {
  return found.node === "all" ? [] : [searchFilter(found, rows, known)];
}

function filterBy(rows: Relation, predicates: readonly Sql[]): Relation {
  const predicate = conjunction(predicates);
  return predicate === undefined ? rows : filter(rows, predicate);
}

function conjunction(predicates: readonly Sql[]): Sql | undefined {
  if (predicates.length === 0) return undefined;
  return sql`(${predicates.reduce((all, one) => sql`${all} AND ${one}`)})`;
}

function timeConditions(rows: Relation, field: string, range: TimeRange | undefined): Sql[] {
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
