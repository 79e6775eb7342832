/**
 * The rewrite of a query before its clauses are compiled. It drops clauses that cannot match, and everything that requires them, so
 * errors inside those are never reported; and it parses the bounds of dates first of all.
 * Source: `doRewrite` of the vendor's query builders.
 */
import type { QueryContext } from "../compiled-query.ts";
import type { BoolQuery, Query, RangeQuery } from "../syntax/query.ts";
import { checkDateBounds } from "./dates.ts";
import { fieldNames } from "./field-names.ts";
import { targetOf } from "./target.ts";

/** Whether a name or a pattern means a mapped field. */
type IsMapped = (field: string) => boolean;

/** @throws ShardError for a bound that is not a date */
export function rewriteOnShard(query: Query, context: QueryContext): Query {
  // The coordinating node rewrites first, and knows no mapping.
  const coordinated = rewrite(query, () => true);
  checkDates(coordinated, context);
  return rewrite(coordinated, (field) =>
    fieldNames(context, field).some((name) => targetOf(context, name, "whole").kind !== "missing"),
  );
}

/**
 * Drops ranges of dates that match no document, as a shard does by a field's first and last date.
 * @param outside whether all of a field's dates are outside the bounds
 */
export function dropEmptyRanges(query: Query, outside: (range: RangeQuery) => boolean): Query {
  return rewrite(query, () => true, outside);
}

function checkDates(query: Query, context: QueryContext): void {
  for (const range of rangesOf(query)) {
    const target = targetOf(context, range.field, "whole");
    if (target.kind === "date") checkDateBounds(context, target, range);
  }
}

/** The ranges inside a query, in rewrite order. */
export function rangesOf(query: Query): RangeQuery[] {
  return query.kind === "range" ? [query] : innerQueries(query).flatMap(rangesOf);
}

function innerQueries(query: Query): readonly Query[] {
  switch (query.kind) {
    case "bool":
      return [...query.must, ...query.mustNot, ...query.filter, ...query.should];
    case "constant_score":
      return [query.filter];
    case "boosting":
      return [query.positive, query.negative];
    case "dis_max":
      return query.queries;
    case "function_score":
      return [query.query, ...query.functions.map(({ filter }) => filter)];
    default:
      return [];
  }
}

function rewrite(
  query: Query,
  isMapped: IsMapped,
  isEmpty: (range: RangeQuery) => boolean = () => false,
): Query {
  const again = (inner: Query) => rewrite(inner, isMapped, isEmpty);
  switch (query.kind) {
    case "bool":
      return rewriteBool(query, again);
    case "range":
      return isMapped(query.field) && !isEmpty(query) ? query : nothing;
    case "term":
    case "prefix":
    case "fuzzy":
    case "wildcard":
      return isMapped(query.field) ? query : nothing;
    case "terms":
      return query.values.length > 0 && isMapped(query.field) ? query : nothing;
    case "ids":
      return query.values.length > 0 ? query : nothing;
    case "exists": {
      const { field } = query;
      return isMapped(field) || isMapped(`${field}.*`) ? query : nothing;
    }
    case "constant_score": {
      const filter = again(query.filter);
      return filter.kind === "match_none" ? filter : { ...query, filter };
    }
    case "boosting": {
      const positive = again(query.positive);
      if (positive.kind === "match_none") return positive;
      return { ...query, positive, negative: again(query.negative) };
    }
    case "dis_max":
      return { ...query, queries: query.queries.map(again) };
    case "function_score": {
      const inner = again(query.query);
      if (inner.kind === "match_none") return inner;
      const functions = query.functions.map((one) => ({
        ...one,
        filter: again(one.filter),
      }));
      return { ...query, query: inner, functions };
    }
    default:
      return query;
  }
}

const nothing: Query = { kind: "match_none", boost: 1, name: undefined };

function rewriteBool(query: BoolQuery, again: (clause: Query) => Query): Query {
  const must = query.must.map(again);
  const mustNot = query.mustNot.map(again);
  const filter = query.filter.map(again);
  const should = query.should.map(again);
  const clauses = must.length + mustNot.length + filter.length + should.length;
  if (clauses === 0) return { kind: "match_all", boost: query.boost, name: query.name };
  const isNothing = ({ kind }: Query) => kind === "match_none";
  const onlyOptional = must.length + filter.length === 0 && should.length > 0;
  if (mustNot.some(({ kind }) => kind === "match_all")) return nothing;
  if ([...must, ...filter].some(isNothing) || (onlyOptional && should.every(isNothing))) return nothing;
  return { ...query, must, mustNot, filter, should };
}
