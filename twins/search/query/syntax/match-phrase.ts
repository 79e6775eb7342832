/** `match_phrase`, `match_phrase_prefix` and `match_bool_prefix`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/full-text-queries.html */
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument } from "../errors.ts";
import { defaultMatch, fuzzyOf, fuzzyReaders, operator, zeroTerms } from "./match.ts";
import {
  common,
  commonOf,
  integer,
  type Options,
  readFieldOptions,
  required,
  scalar,
  text,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { MatchOptions, MatchQuery } from "./query.ts";

const phraseReaders = {
  query: scalar,
  slop: integer,
  analyzer: text,
  zero_terms_query: zeroTerms,
  ...common,
};

export function readMatchPhrase(parser: Parser, json: Record<string, unknown>, path: JsonPath): MatchQuery {
  const { field, options } = readFieldOptions(parser, json, path, "match_phrase", "query", phraseReaders);
  return {
    kind: "match",
    type: "phrase",
    field,
    text: required(options.query, "[match_phrase] requires query value"),
    options: phraseOptions(options, "match_phrase"),
    ...commonOf(options),
  };
}

const phrasePrefixReaders = { ...phraseReaders, max_expansions: integer };

export function readMatchPhrasePrefix(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
): MatchQuery {
  const { field, options } = readFieldOptions(
    parser,
    json,
    path,
    "match_phrase_prefix",
    "query",
    phrasePrefixReaders,
  );
  return {
    kind: "match",
    type: "phrase_prefix",
    field,
    text: required(options.query, "[match_phrase_prefix] requires query value"),
    options: {
      ...phraseOptions(options, "match_phrase_prefix"),
      maxExpansions: expansionsOf(options.max_expansions),
    },
    ...commonOf(options),
  };
}

const boolPrefixReaders = {
  query: scalar,
  analyzer: text,
  operator,
  minimum_should_match: text,
  ...fuzzyReaders,
  ...common,
};

export function readMatchBoolPrefix(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
): MatchQuery {
  const { field, options } = readFieldOptions(
    parser,
    json,
    path,
    "match_bool_prefix",
    "query",
    boolPrefixReaders,
  );
  return {
    kind: "match",
    type: "bool_prefix",
    field,
    text: required(options.query, "[match_bool_prefix] requires query value"),
    options: {
      ...defaultMatch,
      clause: "match_bool_prefix",
      operator: options.operator ?? "or",
      minimumShouldMatch: options.minimum_should_match,
      fuzzy: fuzzyOf(options),
      analyzer: options.analyzer,
      maxExpansions: expansionsOf(options.max_expansions),
    },
    ...commonOf(options),
  };
}

function phraseOptions(options: Options<typeof phraseReaders>, clause: string): MatchOptions {
  return {
    ...defaultMatch,
    clause,
    slop: slopOf(options.slop),
    analyzer: options.analyzer,
    zeroTerms: options.zero_terms_query ?? "none",
  };
}

export function slopOf(slop: number | undefined): number {
  if (slop !== undefined && slop < 0) throw illegalArgument("No negative slop allowed.");
  return slop ?? 0;
}

function expansionsOf(expansions: number | undefined): number {
  if (expansions !== undefined && expansions < 0) throw illegalArgument("No negative maxExpansions allowed.");
  return expansions ?? 50;
}
