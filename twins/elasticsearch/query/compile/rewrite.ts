/**
 * How the words that a pattern or a fuzzy word stands for score: `rewrite`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-multi-term-rewrite.html
 */
import { columnOf } from "@offhook/log-store/fields";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { conversionError } from "../errors.ts";
import { boostOf, idfSql, lengthFactorSql, scoreSql, statisticsSql } from "../score/bm25.ts";
import { extent } from "./keyword.ts";
import { explanation, inRows, type Matcher, uniform } from "./matcher.ts";
import type { Target } from "./target.ts";

export interface Rewrite {
  /**
   * `constant`: every document scores the boost. `rarity`: each word scores as if it had been asked for. `blended`: so too, and
   * each is as rare as the most frequent of them. `likeness`: each word scores the boost, the less the less alike it is.
   */
  readonly weights: "constant" | "rarity" | "blended" | "likeness";
  /** Most words that are looked for: the most alike, then the first. */
  readonly most: number;
}

const named: Readonly<Record<string, Rewrite["weights"]>> = {
  constant_score: "constant",
  constant_score_blended: "constant",
  constant_score_boolean: "constant",
  scoring_boolean: "rarity",
};
const limited: Readonly<Record<string, Rewrite["weights"]>> = {
  top_terms_: "rarity",
  top_terms_boost_: "likeness",
  top_terms_blended_freqs_: "blended",
};

/** @returns undefined when none is written @throws VendorError for one that there is not */
export function rewriteOf(written: string | undefined): Rewrite | undefined {
  if (written === undefined) return undefined;
  const whole = Object.hasOwn(named, written) ? named[written] : undefined;
  if (whole) return { weights: whole, most: MAX_WORDS };
  const [, name = "", count = ""] = /^(\D+)(\d{1,9})$/.exec(written) ?? [];
  const weights = Object.hasOwn(limited, name) ? limited[name] : undefined;
  if (weights) return { weights, most: Math.min(Number(count), MAX_WORDS) };
  throw conversionError(`Failed to parse rewrite_method [${written}]`, "illegal_argument_exception");
}

/** The vendor's `indices.query.bool.max_clause_count` of its smallest machines. */
const MAX_WORDS = 1_024;

export type Expandable = Extract<Target, { kind: "words" | "keyword" }>;

/**
 * Documents with any of some words.
 * @param words CTEs, the last of them `alike` as `term, matching, likeness`
 * @param described as explanations name it
 */
export function anyOfWords(
  target: Expandable,
  words: Sql,
  weights: Rewrite["weights"],
  boost: number,
  described: string,
): Matcher {
  const occurrences = occurrencesOf(target);
  const found = sql`WITH ${words} SELECT DISTINCT _row FROM (${occurrences}) JOIN alike USING (term)`;
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

/** `_row, score`, each word of a document by itself. */
function scoresOf(
  target: Expandable,
  occurrences: Sql,
  weights: "rarity" | "blended" | "likeness",
  boost: number,
): Sql {
  const factor = sql`CAST(${Math.fround(boost)} AS FLOAT) * likeness`;
  if (weights === "likeness") {
    return sql`SELECT _row, ${factor} AS score FROM (${occurrences}) JOIN alike USING (term)`;
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
          JOIN (SELECT term, likeness, ${matching} AS matching FROM alike) AS alike USING (term),
               (${statisticsOf(target)}))`;
}

/** `alike` of all words that meet a condition on `term`, as alike as any. */
export function wordsThatMeet(target: Expandable, condition: Sql, { most }: Rewrite): Sql {
  return sql`alike AS MATERIALIZED (SELECT term, count(*) AS matching, 1::FLOAT AS likeness
    FROM (${occurrencesOf(target)}) AS o WHERE ${condition} GROUP BY term ORDER BY term LIMIT ${raw(String(most))})`;
}

/** `_row, term, frequency, length`, each term of a document once. */
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
