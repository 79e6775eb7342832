/** Text that is looked for: cut into words as the field's own text was. */
import { analyze } from "../../../datasets/analysis.ts";
import type { MatchOptions, MatchQuery } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { type Matcher, nothing, TRUE, uniform } from "./matcher.ts";
import { minimumShouldMatch } from "./minimum-should-match.ts";
import { type Target, targetOf } from "./target.ts";
import { oneValue } from "./term.ts";
import { leniently } from "./unfit.ts";
import { anyWords } from "./words.ts";

export function compileMatch(compiler: Compiler, query: MatchQuery, boost: number): Matcher {
  const target = targetOf(compiler.context, query.field, "words");
  return matchField(compiler, target, query, boost);
}

type FieldMatch = Pick<MatchQuery, "text" | "type" | "options">;

/** Text looked for in one field, whatever it holds. */
export function matchField(compiler: Compiler, target: Target, query: FieldMatch, boost: number): Matcher {
  if (target.kind === "missing") return nothing;
  if (target.kind !== "words") {
    compiler.count(1);
    const one = () => oneValue(compiler, target, query.text, boost);
    return query.options.lenient ? leniently(one) : one();
  }
  const terms = analyze(String(query.text)).map(({ term }) => term);
  compiler.count(Math.max(1, terms.length));
  compiler.note(target.name, terms);
  if (terms.length === 0) return noTerms(query.options, boost);
  return anyWords(
    target,
    terms.map((term) => ({ term, boost })),
    minimumOf(query.options, terms.length),
  );
}

/** Text without any word. */
export function noTerms({ zeroTerms }: MatchOptions, boost: number): Matcher {
  return zeroTerms === "all" ? uniform(TRUE, boost, "*:*") : nothing;
}

/** How many of the words must be there. */
export function minimumOf({ operator, minimumShouldMatch: written }: MatchOptions, words: number): number {
  if (operator === "and" || words === 1) return words;
  return written === undefined ? 1 : Math.max(1, minimumShouldMatch(written, words));
}
