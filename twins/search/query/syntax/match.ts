/** `match`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-match-query.html */
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument, parsingError } from "../errors.ts";
import {
  common,
  commonOf,
  flag,
  ignored,
  integer,
  type OptionReader,
  type Options,
  oneOf,
  readFieldOptions,
  required,
  scalar,
  text,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { Fuzzy, MatchOptions, MatchQuery, Operator, ZeroTerms } from "./query.ts";

export const operator: OptionReader<Operator> = oneOf(["or", "and"], (written) =>
  illegalArgument(`No enum constant org.elasticsearch.index.query.Operator.${written.toUpperCase()}`),
);

export const zeroTerms: OptionReader<ZeroTerms> = oneOf(["none", "all"], (written) =>
  parsingError(`Unsupported zero_terms_query value [${written}]`, undefined),
);

/** `0`, `1`, `2`, `AUTO`, `AUTO:3,6` */
export const fuzziness: OptionReader<string> = (value, place) => {
  const written = text(value, place);
  if (/^[012](\.0)?$/.test(written)) return written.slice(0, 1);
  const auto = /^auto(?::(\d+),(\d+))?$/i.exec(written);
  if (auto && Number(auto[1] ?? 3) <= Number(auto[2] ?? 6)) return written.toUpperCase();
  throw illegalArgument(`Invalid fuzziness value: ${written}`);
};

/** The options of words that may be misspelt. */
export const fuzzyReaders = {
  fuzziness,
  prefix_length: integer,
  max_expansions: integer,
  fuzzy_transpositions: flag,
  fuzzy_rewrite: text,
};

/** What `match` has on one field, and `multi_match` on several. */
export const wordsReaders = {
  query: scalar,
  operator,
  minimum_should_match: text,
  zero_terms_query: zeroTerms,
  lenient: flag,
  analyzer: text,
  auto_generate_synonyms_phrase_query: flag,
  cutoff_frequency: ignored,
  ...fuzzyReaders,
  ...common,
};

const readers = { type: text, ...wordsReaders };

export const defaultMatch: MatchOptions = {
  clause: "match",
  operator: "or",
  minimumShouldMatch: undefined,
  fuzzy: undefined,
  zeroTerms: "none",
  lenient: false,
  analyzer: undefined,
  slop: 0,
  maxExpansions: 50,
};

export function readMatch(parser: Parser, json: Record<string, unknown>, path: JsonPath): MatchQuery {
  const { field, path: at, options } = readFieldOptions(parser, json, path, "match", "query", readers);
  if (options.type !== undefined) throw parser.unsupported("match", "type", [...at, "type"]);
  return {
    kind: "match",
    type: "boolean",
    field,
    text: required(options.query, "No text specified for text query"),
    options: wordsOptions(options, "match"),
    ...commonOf(options),
  };
}

export function wordsOptions(options: Options<typeof wordsReaders>, clause: string): MatchOptions {
  return {
    ...defaultMatch,
    clause,
    operator: options.operator ?? "or",
    minimumShouldMatch: options.minimum_should_match,
    fuzzy: fuzzyOf(options),
    zeroTerms: options.zero_terms_query ?? "none",
    lenient: options.lenient ?? false,
    analyzer: options.analyzer,
    maxExpansions: options.max_expansions ?? 50,
  };
}

/** @returns undefined when words are not to be changed */
export function fuzzyOf(options: Options<typeof fuzzyReaders>): Fuzzy | undefined {
  if (options.fuzziness === undefined) return undefined;
  return {
    fuzziness: options.fuzziness,
    prefixLength: options.prefix_length ?? 0,
    maxExpansions: options.max_expansions ?? 50,
    transpositions: options.fuzzy_transpositions ?? true,
    rewrite: options.fuzzy_rewrite,
  };
}
