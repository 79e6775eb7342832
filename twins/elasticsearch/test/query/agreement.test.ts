import fc from "fast-check";
import { expect, test } from "vitest";
import { type Event, evaluate } from "./naive.ts";
import { compile, idsOf, scoresOf, storeOf } from "./support.ts";

const word = fc.constantFrom("alpha", "beta", "gamma", "delta", "pi");
const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
const level = fc.constantFrom("error", "info", "Warn ing", "a*b");
const number = fc.integer({ min: -3, max: 3 });

const event: fc.Arbitrary<Event> = fc.record(
  {
    text: fc.oneof(
      { weight: 5, arbitrary: text },
      { weight: 1, arbitrary: fc.constant("!") },
      text.map((one) => `${one} pi`.repeat(30)),
    ),
    tags: fc.array(word, { minLength: 1, maxLength: 3 }),
    level,
    n: number,
    ok: fc.boolean(),
  },
  { requiredKeys: [] },
);

const boost = fc.constantFrom(0.5, 1, 2);
const differentWords = fc.uniqueArray(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" "));
const analysed = fc.constantFrom("text", "tags");

const { query } = fc.letrec<{ query: object; leaf: object; bool: object; disMax: object }>((tie) => ({
  leaf: fc.oneof(
    fc.constant({ match_all: {} }),
    fc
      .record(
        { query: text.filter((one) => one !== ""), operator: fc.constantFrom("or", "and"), boost },
        { requiredKeys: ["query"] },
      )
      .chain((options) => analysed.map((field) => ({ match: { [field]: options } }))),
    fc
      .record({
        query: text.filter((one) => one !== ""),
        minimum_should_match: fc.integer({ min: 1, max: 4 }),
      })
      .map((options) => ({
        match: { text: options },
      })),
    fc
      .record({ query: differentWords, slop: fc.constantFrom(0, 1, 2, 5, 120), boost })
      .chain((options) => analysed.map((field) => ({ match_phrase: { [field]: options } }))),
    fc.record({ value: level, boost }).map((options) => ({ term: { level: options } })),
    fc.record({ value: word, boost }).map((options) => ({ term: { tags: options } })),
    fc.record({ value: number, boost }).map((options) => ({ term: { n: options } })),
    fc.record({ value: fc.boolean(), boost }).map((options) => ({ term: { ok: options } })),
    fc.array(level, { minLength: 1 }).map((values) => ({ terms: { level: values } })),
    fc.array(word, { minLength: 1 }).map((values) => ({ terms: { tags: values } })),
    fc
      .record(
        { gte: number, lt: fc.float({ min: -3, max: 4, noNaN: true }), boost },
        { requiredKeys: ["boost"] },
      )
      .map((options) => ({
        range: { n: options },
      })),
    fc.constantFrom("text", "tags", "n", "nope").map((field) => ({ exists: { field } })),
    fc
      .constantFrom("*r*", "e????", "in*o", "*", "?nfo", "err*", "*ing")
      .map((value) => ({ wildcard: { level: { value, boost: 2 } } })),
  ),
  bool: fc
    .record(
      {
        must: fc.array(tie("query"), { maxLength: 2 }),
        should: fc.array(tie("query"), { maxLength: 3 }),
        filter: fc.array(tie("query"), { maxLength: 1 }),
        must_not: fc.array(tie("query"), { maxLength: 1 }),
        minimum_should_match: fc.integer({ min: 0, max: 2 }),
        boost,
      },
      { requiredKeys: [] },
    )
    .map((bool) => ({ bool })),
  disMax: fc
    .record({
      queries: fc.array(tie("query"), { minLength: 1, maxLength: 3 }),
      tie_breaker: fc.constantFrom(0, 0.3),
      boost,
    })
    .map((options) => ({ dis_max: options })),
  query: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: tie("leaf") },
    { weight: 3, arbitrary: tie("bool") },
    { weight: 1, arbitrary: tie("disMax") },
    { weight: 1, arbitrary: tie("leaf").map((filter) => ({ constant_score: { filter, boost: 1.5 } })) },
  ),
}));

/** Exact clauses on whole values, word clauses on `text`, as `vendor` distinguishes them by `.keyword`. */
function withKeywords(json: unknown, clause = ""): unknown {
  if (Array.isArray(json)) return json.map((item) => withKeywords(item, clause));
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      const whole =
        ["term", "terms", "wildcard"].includes(clause) && ["level", "tags", "text"].includes(name);
      return [whole ? `${name}.keyword` : name, withKeywords(value, name)];
    }),
  );
}

test("on random queries, SQL and a naive evaluator agree on documents and scores", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 12 }),
      fc.array(query, { minLength: 3, maxLength: 6 }),
      async (events, queries) => {
        // The first event fixes the type of every field.
        const all: Event[] = [{ text: "pi", tags: ["pi", "pi"], level: "info", n: 0, ok: true }, ...events];
        const store = await storeOf(all);
        try {
          for (const one of queries) {
            const expected = evaluate(all, one);
            const asked = withKeywords(one);
            const ids = await idsOf(store, asked, "vendor");
            expect(ids).toEqual([...expected.keys()].map(String));
            const scores = await scoresOf(store, asked, "vendor");
            for (const [index, score] of expected) {
              expect(scores.get(String(index))).toBeCloseTo(score, 3);
            }
          }
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: Number(process.env.AGREEMENT_RUNS ?? 12) },
  );
});

test("compiling is repeatable", async () => {
  const store = await storeOf([{ text: "pi" }]);
  const asked = { match: { text: "pi" } };
  expect(compile(store, asked).scored.text).toBe(compile(store, asked).scored.text);
  await store.close();
});
