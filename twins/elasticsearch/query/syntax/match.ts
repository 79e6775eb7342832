/** `match`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-match-query.html */
import { illegalArgument } from "../../vendor/error.ts";
import { fuzziness } from "./fuzziness.ts";
import {
  common,
  commonOf,
  flag,
  integer,
  type OptionReader,
  type Options,
  oneOf,
  readField,
  readValues,
  scalar,
  text,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { Fuzzy, MatchOptions, MatchQuery, Operator, ZeroTerms } from "./query.ts";

export const operator: OptionReader<Operator> = oneOf(["or", "and"], (written) =>
  illegalArgument(`No enum constant org.elasticsearch.index.query.Operator.${written.toUpperCase()}`),
);

export const zeroTerms: OptionReader<ZeroTerms> = oneOf(["none", "all"], (written, content) =>
  content.error(`Unsupported zero_terms_query value [${written}]`),
);

/** The options of fuzzy words. */
export const fuzzyReaders = {
  fuzziness,
  prefix_length: integer,
  max_expansions: integer,
  fuzzy_transpositions: flag,
  fuzzy_rewrite: text,
};

/** The options that `match` and `multi_match` share. */
export const wordsReaders = {
  query: scalar,
  operator,
  minimum_should_match: text,
  zero_terms_query: zeroTerms,
  lenient: flag,
  analyzer: text,
  auto_generate_synonyms_phrase_query: flag,
  ...fuzzyReaders,
  ...common,
};

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

export function readMatch(parser: Parser): MatchQuery {
  const { content } = parser;
  const read = () => readValues(parser, "match", wordsReaders);
  const { field = "", options = noOptions, short } = readField(parser, "match", read, () => content.scalar());
  const searched = options.query ?? short;
  if (searched === undefined) throw content.error("No text specified for text query");
  return {
    kind: "match",
    type: "boolean",
    field,
    text: searched,
    options: wordsOptions(options, "match"),
    ...commonOf(options, "match"),
  };
}

type WordsOptions = Partial<Options<typeof wordsReaders>>;
const noOptions: WordsOptions = {};

/** @throws VendorError for invalid options of fuzzy words */
export function wordsOptions(options: WordsOptions, clause: string): MatchOptions {
  if (clause !== "multi_match") checkFuzzy(options, clause);
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

export function checkFuzzy(
  { prefix_length = 0, max_expansions = 1 }: Partial<Options<typeof fuzzyReaders>>,
  clause: string,
): void {
  if (prefix_length < 0) throw illegalArgument(`[${clause}] requires prefix length to be non-negative.`);
  if (max_expansions <= 0) throw illegalArgument(`[${clause}] requires maxExpansions to be positive.`);
}

/** @returns undefined without `fuzziness` */
export function fuzzyOf(options: Partial<Options<typeof fuzzyReaders>>): Fuzzy | undefined {
  if (options.fuzziness === undefined) return undefined;
  return {
    fuzziness: options.fuzziness,
    prefixLength: options.prefix_length ?? 0,
    maxExpansions: options.max_expansions ?? 50,
    transpositions: options.fuzzy_transpositions ?? true,
    rewrite: options.fuzzy_rewrite,
  };
}
