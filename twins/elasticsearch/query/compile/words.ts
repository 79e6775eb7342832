/** Words of an analysed field: found in its postings, scored by BM25. */
import { identifier, joined, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Ask, Explanation } from "../compiled-query.ts";
import { boostOf, idf, idfSql, lengthFactorSql, scoreSql, statisticsSql } from "../score/bm25.ts";
import { explainWord } from "../score/explain.ts";
import { explanation, FALSE, inField, inRows, type Matcher } from "./matcher.ts";
import { type PrefixSlot, slotCondition } from "./phrase.ts";
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

/** Words whose scores are joined when their weights are known: a plan grows with each join. */
const MOST_JOINED = 8;

/** Documents that have at least `minimum` of the words; their score is the sum of the words'. */
export function anyWords(target: Words, words: readonly Word[], minimum: number): Matcher {
  const merged = mergedWords(words);
  const compile = (): Matcher => ({
    predicate: wordsPredicate(target, merged, minimum),
    rows: wordsRows(target, merged, minimum),
    score: {
      kind: "ranked",
      get rows() {
        return rankedWords(target, merged, minimum);
      },
    },
    explain: (ask, row) => explainWords(target, merged, ask, row),
  });
  const [{ boost } = { boost: 1 }] = words;
  if (merged.length === 0 || minimum > asked(merged) || words.some((word) => word.boost !== boost)) {
    return compile();
  }
  const asWords = merged.map(({ term, times }) => ({ term, times }));
  return inField({ target, boost, parts: [{ kind: "words", words: asWords }], minimum }, compile);
}

/** The first words with a prefix, each of which scores as if it had been asked for. */
export function expandedPrefix(target: Words, prefix: string, maxExpansions: number, boost: number): Matcher {
  const slot: PrefixSlot = { kind: "prefix", prefix, maxExpansions, place: 1 };
  return inField({ target, boost, parts: [{ kind: "expanded", slot }], minimum: 1 }, () =>
    expandedInField(target, slot, boost),
  );
}

function expandedInField(target: Words, slot: PrefixSlot, boost: number): Matcher {
  const { prefix } = slot;
  const table = identifier(target.postings);
  const condition = slotCondition(target, slot);
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
  if (minimum > asked(words) || words.length === 0) return FALSE;
  if (minimum > 1 || words.length === 1) return inRows(wordsRows(target, words, minimum));
  const terms = words.map(({ term }) => term);
  return inRows(
    sql`SELECT _row FROM ${identifier(target.postings)} WHERE term IN ${strings(terms)} AND frequency > 0`,
  );
}

/** How many words were asked for. */
function asked(words: readonly MergedWord[]): number {
  return words.reduce((sum, { times }) => sum + times, 0);
}

/** Whether a document needs each of the words, and these are few enough to be joined. */
function allNeeded(words: readonly MergedWord[], minimum: number): boolean {
  const least = Math.min(...words.map(({ times }) => times));
  return words.length > 0 && words.length <= SINGLE_LOOKS && minimum > asked(words) - least;
}

/** Every document found has one word at least. */
function enough(minimum: number): Sql {
  return minimum <= 1 ? raw("") : sql`HAVING sum(times) >= ${minimum}`;
}

function wordsRows(target: Words, words: readonly MergedWord[], minimum: number): Sql {
  const table = identifier(target.postings);
  const [only] = words;
  if (minimum <= asked(words) && (words.length === 1 || allNeeded(words, minimum))) {
    return sql`SELECT _row FROM ${joinedOccurrences(table, words)}`;
  }
  if (!only) return sql`SELECT _row FROM documents WHERE false`;
  return sql`SELECT _row FROM (${lookups(table, words)}) GROUP BY _row ${enough(minimum)}`;
}

/** Where a word is, a row each document: `_row, frequency, length`. */
function occurrences(table: Sql, { term }: MergedWord): Sql {
  return sql`(SELECT _row, frequency, length FROM ${table} WHERE term = ${term} AND frequency > 0)`;
}

/** Documents that have all of the words, each word as `w0`, `w1`, …: joined on their numbers, which is quicker than to count them. */
function joinedOccurrences(table: Sql, words: readonly MergedWord[]): Sql {
  const [first, ...others] = words.map(
    (word, index) => sql`${occurrences(table, word)} AS ${raw(`w${index}`)}`,
  );
  return sql`${first ?? raw("")} ${joined(
    others.map((other) => sql`JOIN ${other} USING (_row)`),
    " ",
  )}`;
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
  const asked = jsonParameter(
    words.map(({ term, times, boost }) => ({ term, times, boost: boostOf(boost) })),
  );
  return sql`SELECT _row, asked.term AS word, asked.times AS times, asked.boost AS boost, frequency, length
    FROM ${table} AS p
    JOIN (SELECT unnest(from_json(${asked}, '[{"term":"VARCHAR","times":"INTEGER","boost":"FLOAT"}]'), recursive := true)) AS asked
      ON p.term = asked.term
    WHERE frequency > 0`;
}

function rankedWords(target: Words, words: readonly MergedWord[], minimum: number): Sql {
  const known = weightsKnown(target, words);
  return known ? rankedByFigures(target, known, minimum) : rankedByCounting(target, words, minimum);
}

interface WeighedWord extends MergedWord {
  /** Boost times idf. */
  readonly weight: number;
  readonly averageLength: number;
}

/** The words with their weights; `undefined` when figures are missing, or the words are too many to be looked at singly. */
function weightsKnown(target: Words, words: readonly MergedWord[]): WeighedWord[] | undefined {
  const { figures, field } = target;
  if (!figures || words.length > MOST_JOINED) return undefined;
  const ofField = figures(statisticsSql(field));
  const counts = words.map((word) => figures(countOf(target, word))?.[0]);
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

/** Each word's documents with its score, joined: no document is weighed together with others. */
function rankedByFigures(target: Words, words: readonly WeighedWord[], minimum: number): Sql {
  const table = identifier(target.postings);
  const [first, ...others] = words.map(
    (word, index) => sql`(SELECT _row, ${scoreByFigures(word)} AS ${raw(`score${index}`)}
      FROM ${table} WHERE term = ${word.term} AND frequency > 0) AS ${raw(`w${index}`)}`,
  );
  if (!first || minimum > asked(words))
    return raw("(SELECT _row, 0::FLOAT AS score FROM documents WHERE false)");
  const all = words.length === 1 || allNeeded(words, minimum);
  const join = raw(all ? " JOIN " : " FULL JOIN ");
  const joins = others.map((other) => sql`${join}${other} USING (_row)`);
  const scores = words.map((_, index) => raw(all ? `score${index}` : `coalesce(score${index}, 0)`));
  const times = words.map(({ times }, index) => `CASE WHEN score${index} IS NULL THEN 0 ELSE ${times} END`);
  const enough = all || minimum <= 1 ? sql`` : sql` WHERE ${raw(times.join(" + "))} >= ${minimum}`;
  return sql`(SELECT _row, CAST(${joined(scores, " + ")} AS FLOAT) AS score FROM ${first}${joined(joins, "")}${enough})`;
}

function scoreByFigures({ weight, averageLength }: WeighedWord): Sql {
  const factor = lengthFactorSql(raw("length"), sql`CAST(${averageLength} AS FLOAT)`);
  return sql`CAST(${scoreSql(sql`CAST(${weight} AS FLOAT)`, raw("frequency"), factor)} AS DOUBLE)`;
}

function countOf(target: Words, { term }: MergedWord): Sql {
  return sql`SELECT count(*) AS matching FROM ${identifier(target.postings)} WHERE term = ${term} AND frequency > 0`;
}

function rankedByCounting(target: Words, words: readonly MergedWord[], minimum: number): Sql {
  const table = identifier(target.postings);
  if (words.length === 0 || words.length > SINGLE_LOOKS || minimum > asked(words)) {
    return rankedHits(target, lookups(table, words), minimum);
  }
  if (words.length === 1 || allNeeded(words, minimum)) return rankedTogether(target, words);
  const scores = words.map(
    (
      word,
      index,
    ) => sql`SELECT _row, ${raw(String(word.times))} AS times, CAST(${scoreOfWord(index, raw("length"))} AS DOUBLE) AS score
      FROM (SELECT _row, frequency AS ${raw(`frequency${index}`)}, length FROM ${occurrences(table, word)}), (${weightOf(target, word, index)})`,
  );
  return sql`(SELECT _row, CAST(sum(score) AS FLOAT) AS score FROM (${joined(scores, " UNION ALL ")})
    GROUP BY _row ${enough(minimum)})`;
}

/** Only documents that have all of the words are scored. */
function rankedTogether(target: Words, words: readonly MergedWord[]): Sql {
  const frequencies = words.map((_, index) => raw(`w${index}.frequency AS frequency${index}`));
  const scores = words.map((_, index) => sql`CAST(${scoreOfWord(index, raw("length"))} AS DOUBLE)`);
  const weights = words.map((word, index) => sql`(${weightOf(target, word, index)}) AS ${raw(`of${index}`)}`);
  return sql`(SELECT _row, CAST(${joined(scores, " + ")} AS FLOAT) AS score
    FROM (SELECT _row, w0.length AS length, ${joined(frequencies, ", ")}
          FROM ${joinedOccurrences(identifier(target.postings), words)}), ${joined(weights, ", ")})`;
}

/** What the word of this number adds to a document's score. */
function scoreOfWord(index: number, length: Sql): Sql {
  const factor = lengthFactorSql(length, raw(`average_length${index}`));
  return scoreSql(raw(`weight${index}`), raw(`frequency${index}`), factor);
}

/** One row: the weight of the word of this number, and the average length. To count a word is quicker than to keep its postings. */
function weightOf(target: Words, word: MergedWord, index: number): Sql {
  const weight = sql`CAST(${boostOf(word.boost)} AS FLOAT) * ${idfSql(raw("documents"), raw("matching"))}`;
  return sql`SELECT ${weight} AS ${raw(`weight${index}`)}, average_length AS ${raw(`average_length${index}`)}
    FROM (${statisticsSql(target.field)}), (${countOf(target, word)})`;
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
