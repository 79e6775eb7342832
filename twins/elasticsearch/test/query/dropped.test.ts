/** Clauses that `specification` drops, compared with `vendor`, which has them. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, idsOf, storeOf } from "./support.ts";

let store: LogStore;
beforeAll(async () => {
  const words = ["red", "green", "blue", "reed"];
  store = await storeOf(
    Array.from({ length: 16 }, (_, number) => ({ n: number % 4, m: number >> 2, word: words[number % 3] })),
  );
});
afterAll(() => store.close());

const known = fc
  .tuple(fc.constantFrom("n", "m"), fc.integer({ min: 0, max: 4 }))
  .map(([field, value]) => ({ term: { [field]: value } }));
const unknown = fc.constantFrom("r", "g", "x").map((value) => ({ prefix: { "word.keyword": value } }));
const { query } = fc.letrec<{ query: object; bool: object }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3 },
    { weight: 2, arbitrary: known },
    { weight: 2, arbitrary: unknown },
    tie("bool"),
  ),
  bool: fc
    .record(
      {
        must: fc.array(tie("query"), { maxLength: 2 }),
        filter: fc.array(tie("query"), { maxLength: 1 }),
        should: fc.array(tie("query"), { maxLength: 3 }),
        must_not: fc.array(tie("query"), { maxLength: 2 }),
        minimum_should_match: fc.constantFrom("1", "2", "-1", "50%", "0"),
      },
      { requiredKeys: [] },
    )
    .map((bool) => ({ bool })),
}));

test("dropping a clause never loses a document that the whole query finds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(query, { minLength: 1, maxLength: 3 }),
      fc.constantFrom("must", "should", "must_not"),
      async (clauses, option) => {
        const asked = { bool: { [option]: clauses } };
        const found = await idsOf(store, asked);
        const missing = (await idsOf(store, asked, "vendor")).filter((id) => !found.includes(id));
        expect(missing).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});

const prefix = { prefix: { "word.keyword": "r" } };
const all = Array.from({ length: 16 }, (_, number) => `${number}`);

test.each<[bool: object, expected: string[]]>([
  [{ should: [prefix, { term: { n: 1 } }], minimum_should_match: 1 }, all],
  [{ should: [prefix, { term: { n: 1 } }] }, all],
  [{ must: [prefix], should: [{ term: { n: 1 } }] }, all],
  [{ must_not: [{ bool: { must: [prefix] } }] }, all],
  [{ must_not: [{ bool: { should: [prefix, { term: { m: 0 } }] } }] }, all.slice(4)],
  [{ must_not: [{ bool: { must_not: [prefix] } }] }, all],
  [{ must_not: [prefix, { term: { m: 0 } }] }, all.slice(4)],
  [{ must: [{ prefix: "x" }, { term: { m: 0 } }] }, all.slice(0, 4)],
  [{ must: [{ term: 5 }, { nonsense: [] }, { term: { m: 0 } }] }, all.slice(0, 4)],
])("%j finds as much as it would with any meaning of what is left out", async (bool, expected) => {
  expect((await idsOf(store, { bool })).sort((a, b) => Number(a) - Number(b))).toEqual(expected);
});

test("a clause whose body is not an object is noted like any other dropped clause", () => {
  const query = { bool: { must: [{ prefix: "x" }, { term: 5 }, { nonsense: null }] } };
  expect(compile(store, query).dropped).toEqual([
    { clause: "prefix", path: "query.bool.must[0]", reason: expect.stringContaining("specification") },
    { clause: "term", path: "query.bool.must[1]", reason: "the body of [term] is not an object" },
    { clause: "nonsense", path: "query.bool.must[2]", reason: "[nonsense] is not a clause of the Query DSL" },
  ]);
});
