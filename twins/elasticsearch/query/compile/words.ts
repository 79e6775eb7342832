/** Words of an analysed field: matched by its postings, scored by BM25. */
import { identifier, joined, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Ask, Explanation } from "../compiled-query.ts";
import { boostOf, idf, idfSql, lengthFactorSql, scoreSql, statisticsSql } from "../score/bm25.ts";
import { explainWord, explanation } from "../score/explain.ts";
import type { PrefixSlot } from "./field-search.ts";
import { FALSE, inField, inRows, type Matcher } from "./matcher.ts";
import { slotCondition } from "./phrase.ts";
import type { WordsTarget } from "./target.ts";
import { strings } from "./values.ts";

/** A searched word. */
export interface Word {
  readonly term: string;
  readonly boost: number;
}

/** Up to so many words each get their own lookup in the sorted postings; more share one pass. */
const MAX_SINGLE_LOOKUPS = 24;

/** With known weights, up to so many words are joined: a plan grows with each join. */
const MAX_JOINED = 8;

/** Matches documents with at least `minimum` of the words; the score is the sum over the words. */
export function anyWords(target: WordsTarget, words: readonly Word[], minimum: number): Matcher {
  const merged = mergeRepeated(words);
  const compile = (): Matcher => ({
    predicate: wordsPredicate(target, merged, minimum),
    rows: wordsRows(target, merged, minimum),
    score: {
      kind: "ranked",
      get rows() {
        return rankWords(target, merged, minimum);
      },
    },
    explain: (ask, row) => explainWords(target, merged, ask, row),
  });
  const [{ boost } = { boost: 1 }] = words;
  if (merged.length === 0 || minimum > searchedTimes(merged) || words.some((word) => word.boost !== boost)) {
    return compile();
  }
  const asWords = merged.map(({ term, times }) => ({ term, times }));
  return inField({ target, boost, parts: [{ kind: "words", words: asWords }], minimum }, compile);
}

/** Matches the first terms with a prefix, each scored as if it were searched itself. */
export function expandedPrefix(
  target: WordsTarget,
  prefix: string,
  maxExpansions: number,
  boost: number,
): Matcher {
  const slot: PrefixSlot = { kind: "prefix", prefix, maxExpansions, place: 1 };
  return inField({ target, boost, parts: [{ kind: "expanded", slot }], minimum: 1 }, () =>
    expandedInField(target, slot, boost),
  );
}

function expandedInField(target: WordsTarget, slot: PrefixSlot, boost: number): Matcher {
  const { prefix } = slot;
  const table = identifier(target.postings);
  const condition = slotCondition(target, slot);
  const hits = sql`SELECT _row, term AS word, 1 AS times, CAST(${boostOf(boost)} AS FLOAT) AS boost, frequency, length
    FROM ${table} WHERE ${condition} AND frequency > 0`;
  const rows = rankHits(target, hits, 1);
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
  /** How often the query contains it. */
  readonly times: number;
}

/** Merges repeated words: each is looked up once and counts as often as the query contains it. */
function mergeRepeated(words: readonly Word[]): MergedWord[] {
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

function wordsPredicate(target: WordsTarget, words: readonly MergedWord[], minimum: number): Sql {
  if (minimum > searchedTimes(words) || words.length === 0) return FALSE;
  if (minimum > 1 || words.length === 1) return inRows(wordsRows(target, words, minimum));
  const terms = words.map(({ term }) => term);
  return inRows(
    sql`SELECT _row FROM ${identifier(target.postings)} WHERE term IN ${strings(terms)} AND frequency > 0`,
  );
}

/** The number of searched words, repetitions included. */
function searchedTimes(words: readonly MergedWord[]): number {
  return words.reduce((sum, { times }) => sum + times, 0);
}

/** Whether a document needs every word, and the words are few enough to join. */
function allNeeded(words: readonly MergedWord[], minimum: number): boolean {
  const least = Math.min(...words.map(({ times }) => times));
  return words.length > 0 && words.length <= MAX_SINGLE_LOOKUPS && minimum > searchedTimes(words) - least;
}

/** Nothing for a minimum of one, which every row meets. */
function havingMinimum(minimum: number): Sql {
  return minimum <= 1 ? raw("") : sql`HAVING sum(times) >= ${minimum}`;
}

function wordsRows(target: WordsTarget, words: readonly MergedWord[], minimum: number): Sql {
  const table = identifier(target.postings);
  const [only] = words;
  if (minimum <= searchedTimes(words) && (words.length === 1 || allNeeded(words, minimum))) {
    return sql`SELECT _row FROM ${joinedOccurrences(table, words)}`;
  }
  if (!only) return sql`SELECT _row FROM documents WHERE false`;
  return sql`SELECT _row FROM (${lookups(table, words)}) GROUP BY _row ${havingMinimum(minimum)}`;
}

/** `_row, frequency, length` of the documents with a word. */
function occurrences(table: Sql, { term }: MergedWord): Sql {
  return sql`(SELECT _row, frequency, length FROM ${table} WHERE term = ${term} AND frequency > 0)`;
}

/** Documents with all words, joined as `w0`, `w1`, …, which is faster than counting. */
function joinedOccurrences(table: Sql, words: readonly MergedWord[]): Sql {
  const [first, ...others] = words.map(
    (word, index) => sql`${occurrences(table, word)} AS ${raw(`w${index}`)}`,
  );
  return sql`${first ?? raw("")} ${joined(
    others.map((other) => sql`JOIN ${other} USING (_row)`),
    " ",
  )}`;
}

/** `_row, word, times, boost, frequency, length`: a row for each word of a document. */
function lookups(table: Sql, words: readonly MergedWord[]): Sql {
  if (words.length <= MAX_SINGLE_LOOKUPS) {
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
  const parameter = jsonParameter(
    words.map(({ term, times, boost }) => ({ term, times, boost: boostOf(boost) })),
  );
  return sql`SELECT _row, asked.term AS word, asked.times AS times, asked.boost AS boost, frequency, length
    FROM ${table} AS p
    JOIN (SELECT unnest(from_json(${parameter}, '[{"term":"VARCHAR","times":"INTEGER","boost":"FLOAT"}]'), recursive := true)) AS asked
      ON p.term = asked.term
    WHERE frequency > 0`;
}

function rankWords(target: WordsTarget, words: readonly MergedWord[], minimum: number): Sql {
  const known = weighWords(target, words);
  return known ? rankByStatistics(target, known, minimum) : rankByCounting(target, words, minimum);
}

interface WeighedWord extends MergedWord {
  /** Boost times idf. */
  readonly weight: number;
  readonly averageLength: number;
}

/** The words with weights from the term statistics; `undefined` when some are missing, or the words too many to join. */
function weighWords(target: WordsTarget, words: readonly MergedWord[]): WeighedWord[] | undefined {
  const { termStatistics, field } = target;
  if (!termStatistics || words.length > MAX_JOINED) return undefined;
  const ofField = termStatistics(statisticsSql(field));
  const counts = words.map((word) => termStatistics(countOf(target, word))?.[0]);
  if (!ofField) return undefined;
  const [documents = 0, averageLength = 0] = ofField;
  const weighed: WeighedWord[] = [];
  for (const [index, word] of words.entries()) {
    const matching = counts[index];
    if (matching === undefined) return undefined;
    const weight = Math.fround(boostOf(word.boost) * idf(documents, matching));
    weighed.push({ ...word, weight, averageLength });
  }
  return weighed;
}

/** With known weights: joins the words' scored documents, without aggregating. */
function rankByStatistics(target: WordsTarget, words: readonly WeighedWord[], minimum: number): Sql {
  const table = identifier(target.postings);
  const [first, ...others] = words.map(
    (word, index) => sql`(SELECT _row, ${scoreByStatistics(word)} AS ${raw(`score${index}`)}
      FROM ${table} WHERE term = ${word.term} AND frequency > 0) AS ${raw(`w${index}`)}`,
  );
  if (!first || minimum > searchedTimes(words))
    return raw("(SELECT _row, 0::FLOAT AS score FROM documents WHERE false)");
  const all = words.length === 1 || allNeeded(words, minimum);
  const join = raw(all ? " JOIN " : " FULL JOIN ");
  const joins = others.map((other) => sql`${join}${other} USING (_row)`);
  const scores = words.map((_, index) => raw(all ? `score${index}` : `coalesce(score${index}, 0)`));
  const times = words.map(({ times }, index) => `CASE WHEN score${index} IS NULL THEN 0 ELSE ${times} END`);
  const whereMinimum = all || minimum <= 1 ? sql`` : sql` WHERE ${raw(times.join(" + "))} >= ${minimum}`;
  return sql`(SELECT _row, CAST(${joined(scores, " + ")} AS FLOAT) AS score FROM ${first}${joined(joins, "")}${whereMinimum})`;
}

function scoreByStatistics({ weight, averageLength }: WeighedWord): Sql {
  const factor = lengthFactorSql(raw("length"), sql`CAST(${averageLength} AS FLOAT)`);
  return sql`CAST(${scoreSql(sql`CAST(${weight} AS FLOAT)`, raw("frequency"), factor)} AS DOUBLE)`;
}

function countOf(target: WordsTarget, { term }: MergedWord): Sql {
  return sql`SELECT count(*) AS matching FROM ${identifier(target.postings)} WHERE term = ${term} AND frequency > 0`;
}

function rankByCounting(target: WordsTarget, words: readonly MergedWord[], minimum: number): Sql {
  const table = identifier(target.postings);
  if (words.length === 0 || words.length > MAX_SINGLE_LOOKUPS || minimum > searchedTimes(words)) {
    return rankHits(target, lookups(table, words), minimum);
  }
  if (words.length === 1 || allNeeded(words, minimum)) return rankWordsTogether(target, words);
  const scores = words.map(
    (
      word,
      index,
    ) => sql`SELECT _row, ${raw(String(word.times))} AS times, CAST(${scoreOfWord(index, raw("length"))} AS DOUBLE) AS score
      FROM (SELECT _row, frequency AS ${raw(`frequency${index}`)}, length FROM ${occurrences(table, word)}), (${weightOf(target, word, index)})`,
  );
  return sql`(SELECT _row, CAST(sum(score) AS FLOAT) AS score FROM (${joined(scores, " UNION ALL ")})
    GROUP BY _row ${havingMinimum(minimum)})`;
}

/** Scores only the documents with all words. */
function rankWordsTogether(target: WordsTarget, words: readonly MergedWord[]): Sql {
  const frequencies = words.map((_, index) => raw(`w${index}.frequency AS frequency${index}`));
  const scores = words.map((_, index) => sql`CAST(${scoreOfWord(index, raw("length"))} AS DOUBLE)`);
  const weights = words.map((word, index) => sql`(${weightOf(target, word, index)}) AS ${raw(`of${index}`)}`);
  return sql`(SELECT _row, CAST(${joined(scores, " + ")} AS FLOAT) AS score
    FROM (SELECT _row, w0.length AS length, ${joined(frequencies, ", ")}
          FROM ${joinedOccurrences(identifier(target.postings), words)}), ${joined(weights, ", ")})`;
}

/** The score that the word at this index adds to a document. */
function scoreOfWord(index: number, length: Sql): Sql {
  const factor = lengthFactorSql(length, raw(`average_length${index}`));
  return scoreSql(raw(`weight${index}`), raw(`frequency${index}`), factor);
}

/** One row: the weight of the word at this index, and the average length. A second count is cheaper than keeping its postings. */
function weightOf(target: WordsTarget, word: MergedWord, index: number): Sql {
  const weight = sql`CAST(${boostOf(word.boost)} AS FLOAT) * ${idfSql(raw("documents"), raw("matching"))}`;
  return sql`SELECT ${weight} AS ${raw(`weight${index}`)}, average_length AS ${raw(`average_length${index}`)}
    FROM (${statisticsSql(target.field)}), (${countOf(target, word)})`;
}

/** Sums the scores of each document's words. @param hits with the columns of `lookups` */
function rankHits(target: WordsTarget, hits: Sql, minimum: number): Sql {
  return sql`(WITH hits AS MATERIALIZED (${hits})
    SELECT _row, CAST(sum(CAST(${scoreOfHit} AS DOUBLE)) AS FLOAT) AS score
    FROM hits JOIN (${weightsOf(target)}) AS weights USING (word)
    GROUP BY _row ${havingMinimum(minimum)})`;
}

const scoreOfHit = scoreSql(
  raw("weight"),
  raw("frequency"),
  lengthFactorSql(raw("length"), raw("average_length")),
);

/** `word, weight, average_length` */
function weightsOf(target: WordsTarget): Sql {
  return sql`SELECT word, any_value(boost) * ${idfSql(raw("any_value(documents)"), raw("count(*)"))} AS weight,
      any_value(average_length) AS average_length
    FROM hits, (${statisticsSql(target.field)}) GROUP BY word`;
}

async function explainWords(
  target: WordsTarget,
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
