import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterEach, describe, expect, test } from "vitest";
import { encodedLength, lengthFactor, score } from "../../query/score/bm25.ts";
import { explainParts } from "../../query/score/explain.ts";
import { explain, scoresOf, storeOf } from "./support.ts";

const filler = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(" ");
/** Texts of these lengths; the first ones contain the word with these frequencies. */
const texts = (lengths: number[], word: string, frequencies: number[]) =>
  lengths.map((length, index) => {
    const frequency = frequencies[index] ?? 0;
    return { message: `${Array(frequency).fill(word).join(" ")} ${filler(length - frequency)}` };
  });

describe("BM25", () => {
  let store: LogStore | undefined;
  afterEach(() => store?.close());

  // Scores of real nodes, from the vendor's documentation and from published explanations.
  const published: [name: string, lengths: number[], frequencies: number[], expected: number][] = [
    ["one of five documents, shorter than the average", [3, 6, 6, 6, 6], [1], 1.6943598],
    ["a word that stands twice, in every document", [4, 2, 3], [2, 1, 1], 0.16786805],
    ["one of three, longer than the average", [20, 15, 16], [1], 0.91478837],
    ["two of three", [6, 5, 6], [1, 1], 2.2 * 0.47000363 * 0.44386417],
    ["as long as the average", [2, 2, 2], [1, 1, 1], 0.13353139],
  ];
  test.each(published)("scores as published: %s", async (_, lengths, frequencies, expected) => {
    store = await storeOf(texts(lengths, "wanted", frequencies));
    const scores = await scoresOf(store, { match: { message: "wanted" } });
    expect(scores.get("0")).toBeCloseTo(expected, 6);
  });

  test("a published phrase: the sum of its words' idf", () => {
    const { value, details } = explainParts({
      what: 'text:"a b"',
      boost: 1,
      documents: 23140,
      matching: [
        { term: "a", documents: 27 },
        { term: "b", documents: 40 },
      ],
      frequency: 1,
      length: 8,
      averageLength: 8.217415809631348,
    });
    const [, idf, tf] = details[0]?.details ?? [];
    expect(idf?.value).toBeCloseTo(13.083234786987305, 6);
    expect(tf?.value).toBeCloseTo(0.4595191478729248, 6);
    expect(value).toBeCloseTo(2.2 * 13.083234786987305 * 0.4595191478729248, 4);
  });

  test("lengths are encoded in one byte: exact up to 39, then in growing steps", () => {
    expect([0, 1, 23, 24, 39, 40, 41, 42, 54, 56, 58, 60].map(encodedLength)).toEqual([
      0, 1, 23, 24, 39, 40, 40, 42, 54, 56, 56, 60,
    ]);
    expect(encodedLength(1000)).toBe(984);
    expect(score(2.2, 1, lengthFactor(1000, 500))).toBe(score(2.2, 1, lengthFactor(984, 500)));
  });

  test("a long document is scored by its encoded length", async () => {
    store = await storeOf(texts([100, 10, 10, 10], "wanted", [1]));
    const idf = Math.log(1 + (4 - 1 + 0.5) / 1.5);
    // 100 is 24 + 76, of which four leading bits are 72.
    const expected = 2.2 * idf * (1 / (1 + 1.2 * (0.25 + (0.75 * 96) / 32.5)));
    expect((await scoresOf(store, { match: { message: "wanted" } })).get("0")).toBeCloseTo(expected, 5);
  });

  test("a keyword has no length: its score is its idf", async () => {
    store = await storeOf([{ level: "error" }, { level: "info" }, { level: "info" }, { other: 1 }]);
    const scores = await scoresOf(store, { term: { level: { value: "info", boost: 2 } } });
    expect(scores.get("1")).toBeCloseTo(2 * Math.log(1 + (3 - 2 + 0.5) / 2.5), 6);
  });

  test("boosts multiply through enclosing clauses", async () => {
    store = await storeOf(texts([3, 6, 6, 6, 6], "wanted", [1]));
    const query = {
      bool: {
        boost: 2,
        must: [{ bool: { boost: 1.5, should: { match: { message: { query: "wanted", boost: 3 } } } } }],
      },
    };
    expect((await scoresOf(store, query)).get("0")).toBeCloseTo(9 * 1.6943598, 4);
  });

  test("a repeated word counts twice", async () => {
    store = await storeOf(texts([3, 6, 6, 6, 6], "wanted", [1]));
    const scores = await scoresOf(store, { match: { message: "wanted Wanted" } });
    expect(scores.get("0")).toBeCloseTo(2 * 1.6943598, 5);
  });

  test("an explanation has the score, and the vendor's words", async () => {
    store = await storeOf(texts([3, 6, 6, 6, 6], "wanted", [1]));
    const found = await explain(store, { match: { message: "wanted" } }, 0);
    expect(found?.value).toBeCloseTo(1.6943598, 6);
    expect(found?.description).toBe("weight(message:wanted in 0) [PerFieldSimilarity], result of:");
    expect(found?.details[0]?.description).toBe("score(freq=1.0), computed as boost * idf * tf from:");
    expect(found?.details[0]?.details.map(({ value }) => value)).toEqual(
      [2.2, 1.3862944, 0.5555556].map((value) => expect.closeTo(value, 6)),
    );
    expect(await explain(store, { match: { message: "wanted" } }, 1)).toBeUndefined();
  });

  test("explanations agree with scores", async () => {
    store = await storeOf([
      { message: "pool is empty empty", level: "error", n: 1 },
      { message: "pool", level: "info", n: 2 },
    ]);
    const queries = [
      { match: { message: "empty pool" } },
      { match_phrase: { message: "pool is" } },
      { term: { level: "error" } },
      {
        bool: {
          must: { match: { message: "pool" } },
          should: [{ term: { level: "error" } }, { range: { n: { gte: 1 } } }],
        },
      },
      { query_string: { query: "message:(pool OR empty) level:error" } },
    ];
    for (const query of queries) {
      const scores = await scoresOf(store, query);
      expect((await explain(store, query, 0))?.value).toBeCloseTo(scores.get("0") ?? Number.NaN, 5);
    }
  });
});
