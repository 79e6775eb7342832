/** Queries on several fields: `multi_match`, `query_string` and `simple_query_string`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/full-text-queries.html */
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument, parsingError } from "../errors.ts";
import { defaultMatch, fuzziness, operator, wordsOptions, wordsReaders } from "./match.ts";
import { slopOf } from "./match-phrase.ts";
import {
  boost,
  common,
  commonOf,
  flag,
  float,
  integer,
  type OptionReader,
  type Options,
  oneOf,
  type Place,
  readOptions,
  text,
} from "./options.ts";
import { isObject, type Parser } from "./parser.ts";
import type {
  MultiMatchQuery,
  MultiMatchType,
  QueryStringQuery,
  SimpleQueryStringQuery,
  WeightedField,
} from "./query.ts";

/** `message^2` */
function weightedField(item: unknown, place: Place): WeightedField {
  const written = text(item, place);
  const caret = written.indexOf("^");
  if (caret < 0) return { pattern: written, boost: 1 };
  return { pattern: written.slice(0, caret), boost: boost(written.slice(caret + 1), place) };
}

/** `["message^2", "error.*"]`, or one as a string. Of a field that is named twice the last boost counts. */
const fields: OptionReader<WeightedField[]> = (value, place) => {
  const boosts = new Map<string, number>();
  for (const item of Array.isArray(value) ? value : [value]) {
    const { pattern, boost } = weightedField(item, place);
    boosts.set(pattern, boost);
  }
  return [...boosts].map(([pattern, boost]) => ({ pattern, boost }));
};

/**
 * A list alone. Of a field that is named twice the last boost counts, unless that name has none: as in the vendor, which looks
 * for the name with its boost among those before it.
 */
const stringFields: OptionReader<WeightedField[]> = (value, place) => {
  const { parser, clause, option, path } = place;
  if (!Array.isArray(value)) {
    if (isObject(value)) {
      throw parsingError(`[${clause}] unknown token [START_OBJECT] after [${option}]`, parser.at(path));
    }
    if (clause !== "simple_query_string") throw parser.unsupported(clause, option, path);
    throw parsingError(`[${clause}] unsupported field [${option}]`, parser.at(path));
  }
  const boosts = new Map<string, number>();
  for (const item of value) {
    const { pattern, boost } = weightedField(item, place);
    boosts.set(pattern, boost * (boosts.get(text(item, place)) ?? 1));
  }
  return [...boosts].map(([pattern, boost]) => ({ pattern, boost }));
};

const types: readonly MultiMatchType[] = [
  "best_fields",
  "most_fields",
  "cross_fields",
  "phrase",
  "phrase_prefix",
  "bool_prefix",
];
const type = oneOf(types, (written) =>
  parsingError(`failed to parse [multi_match] query type [${written}]. unknown type.`, undefined),
);

const multiMatchReaders = { fields, type, tie_breaker: float, slop: integer, ...wordsReaders };

export function readMultiMatch(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
): MultiMatchQuery {
  const options = readOptions(parser, json, path, "multi_match", multiMatchReaders);
  if (options.query === undefined) {
    throw parsingError("No text specified for multi_match query", parser.at(path));
  }
  const kind = options.type ?? "best_fields";
  if (
    options.fuzziness !== undefined &&
    (kind === "cross_fields" || kind === "phrase" || kind === "phrase_prefix")
  ) {
    throw parsingError(`Fuzziness not allowed for type [${kind}]`, parser.at(path));
  }
  if (options.slop !== undefined && kind === "bool_prefix") {
    throw parsingError("[slop] not allowed for type [bool_prefix]", parser.at(path));
  }
  return {
    kind: "multi_match",
    type: kind,
    fields: options.fields ?? [],
    text: options.query,
    tieBreaker: options.tie_breaker,
    options: { ...wordsOptions(options, "multi_match"), slop: slopOf(options.slop) },
    ...commonOf(options),
  };
}

/** What both languages of query strings have. */
const stringReaders = {
  query: text,
  fields: stringFields,
  default_operator: operator,
  analyzer: text,
  analyze_wildcard: flag,
  lenient: flag,
  minimum_should_match: text,
  quote_field_suffix: text,
  fuzzy_prefix_length: integer,
  fuzzy_max_expansions: integer,
  fuzzy_transpositions: flag,
  auto_generate_synonyms_phrase_query: flag,
  ...common,
};

function stringOptions(options: Options<typeof stringReaders>, clause: string, fuzziness: string) {
  return {
    options: {
      ...defaultMatch,
      clause,
      operator: options.default_operator ?? "or",
      minimumShouldMatch: options.minimum_should_match,
      analyzer: options.analyzer,
    },
    fuzzy: {
      fuzziness,
      prefixLength: options.fuzzy_prefix_length ?? 0,
      maxExpansions: options.fuzzy_max_expansions ?? 50,
      transpositions: options.fuzzy_transpositions ?? true,
      rewrite: undefined,
    },
    lenient: options.lenient,
    quoteFieldSuffix: options.quote_field_suffix,
    ...commonOf(options),
  };
}

const queryStringReaders = {
  default_field: text,
  type,
  tie_breaker: float,
  quote_analyzer: text,
  allow_leading_wildcard: flag,
  max_determinized_states: integer,
  enable_position_increments: flag,
  escape: flag,
  fuzzy_rewrite: text,
  fuzziness,
  phrase_slop: integer,
  rewrite: text,
  time_zone: text,
  ...stringReaders,
};

export function readQueryString(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
): QueryStringQuery {
  const options = readOptions(parser, json, path, "query_string", queryStringReaders);
  if (options.query === undefined) {
    throw parsingError("[query_string] must be provided with a [query]", parser.at(path));
  }
  if (options.default_field !== undefined && options.fields !== undefined) {
    throw illegalArgument("cannot use [fields] parameter in conjunction with [default_field]");
  }
  return {
    kind: "query_string",
    text: options.escape ? options.query.replace(/[\\+\-!():^[\]"{}~*?|&/]/g, "\\$&") : options.query,
    fields:
      options.fields ??
      (options.default_field === undefined ? [] : [{ pattern: options.default_field, boost: 1 }]),
    type: options.type ?? "best_fields",
    tieBreaker: options.tie_breaker,
    ...stringOptions(options, "query_string", options.fuzziness ?? "AUTO"),
    defaultField: options.default_field ?? (options.fields === undefined ? "*" : undefined),
    rewrite: options.rewrite,
    fuzzyRewrite: options.fuzzy_rewrite,
    allowLeadingWildcard: options.allow_leading_wildcard ?? true,
    phraseSlop: slopOf(options.phrase_slop),
    timeZone: options.time_zone,
  };
}

const simpleReaders = { flags: text, ...stringReaders };

const operators = [
  "AND",
  "NOT",
  "OR",
  "PREFIX",
  "PHRASE",
  "PRECEDENCE",
  "ESCAPE",
  "WHITESPACE",
  "FUZZY",
  "NEAR",
  "SLOP",
];

export function readSimpleQueryString(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
): SimpleQueryStringQuery {
  const options = readOptions(parser, json, path, "simple_query_string", simpleReaders);
  if (options.query === undefined) {
    throw parsingError("[simple_query_string] query text missing", parser.at(path));
  }
  return {
    kind: "simple_query_string",
    text: options.query,
    fields: options.fields ?? [],
    ...stringOptions(options, "simple_query_string", "AUTO"),
    flags: flagsOf(options.flags ?? "ALL"),
  };
}

function flagsOf(written: string): ReadonlySet<string> {
  const flags = written.toUpperCase().split("|").filter(Boolean);
  if (flags.length === 0 || flags.includes("ALL")) return new Set(operators);
  if (flags.includes("NONE")) return new Set();
  const unknown = flags.find((name) => !operators.includes(name));
  if (unknown) throw illegalArgument(`Unknown simple_query_string flag [${unknown}]`);
  return new Set(flags);
}
