/** Words that are nearly the one asked for. */
import { columnOf } from "../../../datasets/fields.ts";
import { identifier, raw, type Sql, sql } from "../../../datasets/sql.ts";
import { wordsOf } from "../../../datasets/store/format.ts";
import { boostOf, idfSql, lengthFactorSql, scoreSql, statisticsSql } from "../score/bm25.ts";
import type { Fuzzy, FuzzyQuery } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { editDistance, sharesPiece } from "./edit-distance.ts";
import { explanation, inRows, type Matcher, nothing } from "./matcher.ts";
import { prefixCondition } from "./patterns.ts";
import { type Target, targetOf } from "./target.ts";
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
  word: string,
  fuzzy: Fuzzy,
  boost: number,
): Matcher {
  const changes = changesOf(fuzzy, word);
  if (target.kind !== "words" && target.kind !== "keyword") return oneValue(compiler, target, word, boost);
  if (changes === 0) return oneValue(compiler, target, word, boost);
  compiler.count(1);
  if (fuzzy.maxExpansions < 1) return nothing;
  const occurrences = occurrencesOf(target);
  const alike = alikeTerms(target, word, changes, fuzzy);
  const weight = sql`CAST(${Math.fround(boost)} AS FLOAT) * likeness * CAST(${boostOf(1)} AS FLOAT)
    * ${idfSql(raw("documents"), raw("matching"))}`;
  const score = scoreSql(
    raw("weight"),
    raw("frequency"),
    lengthFactorSql(raw("length"), raw("average_length")),
  );
  const rows = sql`(WITH ${alike}
    SELECT _row, CAST(sum(CAST(${score} AS DOUBLE)) AS FLOAT) AS score
    FROM (SELECT _row, frequency, length, average_length, ${weight} AS weight
          FROM (${occurrences}) AS o
          JOIN (SELECT term, likeness, max(matching) OVER () AS matching FROM alike) AS alike USING (term),
               (${statisticsOf(target)}))
    GROUP BY _row)`;
  return {
    predicate: inRows(sql`SELECT _row FROM ${rows}`),
    rows: sql`SELECT _row FROM ${rows}`,
    score: { kind: "ranked", rows },
    async explain(ask, row) {
      const [found] = await ask(sql`SELECT score FROM ${rows} WHERE _row = ${row}`);
      return explanation(
        Number(found?.[0] ?? 0),
        `weight(${target.name}:${word}~${changes}), sum of the words like it`,
      );
    },
  };
}

/** `alike` as `term, matching, likeness`: the words within the changes that documents have, the most alike first. */
function alikeTerms(
  target: Extract<Target, { kind: "words" | "keyword" }>,
  word: string,
  most: number,
  fuzzy: Fuzzy,
): Sql {
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
      CAST(CASE WHEN changes = 0 THEN 1 ELSE 1::FLOAT - changes::FLOAT / least(length(term), ${length})::FLOAT END AS FLOAT) AS likeness
      FROM ${counted} ORDER BY likeness DESC, term LIMIT ${raw(String(fuzzy.maxExpansions))})`;
}

/** `_row, term, frequency, length`, each term of a document once. */
function occurrencesOf(target: Extract<Target, { kind: "words" | "keyword" }>): Sql {
  if (target.kind === "words") {
    return sql`SELECT _row, term, frequency, length FROM ${identifier(target.postings)} WHERE frequency > 0`;
  }
  const column = columnOf(target.field);
  const term = target.field.multi ? sql`unnest(list_distinct(${column}))` : column;
  return sql`SELECT _row, ${term} AS term, 1 AS frequency, 1 AS length FROM documents WHERE ${column} IS NOT NULL`;
}

function statisticsOf(target: Extract<Target, { kind: "words" | "keyword" }>): Sql {
  if (target.kind === "words") return statisticsSql(target.field);
  return sql`SELECT count(*) AS documents, 1::FLOAT AS average_length FROM documents WHERE ${columnOf(target.field)} IS NOT NULL`;
}
