/** A search of many fields runs in one pass: its matches and scores are those of searching each field by itself. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { explain, idsOf, scoresOf, storeOf } from "./support.ts";

const word = fc.constantFrom("error", "errors", "upstream", "peer", "reset", "a", "b", "5");
const text = fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => words.join(" "));
const names = ["t0", "t1", "t2", "t3"] as const;
const event = fc.record(
  Object.fromEntries(
    names.map((name) => [name, fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 2 }))]),
  ),
  { requiredKeys: [] },
);
const field = fc
  .tuple(
    fc.constantFrom(...names, ...names.map((name) => `${name}.keyword`)),
    fc.constantFrom("", "^2", "^0.5"),
  )
  .map(([name, boost]) => ({ name, weighted: `${name}${boost}` }));
const fields = fc.uniqueArray(field, { minLength: 2, maxLength: 6, selector: ({ name }) => name });

/** A query of some fields, and the share of the fields that are not the best. */
interface Asked {
  of(fields: readonly string[]): object;
  tieBreaker: number;
}

const multiMatch: fc.Arbitrary<Asked> = fc
  .record({
    type: fc.constantFrom("best_fields", "most_fields", "phrase", "phrase_prefix", "bool_prefix"),
    query: text,
    operator: fc.constantFrom("or", "and"),
    slop: fc.constantFrom(0, 0, 1, 3),
    tie: fc.constantFrom(undefined, 0, 0.3, 1),
    fuzziness: fc.constantFrom(undefined, 1, 2),
    minimum: fc.constantFrom(undefined, 2),
    max_expansions: fc.constantFrom(1, 50),
  })
  .map(({ type, query, operator, slop, tie, fuzziness, minimum, max_expansions }) => {
    const isPhrase = type.startsWith("phrase");
    const options = {
      ...(isPhrase ? { slop } : { operator, minimum_should_match: minimum }),
      ...(type === "best_fields" || type === "most_fields" ? { fuzziness } : {}),
      ...(type === "phrase_prefix" ? { max_expansions } : {}),
    };
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    return {
      tieBreaker: tie ?? (type === "most_fields" || type === "bool_prefix" ? 1 : 0),
      of: (asked) => ({
        multi_match: {
          type,
          query,
          fields: asked,
          ...(tie === undefined ? {} : { tie_breaker: tie }),
          ...given,
        },
      }),
    };
  });

const clause = fc.oneof(
  word,
  text.map((one) => `"${one}"`),
  fc.tuple(text, fc.constantFrom(1, 3)).map(([one, slop]) => `"${one}"~${slop}`),
  fc.constantFrom("err*", "u*", "errro~1", "pear~", "rest~2"),
);
const onlyQueryString = fc.constantFrom("*ro*", "?", "/err.*/", "[error TO peer]", "{b TO *}");

const queryString: fc.Arbitrary<Asked> = fc
  .tuple(fc.oneof(clause, onlyQueryString), fc.constantFrom(0, 0.3, 1))
  .map(([query, tie_breaker]) => ({
    tieBreaker: tie_breaker,
    of: (asked) => ({ query_string: { query, fields: asked, tie_breaker } }),
  }));
const simpleQueryString: fc.Arbitrary<Asked> = clause.map((query) => ({
  // Scores of words are added; of phrases the best counts.
  tieBreaker: query.startsWith('"') ? 0 : 1,
  of: (asked) => ({ simple_query_string: { query, fields: asked } }),
}));

test("random searches of several fields, together and one by one, agree on documents and scores", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 10 }),
      fc.array(fc.tuple(fc.oneof(multiMatch, queryString, simpleQueryString), fields), {
        minLength: 4,
        maxLength: 8,
      }),
      async (events, queries) => {
        // The first event fixes the type of every field; the second is overwritten, so its words no longer count.
        const first = Object.fromEntries(names.map((name) => [name, "error upstream peer"]));
        const store = await storeOf([first, { t0: "error a b 5" }, ...events]);
        try {
          await store.write([{ id: "1", index: "logs", source: JSON.stringify({ t1: "reset b" }) }]);
          for (const [asked, named] of queries) {
            // Phrase prefixes are refused on fields other than texts.
            const isStart = JSON.stringify(asked.of([])).includes('"phrase_prefix"');
            const of = isStart ? named.filter(({ name }) => !name.endsWith(".keyword")) : named;
            if (of.length === 0) continue;
            const expected = new Map<string, number[]>();
            for (const { weighted } of of) {
              for (const [id, score] of await scoresOf(store, asked.of([weighted]), "vendor")) {
                expected.set(id, [...(expected.get(id) ?? []), score]);
              }
            }
            const together = asked.of(of.map(({ weighted }) => weighted));
            const scores = await scoresOf(store, together, "vendor");
            expect([...scores.keys()].sort(), JSON.stringify(together)).toEqual([...expected.keys()].sort());
            expect((await idsOf(store, together, "vendor")).sort()).toEqual([...expected.keys()].sort());
            for (const [id, each] of expected) {
              const best = Math.max(...each);
              const sum = each.reduce((total, score) => total + score, 0);
              const score = best + asked.tieBreaker * (sum - best);
              expect(scores.get(id), JSON.stringify(together)).toBeCloseTo(score, 4);
            }
          }
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: Number(process.env.AGREEMENT_RUNS ?? 8) },
  );
});

test("an explanation names the fields that match, and adds up to the score", async () => {
  const store = await storeOf([{ t0: "error peer", t1: "error", t2: "reset" }, { t1: "error upstream" }]);
  const query = { multi_match: { query: "error peer", type: "most_fields", fields: ["t0", "t1", "t2"] } };
  const scores = await scoresOf(store, query, "vendor");
  const explained = await explain(store, query, 0, "vendor");
  expect(explained?.value).toBeCloseTo(scores.get("0") ?? Number.NaN, 5);
  expect(explained?.details.map(({ details }) => details.length)).toHaveLength(2);
  await store.close();
});
