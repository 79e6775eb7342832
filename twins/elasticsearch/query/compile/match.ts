/** Text that is looked for in one field: cut into words as the field's own text was. */

import type { Token } from "@offhook/log-store/text/analysis";
import type { VendorError } from "../../vendor/error.ts";
import { conversionError } from "../errors.ts";
import { prefixMark, termMark } from "../mark.ts";
import type { MatchOptions, MatchQuery, Scalar } from "../syntax/query.ts";
import { analyzed, analyzerOf } from "./analyzers.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import { changesOf, fuzzyWord } from "./fuzzy.ts";
import { inField, type Matcher, nothing, TRUE, uniform } from "./matcher.ts";
import { requiredOptional } from "./minimum-should-match.ts";
import { prefix } from "./patterns.ts";
import { phrase, type Slot } from "./phrase.ts";
import { type Target, targetOf, typeName } from "./target.ts";
import { oneValue } from "./term.ts";
import { leniently, matchesNothing } from "./unfit.ts";
import { anyWords, expandedPrefix, type Words } from "./words.ts";

export function compileMatch(compiler: Compiler, query: MatchQuery, boost: number): Matcher {
  analyzerOf(query.options);
  const target = targetOf(compiler.context, query.field, "words");
  return matchField(compiler, target, query, boost) ?? noWords(query.options, boost);
}

export type FieldMatch = Pick<MatchQuery, "text" | "type" | "options">;

/** @returns undefined when the text has no word */
export function matchField(
  compiler: Compiler,
  target: Target,
  query: FieldMatch,
  boost: number,
): Matcher | undefined {
  if (target.kind === "missing") return nothing;
  if (target.kind !== "words") {
    const one = () => matchWhole(compiler, target, query, boost);
    return query.options.lenient ? leniently(one) : matchesNothing(compiler.context, one);
  }
  const tokens = analyzed(String(query.text), query.options);
  if (tokens.length === 0) return undefined;
  compiler.count(tokens.length);
  markMatch(compiler, target, tokens, query);
  return matchWords(compiler, target, tokens, query, boost);
}

/** Text without any word. */
export function noWords({ zeroTerms }: MatchOptions, boost: number): Matcher {
  return zeroTerms === "all" ? uniform(TRUE, boost, "*:*") : nothing;
}

/** A field that is not analysed is looked at as a whole, unless an analyzer is named: that cuts into words what is looked for. */
function matchWhole(
  compiler: Compiler,
  target: Whole,
  { type, text, options }: FieldMatch,
  boost: number,
): Matcher | undefined {
  if (type === "phrase_prefix") {
    if (compiler.context.fidelity === "vendor") {
      const isEmpty = options.analyzer !== undefined && analyzed(String(text), options).length === 0;
      if (isEmpty) return undefined;
      throw onlyOnTexts("phrase prefix", target);
    }
    return startOf(compiler, target, String(text), boost);
  }
  if (options.analyzer === undefined) {
    if (type === "bool_prefix" && target.kind === "keyword") {
      return startOf(compiler, target, String(text), boost);
    }
    return wholeValue(compiler, target, text, options, boost);
  }
  const tokens = analyzed(String(text), options).map(({ term }) => term);
  if (tokens.length === 0) return undefined;
  if (type === "phrase" && tokens.length > 1) throw onlyOnTexts("phrase", target);
  const words = tokens.map((term, place) =>
    type === "bool_prefix" && place === tokens.length - 1
      ? startOf(compiler, target, term, boost)
      : wholeValue(compiler, target, term, options, boost),
  );
  return combine({ must: [], should: words, filter: [], minimum: minimumOf(options, words.length) });
}

type Whole = Exclude<Target, { kind: "words" | "missing" }>;

function wholeValue(
  compiler: Compiler,
  target: Whole,
  text: Scalar,
  { fuzzy }: MatchOptions,
  boost: number,
): Matcher {
  if (fuzzy) return fuzzyWord(compiler, target, String(text), fuzzy, boost);
  compiler.count(1);
  return oneValue(compiler, target, text, boost);
}

function startOf(compiler: Compiler, target: Whole, start: string, boost: number): Matcher {
  return prefix(compiler, target, { prefix: start, caseInsensitive: false, rewrite: undefined }, boost);
}

function onlyOnTexts(what: string, target: Whole): VendorError {
  return conversionError(
    `Can only use ${what} queries on text fields - not on [${target.name}] which is of type [${typeName(target)}]`,
    "illegal_argument_exception",
  );
}

/** Clauses of a word that is not looked for exactly mark what they find themselves. */
function markMatch(
  compiler: Compiler,
  { name }: Words,
  tokens: readonly Token[],
  { type, options }: FieldMatch,
): void {
  const terms = tokens.map(({ term }) => term);
  const [last = ""] = terms.slice(-1);
  if (type === "boolean") compiler.note(name, terms);
  else if (type === "bool_prefix") compiler.note(name, terms.slice(0, -1));
  else if (tokens.length === 1) {
    compiler.mark(name, type === "phrase" ? termMark(last) : prefixMark(last, false));
  } else {
    const slots = tokens.map(({ term, position }, number) => {
      const isPrefix = type === "phrase_prefix" && number === tokens.length - 1;
      return {
        place: position,
        fits: isPrefix ? prefixMark(term, false).fits : (other: string) => other === term,
      };
    });
    compiler.mark(name, { kind: "phrase", key: terms.join(" "), slots, slop: options.slop });
  }
}

function matchWords(
  compiler: Compiler,
  target: Words,
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
      const words = before.reverse().map((term) => oneWord(compiler, target, term, options, boost));
      return ofWords(target, [...words, starts], options, boost);
    }
  }
}

function matchAny(
  compiler: Compiler,
  target: Words,
  terms: readonly string[],
  options: MatchOptions,
  boost: number,
): Matcher {
  const { fuzzy } = options;
  if (fuzzy && terms.some((term) => changesOf(fuzzy, term) > 0)) {
    const words = terms.map((term) => oneWord(compiler, target, term, options, boost));
    return ofWords(target, words, options, boost);
  }
  const words = terms.map((term) => ({ term, boost }));
  return anyWords(target, words, minimumOf(options, terms.length));
}

function oneWord(
  compiler: Compiler,
  target: Words,
  term: string,
  { fuzzy }: MatchOptions,
  boost: number,
): Matcher {
  return fuzzy ? fuzzyWord(compiler, target, term, fuzzy, boost) : anyWords(target, [{ term, boost }], 1);
}

function ofWords(target: Words, words: readonly Matcher[], options: MatchOptions, boost: number): Matcher {
  const minimum = minimumOf(options, words.length);
  const compile = () => combine({ must: [], should: words, filter: [], minimum });
  const searches = words.map((one) => one.inField);
  const known = searches.filter((search) => search !== undefined);
  // A clause that needs more than one of its own parts is none of a sum.
  if (known.length < searches.length || known.some(({ minimum: needed }) => needed > 1)) return compile();
  if (minimum > words.length) return nothing;
  return inField({ target, boost, parts: known.flatMap(({ parts }) => parts), minimum }, compile);
}

/** How many of the words must be there: more than there are when none can do. */
export function minimumOf({ operator, minimumShouldMatch: written }: MatchOptions, words: number): number {
  // One word is no boolean query.
  if (words === 1) return words;
  if (operator === "or") return requiredOptional(written, { optional: words, required: 0 });
  return requiredOptional(written, { optional: 0, required: words }) > 0 ? words + 1 : words;
}
