/** Terms and phrases: what is looked for in the text of an event. */

import { joined, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import { piecesOf, segmentsSql } from "@offhook/log-store/text/segments";
import { mapList } from "../relation/typed.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { quoted, termPattern } from "./term-pattern.ts";

type Term = Pick<Extract<SearchExpression, { node: "term" }>, "value" | "mode">;

/**
 * Whether a text has the term; never NULL. To look for the ends of a term takes several times as long as to look
 * for its characters; so texts without these are sorted out first, and then those where it stands behind quotes or a blank.
 */
export function termMatches({ value, mode }: Term, text: Sql): Sql {
  const term = termPattern(value.text, mode === "term");
  if (term === undefined) return raw("true");
  const { literals, tail, longTail, start } = term;
  const isCase = mode === "case";
  const matches = (pattern: string) =>
    sql`regexp_matches(${text}, ${pattern}, ${raw(isCase ? "'s'" : "'si'")})`;
  const isFast = isCase || beginsFast(literals[0] ?? "");
  const lowerTail = isFast ? tail : termPattern(value.text.toLowerCase(), mode === "term")?.tail;
  const usually = (before: string) =>
    isFast ? matches(before + tail) : sql`regexp_matches(lower(${text}), ${before + lowerTail}, 's')`;
  const [longest = ""] = [...literals].sort((a, b) => b.length - a.length);
  const containsIt = isCase
    ? sql`contains(${text}, ${longest})`
    : sql`contains(lower(${text}), lower(${longest}))`;
  const has = !isCase && isFast ? matches(longTail) : containsIt;
  if (start === undefined) {
    const isExact = (!isCase && isFast) || longTail === quoted(longest);
    return isExact ? never(has) : sql`CASE WHEN ${never(has)} THEN ${matches(longTail)} ELSE false END`;
  }
  const usual = ['"', " "].map((before) => sql` WHEN ${usually(before)} THEN true`);
  const hasLong = sql`(contains(${text}, '%') OR contains(${text}, '--'))`;
  const exactly = sql`${matches(start.any + tail)} OR (${hasLong} AND ${matches(start.long + longTail)})`;
  return sql`CASE WHEN NOT ${never(has)} THEN false${joined(usual, "")} ELSE ${exactly} END`;
}

/** The word that a term is, if it has no breakers, goes on nowhere, and its case does not count. */
export function wordOf(expression: SearchExpression): string | undefined {
  if (expression.node !== "term" || expression.mode === "case") return undefined;
  const { text } = expression.value;
  return text === "" || text.includes("*") || piecesOf(text).length > 1 ? undefined : text;
}

/** Whether a text has one of these words; never NULL. */
export function hasAnyWord(words: readonly string[], text: Sql): Sql {
  const wanted = mapList(
    sql`from_json(${jsonParameter(words)}, '["VARCHAR"]')`,
    (word) => sql`lower(${word})`,
  );
  return never(sql`list_has_any(${segmentsSql(text)}, ${wanted})`);
}

/** Not NULL, but false. */
function never(condition: Sql): Sql {
  return sql`coalesce(${condition}, false)`;
}

/**
 * Whether RE2 finds the text fast where case does not count: not if one of its first letters has a third form, as `s` has the long s
 * and `k` the sign of the kelvin.
 */
function beginsFast(text: string): boolean {
  return /^[!-~][ -~]/.test(text) && !/[sk]/i.test(text.slice(0, 2));
}
