/** `match_phrase`, `match_phrase_prefix` and `match_bool_prefix`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/full-text-queries.html */
import { illegalArgument } from "../../vendor/error.ts";
import { checkFuzzy, defaultMatch, fuzzyOf, fuzzyReaders, operator, zeroTerms } from "./match.ts";
import {
  common,
  commonOf,
  integer,
  type Options,
  readField,
  readValues,
  required,
  requiredField,
  scalar,
  text,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { MatchOptions, MatchQuery, Scalar } from "./query.ts";

const phraseReaders = {
  query: scalar,
  slop: integer,
  analyzer: text,
  zero_terms_query: zeroTerms,
  ...common,
};

export function readMatchPhrase(parser: Parser): MatchQuery {
  const { options, ...search } = readSearch(parser, "match_phrase", () =>
    readValues(parser, "match_phrase", phraseReaders),
  );
  return {
    kind: "match",
    type: "phrase",
    ...search,
    options: phraseOptions(options, "match_phrase"),
    ...commonOf(options, "match_phrase"),
  };
}

const phrasePrefixReaders = { ...phraseReaders, max_expansions: integer };

export function readMatchPhrasePrefix(parser: Parser): MatchQuery {
  const { options, ...search } = readSearch(parser, "match_phrase_prefix", () =>
    readValues(parser, "match_phrase_prefix", phrasePrefixReaders),
  );
  const { max_expansions: expansions = 50 } = options;
  if (expansions < 0) throw illegalArgument("No negative maxExpansions allowed.");
  return {
    kind: "match",
    type: "phrase_prefix",
    ...search,
    options: { ...phraseOptions(options, "match_phrase_prefix"), maxExpansions: expansions },
    ...commonOf(options, "match_phrase_prefix"),
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

export function readMatchBoolPrefix(parser: Parser): MatchQuery {
  const { options, ...search } = readSearch(parser, "match_bool_prefix", () =>
    readValues(parser, "match_bool_prefix", boolPrefixReaders),
  );
  checkFuzzy(options, "match_bool_prefix");
  return {
    kind: "match",
    type: "bool_prefix",
    ...search,
    options: {
      ...defaultMatch,
      clause: "match_bool_prefix",
      operator: options.operator ?? "or",
      minimumShouldMatch: options.minimum_should_match,
      fuzzy: fuzzyOf(options),
      analyzer: options.analyzer,
      maxExpansions: options.max_expansions ?? 50,
    },
    ...commonOf(options, "match_bool_prefix"),
  };
}

/** Reads the field, the text to search and the options. */
function readSearch<O extends { query: Scalar | undefined }>(parser: Parser, clause: string, read: () => O) {
  const { content } = parser;
  const { field, options, short } = readField(parser, clause, read, () => content.scalar());
  return {
    field: requiredField(field, `[${clause}] requires fieldName`),
    text: required(options?.query ?? short, `[${clause}] requires query value`),
    options: options ?? ({} as Partial<O>),
  };
}

function phraseOptions(options: Partial<Options<typeof phraseReaders>>, clause: string): MatchOptions {
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
