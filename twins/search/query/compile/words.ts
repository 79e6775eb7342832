/** Words of an analysed field: found in its postings, scored by BM25. */
import { identifier, joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { Ask, Explanation } from "../compiled-query.ts";
import { boostOf, idfSql, lengthFactorSql, scoreSql, statisticsSql } from "../score/bm25.ts";
import { explainWord } from "../score/explain.ts";
import { explanation, FALSE, inRows, type Matcher } from "./matcher.ts";
import { slotCondition } from "./phrase.ts";
import type { Target } from "./target.ts";
import { strings } from "./values.ts";

export type Words = Extract<Target, { kind: "words" }>;

/** A word that is looked for. */
export interface Word {
  readonly term: string;
  readonly boost: number;
}

/** Words that are found each by its own look into the sorted postings; more are found by one pass. */
const SINGLE_LOOKS = 24;

/** Documents that have at least `minimum` of the words; their score is the sum of the words'. */
export function anyWords(target: Words, words: readonly Word[], minimum: number): Matcher {
  const merged = mergedWords(words);
  return {
    predicate: wordsPredicate(target, merged, minimum),
    rows: wordsRows(target, merged, minimum),
    score: { kind: "ranked", rows: rankedWords(target, merged, minimum) },
    explain: (ask, row) => explainWords(target, merged, ask, row),
  };
}

/** The first words with a prefix, each of which scores as if it had been asked for. */
export function expandedPrefix(target: Words, prefix: string, maxExpansions: number, boost: number): Matcher {
  const table = identifier(target.postings);
  const condition = slotCondition(target, { kind: "prefix", prefix, maxExpansions });
  const hits = sql`SELECT _row, term AS word, 1 AS times, CAST(${boostOf(boost)} AS FLOAT) AS boost, frequency, length
    FROM ${table} WHERE ${condition} AND frequency > 0`;
  const rows = rankedHits(target, hits, 1);
  return {
    predicate: inRows(sql`SELECT _row FROM ${table} WHERE ${condition} AND frequency > 0`),
    score: { kind: "ranked", rows },
    async explain(ask, row) {
      const [found] = await ask(sql`SELECT score FROM ${rows} WHERE _row = ${row}`);
      return explanation(
        Number(found?.[0] ?? 0),
        `weight(${target.name}:${prefix}*), sum of the words with this prefix`,
      );
    },
  };
}

interface MergedWord extends Word {
  /** How often it was asked for. */
  readonly times: number;
}

/** A word that is asked for twice counts twice, and is looked up once. */
function mergedWords(words: readonly Word[]): MergedWord[] {
  const merged = new Map<string, MergedWord>();
  for (const { term, boost } of words) {
    const known = merged.get(term);
    merged.set(term, {
      term,
      boost: Math.fround((known?.boost ?? 0) + boost),
      times: (known?.times ?? 0) + 1,
    });
  }
  return [...merged.values()];
}

function wordsPredicate(target: Words, words: readonly MergedWord[], minimum: number): Sql {
  const asked = words.reduce((sum, { times }) => sum + times, 0);
  if (minimum > asked || words.length === 0) return FALSE;
  const table = identifier(target.postings);
  const terms = words.map(({ term }) => term);
  if (minimum <= 1) {
    const [only] = terms;
    const wanted =
      terms.length === 1 && only !== undefined ? sql`term = ${only}` : sql`term IN ${strings(terms)}`;
    return inRows(sql`SELECT _row FROM ${table} WHERE ${wanted} AND frequency > 0`);
  }
  return inRows(
    sql`SELECT _row FROM (${lookups(table, words)}) GROUP BY _row HAVING sum(times) >= ${minimum}`,
  );
}

/** Every document found has one word at least. */
function enough(minimum: number): Sql {
  return minimum <= 1 ? raw("") : sql`HAVING sum(times) >= ${minimum}`;
}

function wordsRows(target: Words, words: readonly MergedWord[], minimum: number): Sql {
  const found = lookups(identifier(target.postings), words);
  const [only] = words;
  if (only && words.length === 1 && minimum <= only.times) return sql`SELECT _row FROM (${found})`;
  return sql`SELECT _row FROM (${found}) GROUP BY _row ${enough(minimum)}`;
}

/** `_row, word, times, boost, frequency, length` of each word in each document. */
function lookups(table: Sql, words: readonly MergedWord[]): Sql {
  if (words.length <= SINGLE_LOOKS) {
    const looks = words.map(
      (
        { term, times, boost },
        word,
      ) => sql`SELECT _row, ${raw(String(word))} AS word, ${raw(String(times))} AS times,
        CAST(${boostOf(boost)} AS FLOAT) AS boost, frequency, length
        FROM ${table} WHERE term = ${term} AND frequency > 0`,
    );
    return joined(looks, " UNION ALL ");
  }
  const asked = JSON.stringify(
    words.map(({ term, times, boost }) => ({ term, times, boost: boostOf(boost) })),
  );
  return sql`SELECT _row, asked.term AS word, asked.times AS times, asked.boost AS boost, frequency, length
    FROM ${table} AS p
    JOIN (SELECT unnest(from_json(${asked}, '[{"term":"VARCHAR","times":"INTEGER","boost":"FLOAT"}]'), recursive := true)) AS asked
      ON p.term = asked.term
    WHERE frequency > 0`;
}

function rankedWords(target: Words, words: readonly MergedWord[], minimum: number): Sql {
  const hits = lookups(identifier(target.postings), words);
  const [only] = words;
  if (!only || words.length > 1 || minimum > only.times) return rankedHits(target, hits, minimum);
  return sql`(WITH hits AS MATERIALIZED (${hits})
    SELECT _row, ${scoreOfHit} AS score FROM hits JOIN (${weightsOf(target)}) AS weights USING (word))`;
}

/** The sum of each document's words. @param hits as `lookups` gives them */
function rankedHits(target: Words, hits: Sql, minimum: number): Sql {
  return sql`(WITH hits AS MATERIALIZED (${hits})
    SELECT _row, CAST(sum(CAST(${scoreOfHit} AS DOUBLE)) AS FLOAT) AS score
    FROM hits JOIN (${weightsOf(target)}) AS weights USING (word)
    GROUP BY _row ${enough(minimum)})`;
}

const scoreOfHit = scoreSql(
  raw("weight"),
  raw("frequency"),
  lengthFactorSql(raw("length"), raw("average_length")),
);

/** `word, weight, average_length` */
function weightsOf(target: Words): Sql {
  return sql`SELECT word, any_value(boost) * ${idfSql(raw("any_value(documents)"), raw("count(*)"))} AS weight,
      any_value(average_length) AS average_length
    FROM hits, (${statisticsSql(target.field)}) GROUP BY word`;
}

async function explainWords(
  target: Words,
  words: readonly MergedWord[],
  ask: Ask,
  row: bigint,
): Promise<Explanation> {
  const details: Explanation[] = [];
  for (const word of words) {
    const detail = await explainWord(target, [word.term], word.boost, ask, row);
    if (detail) details.push(detail);
  }
  const [only] = details;
  if (words.length === 1 && only) return only;
  return explanation(
    details.reduce((sum, { value }) => sum + value, 0),
    "sum of:",
    details,
  );
}
