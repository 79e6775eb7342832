/** Explanations of the scores of words and phrases, in the vendor's wording. */
import { identifier, list, type Sql, sql } from "@offhook/log-store/sql";
import type { WordsTarget } from "../compile/target.ts";
import type { Ask, Explanation } from "../compiled-query.ts";
import { B, boostOf, encodedLength, idf, K1, lengthFactor, score, statisticsSql } from "./bm25.ts";

/** An explanation with its value in single precision. */
export function explanation(value: number, description: string, details: Explanation[] = []): Explanation {
  return { value: Math.fround(value), description, details };
}

/** The components of a score. */
export interface Parts {
  /** `message:timeout` */
  readonly what: string;
  readonly boost: number;
  /** Documents with the field. */
  readonly documents: number;
  /** Documents with each word. */
  readonly matching: readonly { readonly term: string; readonly documents: number }[];
  readonly frequency: number;
  readonly length: number;
  readonly averageLength: number;
}

/** @returns undefined for a document without the word */
export async function explainWord(
  { name, field, postings }: WordsTarget,
  [term = ""]: readonly string[],
  boost: number,
  ask: Ask,
  row: bigint,
): Promise<Explanation | undefined> {
  const table = identifier(postings);
  const [found] = await ask(sql`
    SELECT frequency, length, documents, average_length,
           (SELECT count(*) FROM ${table} WHERE term = ${term} AND frequency > 0)
    FROM ${table}, (${statisticsSql(field)})
    WHERE term = ${term} AND _row = ${row} AND frequency > 0`);
  if (!found) return undefined;
  const [frequency = 0, length = 0, documents = 0, averageLength = 0, matching = 0] = found.map(Number);
  return explainParts({
    what: `${name}:${term}`,
    boost,
    documents,
    matching: [{ term, documents: matching }],
    frequency,
    length,
    averageLength,
  });
}

/** @param frequencies `_row, frequency, length` of the phrase */
export async function explainPhrase(
  { field, postings }: WordsTarget,
  what: string,
  terms: readonly string[],
  frequencies: Sql,
  boost: number,
  ask: Ask,
  row: bigint,
): Promise<Explanation> {
  const [found = []] = await ask(sql`SELECT frequency, length, documents, average_length
    FROM (${frequencies}), (${statisticsSql(field)}) WHERE _row = ${row}`);
  const [frequency = 0, length = 0, documents = 0, averageLength = 0] = found.map(Number);
  const matching = await matchingDocuments(postings, terms, ask);
  return explainParts({ what, boost, documents, matching, frequency, length, averageLength });
}

/** Counts the documents with each word. */
async function matchingDocuments(postings: string, terms: readonly string[], ask: Ask) {
  const rows = await ask(sql`SELECT term, count(*) FROM ${identifier(postings)}
    WHERE term IN ${list(terms)} AND frequency > 0 GROUP BY term`);
  const counts = new Map(rows.map(([term, count]) => [String(term), Number(count)]));
  return terms.map((term) => ({ term, documents: counts.get(term) ?? 0 }));
}

export function explainParts(parts: Parts): Explanation {
  const { what, documents, matching, frequency, length, averageLength } = parts;
  const boost = boostOf(parts.boost);
  const rarity = Math.fround(matching.reduce((sum, word) => sum + idf(documents, word.documents), 0));
  const factor = lengthFactor(length, averageLength);
  const value = score(Math.fround(boost * rarity), frequency, factor);
  const formula = "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:";
  const ofWord = (word: { documents: number }) => [
    explanation(word.documents, "n, number of documents containing term"),
    explanation(documents, "N, total number of documents with field"),
  ];
  const [only] = matching;
  const rarityParts =
    matching.length === 1 && only
      ? explanation(rarity, formula, ofWord(only))
      : explanation(
          rarity,
          "idf, sum of:",
          matching.map((word) => explanation(idf(documents, word.documents), formula, ofWord(word))),
        );
  const phrase = matching.length > 1;
  const kept = encodedLength(length);
  return explanation(value, `weight(${what} in 0) [PerFieldSimilarity], result of:`, [
    explanation(value, `score(freq=${frequencyText(frequency)}), computed as boost * idf * tf from:`, [
      explanation(boost, "boost"),
      rarityParts,
      explanation(
        score(1, frequency, factor),
        "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:",
        [
          explanation(
            frequency,
            phrase ? `phraseFreq=${frequencyText(frequency)}` : "freq, occurrences of term within document",
          ),
          explanation(K1, "k1, term saturation parameter"),
          explanation(B, "b, length normalization parameter"),
          explanation(kept, kept === length ? "dl, length of field" : "dl, length of field (approximate)"),
          explanation(averageLength, "avgdl, average length of field"),
        ],
      ),
    ]),
  ]);
}

function frequencyText(frequency: number): string {
  return Number.isInteger(frequency) ? frequency.toFixed(1) : String(Math.fround(frequency));
}
