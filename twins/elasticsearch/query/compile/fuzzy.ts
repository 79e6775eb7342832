/** Words that are nearly the one asked for. */

import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { wordsOf } from "@offhook/log-store/store/format";
import type { QueryContext } from "../compiled-query.ts";
import { conversionError, ShardError } from "../errors.ts";
import { fuzzyMark } from "../mark.ts";
import type { Fuzzy, FuzzyQuery } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { editDistance, likenessSql, sharesPiece } from "./edit-distance.ts";
import { inField, type Matcher, nothing, uniform } from "./matcher.ts";
import { prefixCondition } from "./patterns.ts";
import { anyOfWords, type Expandable, occurrencesOf, type Rewrite, rewriteOf } from "./rewrite.ts";
import { normalized, type Target, targetOf, typeName } from "./target.ts";
import { oneValue } from "./term.ts";

export function compileFuzzy(compiler: Compiler, query: FuzzyQuery, boost: number): Matcher {
  const target = targetOf(compiler.context, query.field, "whole");
  return fuzzyWord(compiler, target, String(query.value), query.fuzzy, boost);
}

/** How many changes are allowed in a word. */
export function changesOf({ fuzziness }: Fuzzy, word: string): number {
  if (!fuzziness.startsWith("AUTO")) return Number(fuzziness);
  const [low = 3, high = 6] = fuzziness.slice("AUTO:".length).split(",").filter(Boolean).map(Number);
  const length = [...word].length;
  if (length < low) return 0;
  return length < high ? 1 : 2;
}

/** Documents with words like this one, the more alike the better. A word counts as rare as the most frequent of them. */
export function fuzzyWord(
  compiler: Compiler,
  target: Target,
  given: string,
  fuzzy: Fuzzy,
  boost: number,
): Matcher {
  const word = target.kind === "keyword" ? normalized(target, given) : given;
  const changes = changesOf(fuzzy, word);
  if (target.kind !== "words" && target.kind !== "keyword") return otherField(compiler, target, word, boost);
  if (changes === 0) {
    const one = oneValue(compiler, target, word, boost);
    const weights = rewriteOf(fuzzy.rewrite)?.weights;
    return weights === "constant" || weights === "likeness"
      ? uniform(one.predicate, boost, `${target.name}:${word}`)
      : one;
  }
  compiler.count(1);
  if (fuzzy.maxExpansions < 1) return nothing;
  compiler.mark(target.name, fuzzyMark(word, changes, fuzzy));
  const described = `weight(${target.name}:${word}~${changes}), sum of the words like it`;
  const compile = ({ weights, most }: Rewrite) =>
    anyOfWords(
      target,
      alikeTerms(target, word, changes, { ...fuzzy, maxExpansions: most }),
      weights,
      boost,
      described,
    );
  const rewrite = rewriteOf(fuzzy.rewrite);
  if (changes > 1 && withBoosts.has(fuzzy.rewrite ?? "")) {
    const alike = alikeTerms(target, word, changes, { ...fuzzy, maxExpansions: rewrite?.most ?? 0 });
    refuseUnlike(compiler.context, alike, word);
  }
  if (rewrite) return compile(rewrite);
  const search = { target, boost, parts: [{ kind: "fuzzy" as const, word, changes, fuzzy }], minimum: 1 };
  return inField(search, () => compile({ weights: "blended", most: fuzzy.maxExpansions }));
}

/** Rewrites that give each word a clause with the boost that it has of being alike. */
const withBoosts: ReadonlySet<string> = new Set(["scoring_boolean", "constant_score_boolean"]);

/**
 * A word of one letter of which two are changed is alike by 1 - 2 / 1, which is no boost there.
 * @throws ShardError once it is known whether documents have one
 */
function refuseUnlike({ figures, fidelity }: QueryContext, alike: Sql, word: string): void {
  if (fidelity === "specification" || figures === undefined) return;
  const [unlike = 0] =
    figures(sql`WITH ${alike} SELECT count(*) FROM alike JOIN compared USING (term)
      WHERE changes > least(length(term), ${[...word].length})`) ?? [];
  if (unlike === 0) return;
  const reason = "boost must be a positive float, got -1.0";
  throw new ShardError({ type: "illegal_argument_exception", reason });
}

/** Values that are no texts are not like others: in `specification` they are looked for as they are. */
function otherField(
  compiler: Compiler,
  target: Exclude<Target, Expandable>,
  word: string,
  boost: number,
): Matcher {
  if (target.kind === "missing" || compiler.context.fidelity === "specification")
    return oneValue(compiler, target, word, boost);
  throw conversionError(
    `Can only use fuzzy queries on keyword and text fields - not on [${target.name}] which is of type [${typeName(target)}]`,
    "illegal_argument_exception",
  );
}

/** `alike` as `term, matching, likeness`: the words within the changes that documents have, the most alike first. */
function alikeTerms(target: Expandable, word: string, most: number, fuzzy: Fuzzy): Sql {
  const length = [...word].length;
  const start = [...word].slice(0, fuzzy.prefixLength).join("");
  const near = sql`${prefixCondition(start)(raw("term"))} AND length(term) BETWEEN ${Math.max(0, length - most)} AND ${length + most}
    AND ${sharesPiece(raw("term"), word, most, fuzzy)}`;
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
  // Each word is compared once, when nothing cheaper has left it out; only those that are near enough are counted.
  return sql`near AS MATERIALIZED (${known}),
    compared AS MATERIALIZED (SELECT * FROM (SELECT *, ${editDistance(raw("term"), word, fuzzy)} AS changes FROM near) WHERE changes <= ${most}),
    alike AS MATERIALIZED (SELECT term, matching,
      CAST(CASE WHEN changes = 0 THEN 1 ELSE ${likenessSql(length)} END AS FLOAT) AS likeness
      FROM ${counted} ORDER BY likeness DESC, term LIMIT ${raw(String(fuzzy.maxExpansions))})`;
}
