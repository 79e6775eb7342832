/** `function_score`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-function-score-query.html */

import { emptyRecord } from "../../../sandbox/lookup-table.ts";
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument, parsingError } from "../errors.ts";
import { inner } from "./compound.ts";
import {
  common,
  commonOf,
  double,
  float,
  type OptionReader,
  oneOf,
  type Place,
  readOptions,
  required,
  scalar,
  text,
} from "./options.ts";
import { isObject, type Parser } from "./parser.ts";
import type { FunctionScoreQuery, Query, ScoreFunction, WeightedFunction } from "./query.ts";

const everything: Query = { kind: "match_all", boost: 1, name: undefined };

const modifiers = ["none", "log", "log1p", "log2p", "ln", "ln1p", "ln2p", "square", "sqrt", "reciprocal"];

const fieldValue: OptionReader<ScoreFunction> = (value, { parser, path }) => {
  const readers = { field: text, factor: float, modifier: text, missing: double };
  const options = readOptions(parser, objectOf(value, parser, path), path, "field_value_factor", readers);
  const modifier = (options.modifier ?? "none").toLowerCase();
  if (!modifiers.includes(modifier)) {
    throw illegalArgument(
      `No enum constant org.elasticsearch.common.lucene.search.function.FieldValueFactorFunction.Modifier.${modifier.toUpperCase()}`,
    );
  }
  return {
    kind: "field_value",
    field: required(options.field, "[field_value_factor] required field 'field' missing"),
    factor: options.factor ?? 1,
    modifier,
    missing: options.missing,
  };
};

const random: OptionReader<ScoreFunction> = (value, { parser, path }) => {
  const options = readOptions(parser, objectOf(value, parser, path), path, "random_score", {
    seed: scalar,
    field: text,
  });
  const { seed } = options;
  return { kind: "random", seed: typeof seed === "number" ? seed : seed?.toString(), field: options.field };
};

const multiValueMode = oneOf(["min", "max", "avg", "sum"], (written) =>
  illegalArgument(`Illegal sort mode: ${written}`),
);

function decay(shape: "gauss" | "exp" | "linear"): OptionReader<ScoreFunction> {
  return (value, place) => {
    const { parser, path } = place;
    const { multi_value_mode: mode, ...rest } = objectOf(value, parser, path);
    const [field] = Object.keys(rest);
    if (field === undefined)
      throw parsingError(`malformed score function score parameters.`, parser.at(path));
    const options = readOptions(parser, objectOf(rest[field], parser, [...path, field]), path, shape, {
      origin: scalar,
      scale: scalar,
      offset: scalar,
      decay: double,
    });
    const share = options.decay ?? 0.5;
    if (!(share > 0 && share < 1)) {
      throw illegalArgument("DecayFunctionBuilder function score: decay must be in range (0..1).");
    }
    return {
      kind: "decay",
      shape,
      field,
      origin: options.origin,
      scale: required(options.scale, `[${shape}] required field 'scale' missing`),
      offset: options.offset,
      decay: share,
      multiValueMode: mode === undefined ? "min" : multiValueMode(mode, place),
    };
  };
}

const functionReaders = {
  weight: float,
  filter: inner,
  field_value_factor: fieldValue,
  random_score: random,
  gauss: decay("gauss"),
  exp: decay("exp"),
  linear: decay("linear"),
  script_score: (() => {
    throw illegalArgument("[script_score] scripts are not run: use field_value_factor or a decay function");
  }) satisfies OptionReader<ScoreFunction>,
};

function functionOf(json: Record<string, unknown>, { parser, path }: Pick<Place, "parser" | "path">) {
  const { weight, filter, ...kinds } = readOptions(parser, json, path, "function_score", functionReaders);
  const functions = Object.values(kinds).filter((found) => found !== undefined);
  if (functions.length > 1) {
    throw parsingError(
      "failed to parse [function_score] query. already found function, now encountering another.",
      parser.at(path),
    );
  }
  if (functions.length === 0 && weight === undefined) {
    throw parsingError("an entry in functions list is missing a function.", parser.at(path));
  }
  const weighted: WeightedFunction = {
    function: functions[0] ?? { kind: "weight" },
    filter: filter ?? everything,
    weight,
  };
  return weighted;
}

const functions: OptionReader<WeightedFunction[]> = (value, { parser, path }) =>
  (Array.isArray(value) ? value : [value]).map((item, index) =>
    functionOf(objectOf(item, parser, [...path, index]), { parser, path: [...path, index] }),
  );

const scoreModes = ["multiply", "sum", "avg", "first", "max", "min"] as const;
const boostModes = ["multiply", "replace", "sum", "avg", "max", "min"] as const;
const outerReaders = {
  query: inner,
  functions,
  score_mode: oneOf(scoreModes, (written) =>
    illegalArgument(`illegal score_mode for nested query [${written}]`),
  ),
  boost_mode: oneOf(boostModes, (written) => illegalArgument(`illegal boost_mode for [${written}]`)),
  max_boost: float,
  min_score: float,
  ...common,
};

export function readFunctionScore(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
): FunctionScoreQuery {
  const { outer, single } = separated(json);
  const options = readOptions(parser, outer, path, "function_score", outerReaders);
  const own = Object.keys(single).length > 0 ? [functionOf(single, { parser, path })] : [];
  if (own.length > 0 && options.functions !== undefined) {
    throw parsingError(
      "failed to parse [function_score] query. already found [functions] array, now encountering a function.",
      parser.at(path),
    );
  }
  return {
    kind: "function_score",
    query: options.query ?? everything,
    functions: options.functions ?? own,
    scoreMode: options.score_mode ?? "multiply",
    boostMode: options.boost_mode ?? "multiply",
    maxBoost: options.max_boost,
    minScore: options.min_score,
    ...commonOf(options),
  };
}

/** One function may stand beside the query itself. */
function separated(json: Record<string, unknown>) {
  const outer = emptyRecord<unknown>();
  const single = emptyRecord<unknown>();
  for (const [name, value] of Object.entries(json)) {
    const into = Object.hasOwn(functionReaders, name) ? single : outer;
    into[name] = value;
  }
  return { outer, single };
}

function objectOf(value: unknown, parser: Parser, path: JsonPath): Record<string, unknown> {
  if (isObject(value)) return value;
  throw parsingError("failed to parse [function_score] query: expected an object", parser.at(path));
}
