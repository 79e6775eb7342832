/**
 * What a shard makes of a query before any clause is carried out: clauses that cannot match go, and with them what they are
 * required in, so that nothing else that is wrong within is told; and the bounds of dates are read, before anything else is.
 * Source: `doRewrite` of the vendor's query builders.
 */
import type { QueryContext } from "../compiled-query.ts";
import type { BoolQuery, Query } from "../syntax/query.ts";
import { checkDateBounds } from "./dates.ts";
import { fieldNames } from "./field-names.ts";
import { targetOf } from "./target.ts";

/** @throws ShardError for a bound that is no date */
export function rewriteOnShard(query: Query, context: QueryContext): Query {
  // What cannot match is known from the mapping, before the index is opened and dates are read.
  const rewritten = rewrite(query, context);
  checkDates(rewritten, context);
  return rewritten;
}

function checkDates(query: Query, context: QueryContext): void {
  for (const inner of innerQueries(query)) checkDates(inner, context);
  if (query.kind !== "range") return;
  const target = targetOf(context, query.field, "whole");
  if (target.kind === "date") checkDateBounds(context, target, query);
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

function rewrite(query: Query, context: QueryContext): Query {
  switch (query.kind) {
    case "bool":
      return rewriteBool(query, context);
    case "term":
    case "range":
    case "prefix":
    case "fuzzy":
    case "wildcard":
      return isMapped(query.field, context) ? query : nothing;
    case "terms":
      return query.values.length > 0 && isMapped(query.field, context) ? query : nothing;
    case "ids":
      return query.values.length > 0 ? query : nothing;
    case "exists": {
      const { field } = query;
      const names = [field, `${field}.*`].flatMap((pattern) => fieldNames(context, pattern));
      return names.some((name) => isMapped(name, context)) ? query : nothing;
    }
    case "constant_score": {
      const filter = rewrite(query.filter, context);
      return filter.kind === "match_none" ? filter : { ...query, filter };
    }
    case "boosting": {
      const positive = rewrite(query.positive, context);
      if (positive.kind === "match_none") return positive;
      return { ...query, positive, negative: rewrite(query.negative, context) };
    }
    case "dis_max":
      return { ...query, queries: query.queries.map((one) => rewrite(one, context)) };
    case "function_score": {
      const inner = rewrite(query.query, context);
      if (inner.kind === "match_none") return inner;
      const functions = query.functions.map((one) => ({
        ...one,
        filter: rewrite(one.filter, context),
      }));
      return { ...query, query: inner, functions };
    }
    default:
      return query;
  }
}

const nothing: Query = { kind: "match_none", boost: 1, name: undefined };

function isMapped(field: string, context: QueryContext): boolean {
  return targetOf(context, field, "whole").kind !== "missing";
}

function rewriteBool(query: BoolQuery, context: QueryContext): Query {
  const rewriteAll = (clauses: readonly Query[]) => clauses.map((clause) => rewrite(clause, context));
  const must = rewriteAll(query.must);
  const mustNot = rewriteAll(query.mustNot);
  const filter = rewriteAll(query.filter);
  const should = rewriteAll(query.should);
  const clauses = must.length + mustNot.length + filter.length + should.length;
  if (clauses === 0) return { kind: "match_all", boost: query.boost, name: query.name };
  const isNothing = ({ kind }: Query) => kind === "match_none";
  const onlyOptional = must.length + filter.length === 0 && should.length > 0;
  if (mustNot.some(({ kind }) => kind === "match_all")) return nothing;
  if ([...must, ...filter].some(isNothing) || (onlyOptional && should.every(isNothing))) return nothing;
  return { ...query, must, mustNot, filter, should };
}
