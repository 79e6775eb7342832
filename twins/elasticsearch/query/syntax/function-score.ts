/** `function_score`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-function-score-query.html */
import { illegalArgument, type VendorError } from "../../vendor/error.ts";
import { inner } from "./compound.ts";
import { common, commonOf, eachMember, float, OptionTable, oneOf } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { FunctionScoreQuery, Query, WeightedFunction } from "./query.ts";
import { readScoreFunction } from "./score-function.ts";

const everything: Query = { kind: "match_all", boost: 1, name: undefined };

const scoreModes = ["multiply", "sum", "avg", "first", "max", "min"] as const;
const boostModes = ["multiply", "replace", "sum", "avg", "max", "min"] as const;
const enumOf = (name: string) => (written: string) =>
  illegalArgument(
    `No enum constant org.elasticsearch.common.lucene.search.function.${name}.${written.toUpperCase()}`,
  );
const readers = {
  query: inner,
  score_mode: oneOf(scoreModes, enumOf("FunctionScoreQuery.ScoreMode")),
  boost_mode: oneOf(boostModes, enumOf("CombineFunction")),
  max_boost: float,
  min_score: float,
  ...common,
};
const valueNames = Object.keys(readers).filter((name) => name !== "query");

/** Reads a list of functions, or the single function that may stand beside the query. */
export function readFunctionScore(parser: Parser): FunctionScoreQuery {
  const { content } = parser;
  const table = new OptionTable(parser, readers);
  let single: { name: string; function: WeightedFunction } | undefined;
  let list: WeightedFunction[] | undefined;
  const refuseSecond = () => {
    const { name } = content;
    if (single && name !== "functions") {
      throw parseFailure(
        parser,
        `already found function [${single.name}], now encountering [${name}]. use [functions] array if you want to define several functions.`,
      );
    }
    const found = single?.name ?? (list && "functions");
    if (found === undefined) return;
    const what = list ? `[${found}] array` : `[${found}]`;
    throw parseFailure(
      parser,
      `[you can either define [functions] array or a single function, not both. already found ${what}, now encountering [${name}].]`,
    );
  };
  eachMember(content, () => {
    const { name } = content;
    if (content.token === "START_OBJECT") {
      if (table.take(["query"])) return;
      refuseSecond();
      const read = readScoreFunction(parser);
      single = { name, function: { function: read, filter: everything, weight: undefined } };
    } else if (content.token === "START_ARRAY") {
      if (name !== "functions") throw parseFailure(parser, `array [${name}] is not supported`);
      if (single) refuseSecond();
      list = [...(list ?? []), ...readFunctions(parser)];
    } else if (content.isValue && !table.take(valueNames)) {
      refuseSecond();
      if (name !== "weight") throw parseFailure(parser, `field [${name}] is not supported`);
      const weight = positiveWeight(content.float());
      single = { name, function: { function: { kind: "weight" }, filter: everything, weight } };
    }
  });
  const { options } = table;
  return {
    kind: "function_score",
    query: options.query ?? everything,
    functions: list ?? (single ? [single.function] : []),
    scoreMode: options.score_mode ?? "multiply",
    boostMode: options.boost_mode ?? "multiply",
    maxBoost: options.max_boost,
    minScore: options.min_score,
    ...commonOf(options, "function_score"),
  };
}

function readFunctions(parser: Parser): WeightedFunction[] {
  const { content } = parser;
  const functions: WeightedFunction[] = [];
  while (content.next() !== "END_ARRAY") {
    if (content.token !== "START_OBJECT") {
      // The vendor's message really has the two names swapped.
      throw content.error(
        `failed to parse [START_OBJECT]. malformed query, expected a [${content.token}] while parsing functions but got a [function_score] instead`,
      );
    }
    functions.push(readFunction(parser));
  }
  return functions;
}

function readFunction(parser: Parser): WeightedFunction {
  const { content } = parser;
  const table = new OptionTable(parser, { filter: inner, weight: float });
  let found: { name: string; function: WeightedFunction["function"] } | undefined;
  eachMember(content, () => {
    const { name } = content;
    if (content.token === "START_OBJECT") {
      if (table.take(["filter"])) return;
      if (found) {
        throw content.error(
          `failed to parse function_score functions. already found [${found.name}], now encountering [${name}].`,
        );
      }
      found = { name, function: readScoreFunction(parser) };
    } else if (content.isValue && !table.take(["weight"])) {
      throw parseFailure(parser, `field [${name}] is not supported`);
    }
  });
  const { filter = everything, weight } = table.options;
  if (!found && weight === undefined) {
    throw parseFailure(parser, "an entry in functions list is missing a function.");
  }
  return {
    function: found?.function ?? { kind: "weight" },
    filter,
    weight: weight === undefined ? undefined : positiveWeight(weight),
  };
}

function positiveWeight(weight: number): number {
  if (!(weight < 0)) return weight;
  throw illegalArgument("[weight] cannot be negative for a filtering function");
}

function parseFailure({ content }: Parser, what: string): VendorError {
  return content.error(`failed to parse [function_score] query. ${what}`);
}
