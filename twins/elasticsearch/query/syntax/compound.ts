/** `constant_score`, `dis_max`, `boosting` and `nested`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/compound-queries.html */
import { illegalArgument } from "../../vendor/error.ts";
import {
  common,
  commonOf,
  eachMember,
  flag,
  float,
  type OptionReader,
  OptionTable,
  oneOf,
  required,
  text,
  unsupported,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { BoostingQuery, ConstantScoreQuery, DisMaxQuery, NestedQuery, Query } from "./query.ts";

/** A query inside a clause. */
export const inner: OptionReader<Query> = (_, parser) => parser.clause();

export function readConstantScore(parser: Parser): ConstantScoreQuery {
  const { content } = parser;
  const table = new OptionTable(parser, { filter: inner, ...common });
  eachMember(content, () => {
    if (content.token === "START_OBJECT") {
      if (!table.take(["filter"])) throw unsupported(content, "constant_score");
    } else if (!content.isValue) throw content.error(`unexpected token [${content.token}]`);
    else if (!table.take(["boost", "_name"])) throw unsupported(content, "constant_score");
  });
  const { filter } = table.options;
  if (!filter) throw content.error("[constant_score] requires a 'filter' element");
  return { kind: "constant_score", filter, ...commonOf(table.options, "constant_score") };
}

export function readDisMax(parser: Parser): DisMaxQuery {
  const { content } = parser;
  const table = new OptionTable(parser, { tie_breaker: float, ...common });
  const queries: Query[] = [];
  eachMember(content, () => {
    const nested = content.token === "START_OBJECT" || content.token === "START_ARRAY";
    if (!nested) {
      if (!table.take()) throw unsupported(content, "dis_max");
      return;
    }
    if (content.name !== "queries") throw unsupported(content, "dis_max");
    if (content.token === "START_OBJECT") queries.push(parser.clause());
    else {
      // Reads at least one query, so that an empty list is refused.
      do {
        queries.push(parser.clause());
      } while (content.next() !== "END_ARRAY");
    }
  });
  if (queries.length === 0) {
    throw content.error("[dis_max] requires 'queries' field with at least one clause");
  }
  const { options } = table;
  return {
    kind: "dis_max",
    queries,
    tieBreaker: options.tie_breaker ?? 0,
    ...commonOf(options, "dis_max"),
  };
}

export function readBoosting(parser: Parser): BoostingQuery {
  const { content } = parser;
  const table = new OptionTable(parser, {
    positive: inner,
    negative: inner,
    negative_boost: float,
    ...common,
  });
  eachMember(content, () => {
    const isObject = content.token === "START_OBJECT";
    if (!isObject && !content.isValue) return;
    const names = isObject ? ["positive", "negative"] : ["negative_boost", "boost", "_name"];
    if (!table.take(names)) throw unsupported(content, "boosting");
  });
  const { options } = table;
  const { positive, negative, negative_boost: negativeBoost } = options;
  if (!positive) throw content.error("[boosting] query requires 'positive' query to be set'");
  if (!negative) throw content.error("[boosting] query requires 'negative' query to be set'");
  if (negativeBoost === undefined || negativeBoost < 0) {
    throw content.error("[boosting] query requires 'negative_boost' to be set to be a positive value'");
  }
  return { kind: "boosting", positive, negative, negativeBoost, ...commonOf(options, "boosting") };
}

const scoreMode = oneOf(["avg", "max", "min", "sum", "none"], (written) =>
  illegalArgument(`No score mode for child query [${written}] found`),
);

export function readNested(parser: Parser): NestedQuery {
  const { content } = parser;
  const table = new OptionTable(parser, {
    path: text,
    query: inner,
    score_mode: scoreMode,
    ignore_unmapped: flag,
    ...common,
  });
  eachMember(content, () => {
    const isObject = content.token === "START_OBJECT";
    if (!isObject && !content.isValue) return;
    if (isObject && content.name === "inner_hits") {
      throw illegalArgument("[nested] inner_hits are not supported");
    }
    const names = isObject ? ["query"] : ["path", "score_mode", "ignore_unmapped", "boost", "_name"];
    if (!table.take(names)) throw unsupported(content, "nested");
  });
  const { options } = table;
  return {
    kind: "nested",
    path: required(options.path, "[nested] requires 'path' field"),
    query: required(options.query, "[nested] requires 'query' field"),
    scoreMode: options.score_mode ?? "avg",
    ignoreUnmapped: options.ignore_unmapped ?? false,
    ...commonOf(options, "nested"),
  };
}
