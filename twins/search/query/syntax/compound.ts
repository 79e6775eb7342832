/** `constant_score`, `dis_max`, `boosting` and `nested`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/compound-queries.html */
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument, parsingError } from "../errors.ts";
import { wrapped } from "./bool.ts";
import {
  common,
  commonOf,
  flag,
  float,
  ignored,
  type OptionReader,
  oneOf,
  readOptions,
  required,
  text,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { BoostingQuery, ConstantScoreQuery, DisMaxQuery, NestedQuery, Query } from "./query.ts";

/** A query inside a clause. */
export const inner: OptionReader<Query> = (value, { parser, path }) => parser.clause(value, path);

export function readConstantScore(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
): ConstantScoreQuery {
  if (Array.isArray(json.filter)) {
    throw parsingError("unexpected token [START_ARRAY]", parser.at([...path, "filter"]));
  }
  const options = readOptions(parser, json, path, "constant_score", { filter: inner, ...common });
  if (!options.filter) throw parsingError("[constant_score] requires a 'filter' element", parser.at(path));
  return { kind: "constant_score", filter: options.filter, ...commonOf(options) };
}

const queries: OptionReader<Query[]> = (value, { parser, path }) =>
  (Array.isArray(value) ? value : [value]).map((item, index) => parser.clause(item, [...path, index]));

export function readDisMax(parser: Parser, json: Record<string, unknown>, path: JsonPath): DisMaxQuery {
  const options = readOptions(parser, json, path, "dis_max", { queries, tie_breaker: float, ...common });
  if (!options.queries?.length) {
    throw parsingError("[dis_max] requires 'queries' field with at least one clause", parser.at(path));
  }
  return {
    kind: "dis_max",
    queries: options.queries,
    tieBreaker: options.tie_breaker ?? 0,
    ...commonOf(options),
  };
}

export function readBoosting(parser: Parser, json: Record<string, unknown>, path: JsonPath): BoostingQuery {
  const readers = { positive: inner, negative: inner, negative_boost: float, ...common };
  const options = readOptions(parser, json, path, "boosting", readers);
  if (!options.positive)
    throw parsingError("[boosting] query requires 'positive' query to be set'", parser.at(path));
  if (!options.negative)
    throw parsingError("[boosting] query requires 'negative' query to be set'", parser.at(path));
  if (options.negative_boost === undefined || options.negative_boost < 0) {
    throw parsingError(
      "[boosting] query requires 'negative_boost' to be set to be a positive value'",
      parser.at(path),
    );
  }
  return {
    kind: "boosting",
    positive: options.positive,
    negative: options.negative,
    negativeBoost: options.negative_boost,
    ...commonOf(options),
  };
}

const scoreMode = oneOf(["avg", "max", "min", "sum", "none"], (written) =>
  illegalArgument(`No score mode for child query [${written}] found`),
);

export function readNested(parser: Parser, json: Record<string, unknown>, path: JsonPath): NestedQuery {
  const readers = {
    path: text,
    query: ((value, place) =>
      wrapped(parser, "nested", "query", place.path, () =>
        inner(value, place),
      )) satisfies OptionReader<Query>,
    score_mode: scoreMode,
    ignore_unmapped: flag,
    inner_hits: ignored,
    ...common,
  };
  const options = readOptions(parser, json, path, "nested", readers);
  if (options.inner_hits !== undefined) throw illegalArgument("[nested] inner_hits are not supported");
  return {
    kind: "nested",
    path: required(options.path, "[nested] requires 'path' field"),
    query: required(options.query, "[nested] requires 'query' field"),
    scoreMode: options.score_mode ?? "avg",
    ignoreUnmapped: options.ignore_unmapped ?? false,
    ...commonOf(options),
  };
}
