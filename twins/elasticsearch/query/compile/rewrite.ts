/**
 * `rewrite`: how the terms that a pattern or a fuzzy word expands to are scored.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-multi-term-rewrite.html
 */
import { columnOf } from "@offhook/log-store/fields";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { conversionError } from "../errors.ts";
import { boostOf, idfSql, lengthFactorSql, scoreSql, statisticsSql } from "../score/bm25.ts";
import { explanation } from "../score/explain.ts";
import { extent } from "./keyword.ts";
import { inRows, type Matcher, uniform } from "./matcher.ts";
import type { Target } from "./target.ts";

export interface Rewrite {
  /**
   * `constant`: every document scores the boost. `rarity`: each term scores as if it were searched itself. `blended`: the same, but
   * with the idf of the most frequent term. `similarity`: each term scores the boost times its similarity.
   */
  readonly weights: "constant" | "rarity" | "blended" | "similarity";
  /** Limit of expansions: the most similar terms first, ties in alphabetical order. */
  readonly maxTerms: number;
}

const named: Readonly<Record<string, Rewrite["weights"]>> = {
  constant_score: "constant",
  constant_score_blended: "constant",
  constant_score_boolean: "constant",
  scoring_boolean: "rarity",
};
const limited: Readonly<Record<string, Rewrite["weights"]>> = {
  top_terms_: "rarity",
  top_terms_boost_: "similarity",
  top_terms_blended_freqs_: "blended",
};

/** @returns undefined when absent @throws VendorError for an unknown method */
export function rewriteOf(written: string | undefined): Rewrite | undefined {
  if (written === undefined) return undefined;
  const whole = Object.hasOwn(named, written) ? named[written] : undefined;
  if (whole) return { weights: whole, maxTerms: MAX_WORDS };
  const [, name = "", count = ""] = /^(\D+)(\d{1,9})$/.exec(written) ?? [];
  const weights = Object.hasOwn(limited, name) ? limited[name] : undefined;
  if (weights) return { weights, maxTerms: Math.min(Number(count), MAX_WORDS) };
  throw conversionError(`Failed to parse rewrite_method [${written}]`, "illegal_argument_exception");
}

/** The vendor's `indices.query.bool.max_clause_count` on a small node. */
const MAX_WORDS = 1_024;

export type Expandable = Extract<Target, { kind: "words" | "keyword" }>;

/**
 * Matches documents with any of the expanded terms.
 * @param words CTEs, the last of them `expanded`: `term, matching, similarity`
 * @param described the clause, as explanations name it
 */
export function anyOfWords(
  target: Expandable,
  words: Sql,
  weights: Rewrite["weights"],
  boost: number,
  described: string,
): Matcher {
  const occurrences = occurrencesOf(target);
  const found = sql`WITH ${words} SELECT DISTINCT _row FROM (${occurrences}) JOIN expanded USING (term)`;
  if (weights === "constant") return uniform(inRows(found), boost, described);
  const rows = sql`(WITH ${words} SELECT _row, CAST(sum(CAST(score AS DOUBLE)) AS FLOAT) AS score
    FROM (${scoresOf(target, occurrences, weights, boost)}) GROUP BY _row)`;
  return {
    predicate: inRows(found),
    rows: found,
    score: { kind: "ranked", rows },
    async explain(ask, row) {
      const [scored] = await ask(sql`SELECT score FROM ${rows} WHERE _row = ${row}`);
      return explanation(Number(scored?.[0] ?? 0), described);
    },
  };
}

/** `_row, score`: a row for each expanded term of a document. */
function scoresOf(
  target: Expandable,
  occurrences: Sql,
  weights: "rarity" | "blended" | "similarity",
  boost: number,
): Sql {
  const factor = sql`CAST(${Math.fround(boost)} AS FLOAT) * similarity`;
  if (weights === "similarity") {
    return sql`SELECT _row, ${factor} AS score FROM (${occurrences}) JOIN expanded USING (term)`;
  }
  const matching = raw(weights === "blended" ? "max(matching) OVER ()" : "matching");
  const weight = sql`${factor} * CAST(${boostOf(1)} AS FLOAT) * ${idfSql(raw("documents"), raw("matching"))}`;
  const score = scoreSql(
    raw("weight"),
    raw("frequency"),
    lengthFactorSql(raw("length"), raw("average_length")),
  );
  return sql`SELECT _row, ${score} AS score
    FROM (SELECT _row, frequency, length, average_length, ${weight} AS weight
          FROM (${occurrences}) AS o
          JOIN (SELECT term, similarity, ${matching} AS matching FROM expanded) AS expanded USING (term),
               (${statisticsOf(target)}))`;
}

/** CTE `expanded` of the terms that meet a condition on `term`, all with similarity 1. */
export function matchingTerms(target: Expandable, condition: Sql, { maxTerms }: Rewrite): Sql {
  return sql`expanded AS MATERIALIZED (SELECT term, count(*) AS matching, 1::FLOAT AS similarity
    FROM (${occurrencesOf(target)}) AS o WHERE ${condition} GROUP BY term ORDER BY term LIMIT ${raw(String(maxTerms))})`;
}

/** `_row, term, frequency, length`: a row for each distinct term of a document. */
export function occurrencesOf(target: Expandable): Sql {
  if (target.kind === "words") {
    return sql`SELECT _row, term, frequency, length FROM ${identifier(target.postings)} WHERE frequency > 0`;
  }
  const column = columnOf(target.field);
  const term = target.field.multi ? sql`unnest(list_distinct(${column}))` : column;
  return sql`SELECT _row, ${term} AS term, 1 AS frequency, 1 AS length FROM documents WHERE ${column} IS NOT NULL`;
}

function statisticsOf(target: Expandable): Sql {
  if (target.kind === "words") return statisticsSql(target.field);
  return sql`SELECT ${extent(target.field)} FROM documents AS d`;
}
