/** Conditions that match terms and phrases in the text of an event. */

import { joined, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import { piecesOf, segmentsSql } from "@offhook/log-store/text/segments";
import { mapList } from "../relation/typed.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { escapeRegex, termPattern } from "./term-pattern.ts";

type Term = Pick<Extract<SearchExpression, { node: "term" }>, "value" | "mode">;

/**
 * The condition that a text has the term; never NULL. Matching a term's ends takes several times as long as finding its characters, so
 * texts without these are rejected first, then texts with the term after a quote or blank are accepted.
 */
export function termMatches({ value, mode }: Term, text: Sql): Sql {
  const term = termPattern(value.text, mode);
  if (term === undefined) return raw("true");
  const { literals, tail, longTail, start } = term;
  const isCase = mode === "case";
  const matches = (pattern: string) =>
    sql`regexp_matches(${text}, ${pattern}, ${raw(isCase ? "'s'" : "'si'")})`;
  const isFast = isCase || startsFast(literals[0] ?? "");
  const lowerTail = isFast ? tail : termPattern(value.text.toLowerCase(), mode)?.tail;
  const usually = (before: string) =>
    isFast ? matches(before + tail) : sql`regexp_matches(lower(${text}), ${before + lowerTail}, 's')`;
  const [longest = ""] = [...literals].sort((a, b) => b.length - a.length);
  const containsIt = isCase
    ? sql`contains(${text}, ${longest})`
    : sql`contains(lower(${text}), lower(${longest}))`;
  const contains = !isCase && isFast ? matches(longTail) : containsIt;
  if (start === undefined) {
    const isExact = (!isCase && isFast) || longTail === escapeRegex(longest);
    return isExact
      ? orFalse(contains)
      : sql`CASE WHEN ${orFalse(contains)} THEN ${matches(longTail)} ELSE false END`;
  }
  const usual = ['"', " "].map((before) => sql` WHEN ${usually(before)} THEN true`);
  const hasLong = sql`(contains(${text}, '%') OR contains(${text}, '--'))`;
  const exactly = sql`${matches(start.any + tail)} OR (${hasLong} AND ${matches(start.long + longTail)})`;
  return sql`CASE WHEN NOT ${orFalse(contains)} THEN false${joined(usual, "")} ELSE ${exactly} END`;
}

/** The word that a term consists of; `undefined` when it has breakers or wildcards, or respects case. */
export function wordOf(expression: SearchExpression): string | undefined {
  if (expression.node !== "term" || expression.mode === "case") return undefined;
  const { text } = expression.value;
  return text === "" || text.includes("*") || piecesOf(text).length > 1 ? undefined : text;
}

/** The condition that a text has one of these words; never NULL. */
export function hasAnyWord(words: readonly string[], text: Sql): Sql {
  const wanted = mapList(
    sql`from_json(${jsonParameter(words)}, '["VARCHAR"]')`,
    (word) => sql`lower(${word})`,
  );
  return orFalse(sql`list_has_any(${segmentsSql(text)}, ${wanted})`);
}

/** Turns NULL into false. */
function orFalse(condition: Sql): Sql {
  return sql`coalesce(${condition}, false)`;
}

/**
 * Whether RE2 finds the text fast when ignoring case: it does not if one of the first two letters has a third case variant, as `s`
 * (long s) and `k` (Kelvin sign) do.
 */
function startsFast(text: string): boolean {
  return /^[!-~][ -~]/.test(text) && !/[sk]/i.test(text.slice(0, 2));
}
