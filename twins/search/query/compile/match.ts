/** Text that is looked for in one field: cut into words as the field's own text was. */
import type { MatchOptions, MatchQuery } from "../syntax/query.ts";
import { analyzed } from "./analyzers.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import { changesOf, fuzzyWord } from "./fuzzy.ts";
import { type Matcher, nothing, TRUE, uniform } from "./matcher.ts";
import { minimumShouldMatch } from "./minimum-should-match.ts";
import { prefix } from "./patterns.ts";
import { phrase, type Slot } from "./phrase.ts";
import { type Target, targetOf } from "./target.ts";
import { oneValue } from "./term.ts";
import { leniently, matchesNothing } from "./unfit.ts";
import { anyWords, expandedPrefix, type Words } from "./words.ts";

export function compileMatch(compiler: Compiler, query: MatchQuery, boost: number): Matcher {
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
  const terms = analyzed(String(query.text), query.options.analyzer, "match");
  if (terms.length === 0) return undefined;
  compiler.count(terms.length);
  compiler.note(target.name, terms);
  return matchWords(compiler, target, terms, query, boost);
}

/** Text without any word. */
export function noWords({ zeroTerms }: MatchOptions, boost: number): Matcher {
  return zeroTerms === "all" ? uniform(TRUE, boost, "*:*") : nothing;
}

/** A field that is not analysed is looked at as a whole. */
function matchWhole(
  compiler: Compiler,
  target: Target,
  { type, text, options }: FieldMatch,
  boost: number,
): Matcher {
  if (type === "phrase_prefix" || type === "bool_prefix") {
    if (target.kind === "keyword")
      return prefix(compiler, target, { prefix: String(text), caseInsensitive: false }, boost);
  }
  if (type === "boolean" && options.fuzzy && target.kind === "keyword") {
    return fuzzyWord(compiler, target, String(text), options.fuzzy, boost);
  }
  compiler.count(1);
  return oneValue(compiler, target, text, boost);
}

function matchWords(
  compiler: Compiler,
  target: Words,
  terms: readonly string[],
  { type, options }: FieldMatch,
  boost: number,
): Matcher {
  switch (type) {
    case "boolean":
      return matchAny(compiler, target, terms, options, boost);
    case "phrase":
      return terms.length === 1
        ? anyWords(target, [{ term: terms[0] ?? "", boost }], 1)
        : phrase(target, terms.map(word), options.slop, boost);
    case "phrase_prefix": {
      const [last = "", ...before] = [...terms].reverse();
      const slot: Slot = { kind: "prefix", prefix: last, maxExpansions: options.maxExpansions };
      return before.length === 0
        ? expandedPrefix(target, last, options.maxExpansions, boost)
        : phrase(target, [...before.reverse().map(word), slot], options.slop, boost);
    }
    case "bool_prefix": {
      const [last = "", ...before] = [...terms].reverse();
      const starts = prefix(compiler, target, { prefix: last, caseInsensitive: false }, boost);
      const words = before.reverse().map((term) => oneWord(compiler, target, term, options, boost));
      return ofWords([...words, starts], options);
    }
  }
}

function word(term: string): Slot {
  return { kind: "word", term };
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
    return ofWords(
      terms.map((term) => oneWord(compiler, target, term, options, boost)),
      options,
    );
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

function ofWords(words: readonly Matcher[], options: MatchOptions): Matcher {
  return combine({ must: [], should: words, filter: [], minimum: minimumOf(options, words.length) });
}

/** How many of the words must be there. */
export function minimumOf({ operator, minimumShouldMatch: written }: MatchOptions, words: number): number {
  if (operator === "and" || words === 1) return words;
  return written === undefined ? 1 : Math.max(1, minimumShouldMatch(written, words));
}
