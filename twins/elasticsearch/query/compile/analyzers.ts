/**
 * The analyzers that a query or `_analyze` can name. Fields themselves are indexed with the standard one.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/analysis-analyzers.html
 */
import { analyze, type Token } from "@offhook/log-store/text/analysis";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { shardError } from "../errors.ts";
import type { MatchOptions } from "../syntax/query.ts";
import { porterStem } from "./porter-stem.ts";

export type Analyzer = (text: string) => Token[];

/** Lucene's `EnglishAnalyzer.ENGLISH_STOP_WORDS_SET`. */
const STOP_WORDS = new Set(
  (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this " +
    "to was will with"
  ).split(" "),
);

/** The remaining tokens keep their positions, so a stop word leaves a gap. */
const withoutStopWords = (tokens: Token[]) => tokens.filter(({ term }) => !STOP_WORDS.has(term));

const letters: Analyzer = (text) => cutBy(text, /\p{L}+/gu, (term) => term.toLowerCase());

const english: Analyzer = (text) => {
  const words = analyze(text).map((token) => ({
    ...token,
    term: token.term.replace(/['\u2019\uff07]s$/, ""),
  }));
  return withoutStopWords(words).map((token) => ({ ...token, term: porterStem(token.term) }));
};

/** One token of all distinct words, sorted. */
const fingerprint: Analyzer = (text) => {
  const terms = analyze(text).map(({ term }) => term.normalize("NFD").replace(/\p{Mn}/gu, ""));
  const term = [...new Set(terms)].sort().join(" ");
  return term === "" ? [] : [{ term, position: 1, start: 0, end: text.length }];
};

export const analyzers = lookupTable<Analyzer>({
  standard: analyze,
  default: analyze,
  english,
  fingerprint,
  keyword: (text) => [{ term: text, position: 1, start: 0, end: text.length }],
  pattern: (text) => cutBy(text, /\w+/g, (term) => term.toLowerCase()),
  simple: letters,
  stop: (text) => withoutStopWords(letters(text)),
  whitespace: (text) => cutBy(text, /\S+/gu, (term) => term),
});

function cutBy(text: string, pattern: RegExp, termOf: (found: string) => string): Token[] {
  return [...text.matchAll(pattern)].map((match, index) => ({
    term: termOf(match[0]),
    position: index + 1,
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** @throws VendorError for an unknown analyzer */
export function analyzeText(text: string, options: Pick<MatchOptions, "analyzer" | "clause">): Token[] {
  return analyzerOf(options)(text);
}

/** @throws VendorError for an unknown analyzer */
export function analyzerOf({
  analyzer = "standard",
  clause,
}: Pick<MatchOptions, "analyzer" | "clause">): Analyzer {
  const named = analyzers[analyzer];
  if (!named) throw shardError(`[${clause}] analyzer [${analyzer}] not found`);
  return named;
}
