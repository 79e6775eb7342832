/** `match`: a text searched in one field, analysed as the field's own text. */

import type { Token } from "@offhook/log-store/text/analysis";
import type { VendorError } from "../../vendor/error.ts";
import { conversionError } from "../errors.ts";
import { prefixMark, termMark } from "../mark.ts";
import type { MatchOptions, MatchQuery, MultiMatchType, Scalar } from "../syntax/query.ts";
import { analyzerOf, analyzeText } from "./analyzers.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import type { Slot } from "./field-search.ts";
import { changesOf, fuzzyWord } from "./fuzzy.ts";
import { inField, type Matcher, nothing, TRUE, uniform } from "./matcher.ts";
import { requiredOptional } from "./minimum-should-match.ts";
import { prefix } from "./patterns.ts";
import { phrase } from "./phrase.ts";
import { type Target, targetOf, typeName, type WordsTarget } from "./target.ts";
import { matchValue } from "./term.ts";
import { ignoreUnfit, ignoreUnfitInSpecification } from "./unfit.ts";
import { anyWords, expandedPrefix } from "./words.ts";

export function compileMatch(compiler: Compiler, query: MatchQuery, boost: number): Matcher {
  analyzerOf(query.options);
  const target = targetOf(compiler.context, query.field, "words");
  return matchField(compiler, target, query, boost) ?? matchNoWords(query.options, boost);
}

export type FieldMatch = Pick<MatchQuery, "text" | "type" | "options">;

/** A text to match in several fields. */
export interface MultiField {
  readonly type: MultiMatchType;
  /** Boosts by field. */
  readonly fields: ReadonlyMap<string, number>;
  readonly text: Scalar;
  readonly tieBreaker: number | undefined;
  readonly options: MatchOptions;
  readonly boost: number;
}

/** @returns undefined when the text has no words */
export function matchField(
  compiler: Compiler,
  target: Target,
  query: FieldMatch,
  boost: number,
): Matcher | undefined {
  if (target.kind === "missing") return nothing;
  if (target.kind !== "words") {
    const one = () => matchWhole(compiler, target, query, boost);
    return query.options.lenient ? ignoreUnfit(one) : ignoreUnfitInSpecification(compiler.context, one);
  }
  const tokens = analyzeText(String(query.text), query.options);
  if (tokens.length === 0) return undefined;
  compiler.count(tokens.length);
  markMatch(compiler, target, tokens, query);
  return matchWords(compiler, target, tokens, query, boost);
}

/** A text without words: matches according to `zero_terms_query`. */
export function matchNoWords({ zeroTerms }: MatchOptions, boost: number): Matcher {
  return zeroTerms === "all" ? uniform(TRUE, boost, "*:*") : nothing;
}

/** Matches the whole value of a field that is not analysed. A named analyzer splits the text first; each word is then a value. */
function matchWhole(
  compiler: Compiler,
  target: WholeTarget,
  { type, text, options }: FieldMatch,
  boost: number,
): Matcher | undefined {
  if (type === "phrase_prefix") {
    if (compiler.context.fidelity === "vendor") {
      const isEmpty = options.analyzer !== undefined && analyzeText(String(text), options).length === 0;
      if (isEmpty) return undefined;
      throw textFieldsOnly("phrase prefix", target);
    }
    return matchStart(compiler, target, String(text), boost);
  }
  if (options.analyzer === undefined) {
    if (type === "bool_prefix" && target.kind === "keyword") {
      return matchStart(compiler, target, String(text), boost);
    }
    return wholeValue(compiler, target, text, options, boost);
  }
  const tokens = analyzeText(String(text), options).map(({ term }) => term);
  if (tokens.length === 0) return undefined;
  if (type === "phrase" && tokens.length > 1) throw textFieldsOnly("phrase", target);
  const words = tokens.map((term, place) =>
    type === "bool_prefix" && place === tokens.length - 1
      ? matchStart(compiler, target, term, boost)
      : wholeValue(compiler, target, term, options, boost),
  );
  return combine({ must: [], should: words, filter: [], minimum: minimumOf(options, words.length) });
}

type WholeTarget = Exclude<Target, { kind: "words" | "missing" }>;

function wholeValue(
  compiler: Compiler,
  target: WholeTarget,
  text: Scalar,
  { fuzzy }: MatchOptions,
  boost: number,
): Matcher {
  if (fuzzy) return fuzzyWord(compiler, target, String(text), fuzzy, boost);
  compiler.count(1);
  return matchValue(compiler, target, text, boost);
}

function matchStart(compiler: Compiler, target: WholeTarget, start: string, boost: number): Matcher {
  return prefix(compiler, target, { prefix: start, caseInsensitive: false, rewrite: undefined }, boost);
}

function textFieldsOnly(what: string, target: WholeTarget): VendorError {
  return conversionError(
    `Can only use ${what} queries on text fields - not on [${target.name}] which is of type [${typeName(target)}]`,
    "illegal_argument_exception",
  );
}

/** Marks what `match` itself compares; fuzzy words and prefixes mark themselves when they are compiled. */
function markMatch(
  compiler: Compiler,
  { name }: WordsTarget,
  tokens: readonly Token[],
  { type, options }: FieldMatch,
): void {
  const terms = tokens.map(({ term }) => term);
  const [last = ""] = terms.slice(-1);
  if (type === "boolean") compiler.markWords(name, terms);
  else if (type === "bool_prefix") compiler.markWords(name, terms.slice(0, -1));
  else if (tokens.length === 1) {
    compiler.mark(name, type === "phrase" ? termMark(last) : prefixMark(last));
  } else {
    const slots = tokens.map(({ term, position }, number) => {
      const isPrefix = type === "phrase_prefix" && number === tokens.length - 1;
      return {
        place: position,
        fits: isPrefix ? prefixMark(term).fits : (other: string) => other === term,
      };
    });
    compiler.mark(name, { kind: "phrase", key: terms.join(" "), slots, slop: options.slop });
  }
}

function matchWords(
  compiler: Compiler,
  target: WordsTarget,
  tokens: readonly Token[],
  { type, options }: FieldMatch,
  boost: number,
): Matcher {
  const terms = tokens.map(({ term }) => term);
  const slots = tokens.map(({ term, position }): Slot => ({ kind: "word", term, place: position }));
  switch (type) {
    case "boolean":
      return matchAny(compiler, target, terms, options, boost);
    case "phrase":
      return terms.length === 1
        ? anyWords(target, [{ term: terms[0] ?? "", boost }], 1)
        : phrase(target, slots, options.slop, boost);
    case "phrase_prefix": {
      const { term: prefix = "", position: place = 1 } = tokens.at(-1) ?? {};
      const slot: Slot = { kind: "prefix", prefix, maxExpansions: options.maxExpansions, place };
      return slots.length === 1
        ? expandedPrefix(target, prefix, options.maxExpansions, boost)
        : phrase(target, [...slots.slice(0, -1), slot], options.slop, boost);
    }
    case "bool_prefix": {
      const [last = "", ...before] = [...terms].reverse();
      const starts = prefix(
        compiler,
        target,
        { prefix: last, caseInsensitive: false, rewrite: undefined },
        boost,
      );
      const words = before.reverse().map((term) => matchWord(compiler, target, term, options, boost));
      return combineWords(target, [...words, starts], options, boost);
    }
  }
}

function matchAny(
  compiler: Compiler,
  target: WordsTarget,
  terms: readonly string[],
  options: MatchOptions,
  boost: number,
): Matcher {
  const { fuzzy } = options;
  if (fuzzy && terms.some((term) => changesOf(fuzzy, term) > 0)) {
    const words = terms.map((term) => matchWord(compiler, target, term, options, boost));
    return combineWords(target, words, options, boost);
  }
  const words = terms.map((term) => ({ term, boost }));
  return anyWords(target, words, minimumOf(options, terms.length));
}

function matchWord(
  compiler: Compiler,
  target: WordsTarget,
  term: string,
  { fuzzy }: MatchOptions,
  boost: number,
): Matcher {
  return fuzzy ? fuzzyWord(compiler, target, term, fuzzy, boost) : anyWords(target, [{ term, boost }], 1);
}

function combineWords(
  target: WordsTarget,
  words: readonly Matcher[],
  options: MatchOptions,
  boost: number,
): Matcher {
  const minimum = minimumOf(options, words.length);
  const compile = () => combine({ must: [], should: words, filter: [], minimum });
  const searches = words.map((one) => one.inField);
  const known = searches.filter((search) => search !== undefined);
  // A clause that needs several of its own parts cannot be merged into a sum.
  if (known.length < searches.length || known.some(({ minimum: needed }) => needed > 1)) return compile();
  if (minimum > words.length) return nothing;
  return inField({ target, boost, parts: known.flatMap(({ parts }) => parts), minimum }, compile);
}

/** How many of the words must match; more than there are when nothing can match. */
export function minimumOf({ operator, minimumShouldMatch: written }: MatchOptions, words: number): number {
  // One word is not a boolean query, so `minimum_should_match` does not apply.
  if (words === 1) return words;
  if (operator === "or") return requiredOptional(written, { optional: words, required: 0 });
  return requiredOptional(written, { optional: 0, required: words }) > 0 ? words + 1 : words;
}
