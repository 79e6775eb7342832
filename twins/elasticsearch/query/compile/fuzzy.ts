/** Fuzzy matching: terms within an edit distance of a word. */

import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { wordsOf } from "@offhook/log-store/store/format";
import type { QueryContext } from "../compiled-query.ts";
import { conversionError, ShardError } from "../errors.ts";
import { fuzzyMark } from "../mark.ts";
import type { Fuzzy, FuzzyQuery } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { editDistance, sharesPiece, similaritySql } from "./edit-distance.ts";
import { inField, type Matcher, nothing, uniform } from "./matcher.ts";
import { prefixCondition } from "./pattern-conditions.ts";
import { anyOfWords, type Expandable, occurrencesOf, type Rewrite, rewriteOf } from "./rewrite.ts";
import { normalize, type Target, targetOf, typeName } from "./target.ts";
import { matchValue } from "./term.ts";

export function compileFuzzy(compiler: Compiler, query: FuzzyQuery, boost: number): Matcher {
  const target = targetOf(compiler.context, query.field, "whole");
  return fuzzyWord(compiler, target, String(query.value), query.fuzzy, boost);
}

/** The edit distance allowed for a word. */
export function changesOf({ fuzziness }: Fuzzy, word: string): number {
  if (!fuzziness.startsWith("AUTO")) return Number(fuzziness);
  const [low = 3, high = 6] = fuzziness.slice("AUTO:".length).split(",").filter(Boolean).map(Number);
  const length = [...word].length;
  if (length < low) return 0;
  return length < high ? 1 : 2;
}

/** Matches documents with similar terms; closer terms score higher. All share the idf of the most frequent of them. */
export function fuzzyWord(
  compiler: Compiler,
  target: Target,
  given: string,
  fuzzy: Fuzzy,
  boost: number,
): Matcher {
  const word = target.kind === "keyword" ? normalize(target, given) : given;
  const changes = changesOf(fuzzy, word);
  if (target.kind !== "words" && target.kind !== "keyword")
    return matchOtherType(compiler, target, word, boost);
  if (changes === 0) {
    const one = matchValue(compiler, target, word, boost);
    const weights = rewriteOf(fuzzy.rewrite)?.weights;
    return weights === "constant" || weights === "similarity"
      ? uniform(one.predicate, boost, `${target.name}:${word}`)
      : one;
  }
  compiler.count(1);
  if (fuzzy.maxExpansions < 1) return nothing;
  compiler.mark(target.name, fuzzyMark(word, changes, fuzzy));
  const described = `weight(${target.name}:${word}~${changes}), sum of the words like it`;
  const compile = ({ weights, maxTerms }: Rewrite) =>
    anyOfWords(
      target,
      expandTerms(target, word, changes, { ...fuzzy, maxExpansions: maxTerms }),
      weights,
      boost,
      described,
    );
  const rewrite = rewriteOf(fuzzy.rewrite);
  if (changes > 1 && withBoosts.has(fuzzy.rewrite ?? "")) {
    const expanded = expandTerms(target, word, changes, { ...fuzzy, maxExpansions: rewrite?.maxTerms ?? 0 });
    refuseNegativeSimilarity(compiler.context, expanded, word);
  }
  if (rewrite) return compile(rewrite);
  const search = { target, boost, parts: [{ kind: "fuzzy" as const, word, changes, fuzzy }], minimum: 1 };
  return inField(search, () => compile({ weights: "blended", maxTerms: fuzzy.maxExpansions }));
}

/** Rewrites that give each term a clause boosted by its similarity. */
const withBoosts: ReadonlySet<string> = new Set(["scoring_boolean", "constant_score_boolean"]);

/**
 * Refuses terms whose similarity is negative: two edits of a one-letter word give 1 - 2 / 1, which is no valid boost.
 * @throws ShardError once the term statistics show that documents have one
 */
function refuseNegativeSimilarity(
  { termStatistics, fidelity }: QueryContext,
  expanded: Sql,
  word: string,
): void {
  if (fidelity === "specification" || termStatistics === undefined) return;
  const [unlike = 0] =
    termStatistics(sql`WITH ${expanded} SELECT count(*) FROM expanded JOIN compared USING (term)
      WHERE changes > least(length(term), ${[...word].length})`) ?? [];
  if (unlike === 0) return;
  const reason = "boost must be a positive float, got -1.0";
  throw new ShardError({ type: "illegal_argument_exception", reason });
}

/** Fuzzy queries need texts: other fields are an error for the vendor, and are matched exactly in `specification`. */
function matchOtherType(
  compiler: Compiler,
  target: Exclude<Target, Expandable>,
  word: string,
  boost: number,
): Matcher {
  if (target.kind === "missing" || compiler.context.fidelity === "specification")
    return matchValue(compiler, target, word, boost);
  throw conversionError(
    `Can only use fuzzy queries on keyword and text fields - not on [${target.name}] which is of type [${typeName(target)}]`,
    "illegal_argument_exception",
  );
}

/** CTE `expanded`: `term, matching, similarity` of the indexed terms within the edit distance, the most similar first. */
function expandTerms(target: Expandable, word: string, changes: number, fuzzy: Fuzzy): Sql {
  const length = [...word].length;
  const start = [...word].slice(0, fuzzy.prefixLength).join("");
  const near = sql`${prefixCondition(start)(raw("term"))} AND length(term) BETWEEN ${Math.max(0, length - changes)} AND ${length + changes}
    AND ${sharesPiece(raw("term"), word, changes, fuzzy)}`;
  const occurrences = sql`(${occurrencesOf(target)}) AS o`;
  const known =
    target.kind === "keyword"
      ? sql`SELECT term, count(*) AS matching FROM ${occurrences} WHERE ${near} GROUP BY term`
      : sql`SELECT DISTINCT term FROM ${identifier(wordsOf(target.postings))} WHERE ${near}`;
  const counted =
    target.kind === "keyword"
      ? raw("compared")
      : sql`(SELECT term, count(*) AS matching FROM ${occurrences}
          WHERE term IN (SELECT unnest(list(term)) FROM compared) GROUP BY term) JOIN compared USING (term)`;
  // The cheap prefilter runs first, then one comparison for each distinct term; only terms that remain are counted.
  return sql`near AS MATERIALIZED (${known}),
    compared AS MATERIALIZED (SELECT * FROM (SELECT *, ${editDistance(raw("term"), word, fuzzy)} AS changes FROM near) WHERE changes <= ${changes}),
    expanded AS MATERIALIZED (SELECT term, matching,
      CAST(CASE WHEN changes = 0 THEN 1 ELSE ${similaritySql(length)} END AS FLOAT) AS similarity
      FROM ${counted} ORDER BY similarity DESC, term LIMIT ${raw(String(fuzzy.maxExpansions))})`;
}
