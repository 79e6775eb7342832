import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { boostOf, idf, lengthFactor, score } from "../../query/score/bm25.ts";
import { compile, errorOf, idsOf, scoresOf, storeOf } from "./support.ts";

const day = (number: number) =>
  new Date(Date.parse("2026-03-01T12:00:00Z") - number * 86_400_000).toISOString();
const events = [
  { title: "alpha beta", body: "gamma", rank: 10, "@timestamp": day(0), needed: 2, tags: ["a", "b"] },
  { title: "alpha", body: "alpha delta", rank: 1, "@timestamp": day(1), needed: 1, tags: ["a"] },
  { title: "gamma", body: "beta", rank: 100, "@timestamp": day(10), needed: 2, tags: ["a", "c"] },
  {
    title: "users",
    user: [
      { first: "Ann", last: "Smith", age: 30 },
      { first: "Bob", last: "Jones", age: 40 },
    ],
  },
  {
    title: "users",
    user: [
      { first: "Ann", last: "Jones", age: 20 },
      { first: "Cy", last: "Smith", age: 50 },
    ],
  },
];

describe("a clause of the vendor alone", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await storeOf(events);
  });
  afterAll(() => store.close());

  const matches: [name: string, query: object, ids: string][] = [
    ["constant_score", { constant_score: { filter: { match: { title: "alpha" } }, boost: 3 } }, "0 1"],
    [
      "dis_max",
      { dis_max: { queries: [{ match: { title: "alpha" } }, { match: { body: "beta" } }] } },
      "0 1 2",
    ],
    [
      "boosting",
      {
        boosting: {
          positive: { match: { title: "alpha" } },
          negative: { match: { body: "delta" } },
          negative_boost: 0.5,
        },
      },
      "0 1",
    ],
    ["multi_match", { multi_match: { query: "beta", fields: ["title", "body"] } }, "0 2"],
    ["multi_match on patterns", { multi_match: { query: "beta", fields: ["t*"] } }, "0"],
    [
      "multi_match best_fields wants all words in one field",
      { multi_match: { query: "alpha gamma", fields: ["title", "body"], operator: "and" } },
      "",
    ],
    [
      "multi_match cross_fields takes the fields as one",
      {
        multi_match: {
          query: "alpha gamma",
          fields: ["title", "body"],
          operator: "and",
          type: "cross_fields",
        },
      },
      "0",
    ],
    [
      "multi_match phrase",
      { multi_match: { query: "alpha delta", fields: ["title", "body"], type: "phrase" } },
      "1",
    ],
    [
      "multi_match bool_prefix",
      { multi_match: { query: "alpha del", fields: ["body"], type: "bool_prefix", operator: "and" } },
      "1",
    ],
    [
      "terms_set",
      { terms_set: { "tags.keyword": { terms: ["a", "b"], minimum_should_match_field: "needed" } } },
      "0 1",
    ],
    ["simple_query_string: all", { simple_query_string: { query: "alpha +beta", fields: ["title"] } }, "0"],
    [
      "simple_query_string: any",
      { simple_query_string: { query: "beta | gamma", fields: ["title"] } },
      "0 2",
    ],
    [
      "simple_query_string: not",
      { simple_query_string: { query: "alpha -delta", fields: ["title", "body"], default_operator: "and" } },
      "0",
    ],
    [
      "simple_query_string: phrase",
      { simple_query_string: { query: '"alpha beta"', fields: ["title"] } },
      "0",
    ],
    [
      "simple_query_string: prefix",
      { simple_query_string: { query: "gam*", fields: ["title", "body"] } },
      "0 2",
    ],
    ["simple_query_string: fuzzy", { simple_query_string: { query: "aplha~1", fields: ["title"] } }, "0 1"],
    [
      "simple_query_string has no mistakes",
      { simple_query_string: { query: '("alpha +', fields: ["title"] } },
      "0 1",
    ],
    [
      "nested asks each object by itself",
      {
        nested: {
          path: "user",
          query: {
            bool: { must: [{ match: { "user.first": "ann" } }, { match: { "user.last": "smith" } }] },
          },
        },
      },
      "3",
    ],
    [
      "without nested, values of different objects meet",
      { bool: { must: [{ match: { "user.first": "ann" } }, { match: { "user.last": "smith" } }] } },
      "3 4",
    ],
    ["nested on numbers", { nested: { path: "user", query: { range: { "user.age": { gt: 40 } } } } }, "4"],
  ];
  test.each(matches)("%s", async (_, query, ids) => {
    expect((await idsOf(store, query, "vendor")).join(" ")).toBe(ids);
  });

  const functions: [name: string, options: object, scores: number[]][] = [
    ["a weight", { weight: 3 }, [3, 3]],
    ["a field's value", { field_value_factor: { field: "rank", factor: 2 } }, [20, 2]],
    [
      "log1p of a field",
      { field_value_factor: { field: "rank", modifier: "log1p" } },
      [Math.log10(11), Math.log10(2)],
    ],
    [
      "the sum of several",
      {
        functions: [{ weight: 2 }, { weight: 5, filter: { match: { body: "delta" } } }],
        score_mode: "sum",
      },
      [2, 7],
    ],
    [
      "the weighted average",
      {
        functions: [
          { field_value_factor: { field: "rank" }, weight: 3 },
          { field_value_factor: { field: "needed" }, weight: 1 },
        ],
        score_mode: "avg",
      },
      [(30 + 2) / 4, (3 + 1) / 4],
    ],
    ["a decay of time", { exp: { "@timestamp": { scale: "1d", decay: 0.5 } } }, [1, 0.5]],
    ["a decay of numbers", { gauss: { rank: { origin: 10, scale: 9, decay: 0.25 } } }, [1, 0.25]],
    ["a linear decay", { linear: { rank: { origin: 10, scale: 9, decay: 0.5 } } }, [1, 0.5]],
    ["added to the query's", { weight: 4, boost_mode: "sum" }, [5, 5]],
    ["limited", { weight: 4, max_boost: 2 }, [2, 2]],
  ];
  test.each(functions)("function_score: %s", async (_, options, scores) => {
    const query = { constant_score: { filter: { match: { title: "alpha" } } } };
    const found = await scoresOf(store, { function_score: { query, ...options } }, "vendor");
    expect(found.size).toBe(2);
    [...found.values()].forEach((score, index) => {
      expect(score).toBeCloseTo(scores[index] ?? 0, 5);
    });
  });

  test("function_score: random is the same for the same seed", async () => {
    const query = { function_score: { random_score: { seed: 7, field: "_seq_no" } } };
    const first = await scoresOf(store, query, "vendor");
    expect(await scoresOf(store, query, "vendor")).toEqual(first);
    expect(new Set(first.values()).size).toBe(5);
  });

  test("function_score: with a seed, random is equal for equal values of the field, and for documents without one", async () => {
    const events = await storeOf([{ host: "a" }, { host: "b" }, { host: "a" }, { m: 1 }, { m: 2 }]);
    const random = async (random_score: object) => [
      ...(await scoresOf(events, { function_score: { random_score } }, "vendor")).values(),
    ];
    try {
      const [a, b, again, none, noneEither] = await random({ seed: "x", field: "host.keyword" });
      expect([again, noneEither]).toEqual([a, none]);
      expect(new Set([a, b, none]).size).toBe(3);
      expect(new Set(await random({ field: "host.keyword" })).size).toBe(5);
      expect(new Set(await random({ field: "no.such" })).size).toBe(5);
      expect(new Set(await random({ seed: 7 })).size).toBe(5);
      const { rootCause } = errorOf(() =>
        compile(events, { function_score: { random_score: { seed: 7, field: "no.such" } } }, "vendor"),
      );
      expect(rootCause?.reason).toMatch(
        /^failed to create query: Field \[no\.such\] is not mapped on \[\[logs\/.{22}\]\] and cannot be used as a source of random numbers\.$/,
      );
    } finally {
      await events.close();
    }
  });

  test("multi_match cross_fields: a word has the highest frequency of any field, plus one for each field below", async () => {
    const events = [
      { title: "smith jones", body: "will goes home" },
      { title: "will", body: "smith" },
      { title: "other words here", body: "smith smith again" },
      { body: "smith" },
    ];
    const named = await storeOf(events);
    const lengths = (field: "title" | "body") =>
      events.flatMap((event) => event[field]?.split(" ").length ?? []);
    /** @param matching the blended document frequency */
    const scoreIn = (field: "title" | "body", matching: number, length: number, frequency = 1) => {
      const all = lengths(field);
      const weight = boostOf(1) * idf(all.length, matching);
      const average = all.reduce((sum, one) => sum + one, 0) / all.length;
      return score(weight, frequency, lengthFactor(length, average));
    };
    try {
      const query = { multi_match: { type: "cross_fields", query: "smith", fields: ["title", "body"] } };
      const found = await scoresOf(named, query, "vendor");
      // Three bodies and one title have it: the title's frequency would be four, but only three documents have a title.
      const expected = [
        scoreIn("title", 3, 2),
        scoreIn("body", 3, 1),
        scoreIn("body", 3, 3, 2),
        scoreIn("body", 3, 1),
      ];
      expect([...found.keys()]).toEqual(["0", "1", "2", "3"]);
      [...found.values()].forEach((one, index) => {
        expect(one).toBeCloseTo(expected[index] ?? 0, 6);
      });
      const tie = { multi_match: { ...query.multi_match, query: "will", fields: ["title^3", "body"] } };
      // Equal frequencies: nothing is added.
      expect([...(await scoresOf(named, tie, "vendor")).values()]).toEqual([
        expect.closeTo(scoreIn("body", 1, 3), 6),
        expect.closeTo(3 * scoreIn("title", 1, 1), 5),
      ]);
    } finally {
      await named.close();
    }
  });

  test("function_score: min_score excludes documents", async () => {
    const query = { function_score: { field_value_factor: { field: "rank", missing: 0 }, min_score: 10 } };
    expect(await idsOf(store, query, "vendor")).toEqual(["0", "2"]);
  });

  test("dis_max: the score is the best, plus a share of the others", async () => {
    const queries = [
      { constant_score: { filter: { match: { title: "alpha" } }, boost: 2 } },
      { constant_score: { filter: { match: { body: "delta" } }, boost: 5 } },
    ];
    expect([
      ...(await scoresOf(store, { dis_max: { queries, tie_breaker: 0.5 } }, "vendor")).values(),
    ]).toEqual([2, 6]);
    expect([...(await scoresOf(store, { dis_max: { queries } }, "vendor")).values()]).toEqual([2, 5]);
  });

  test("boosting keeps a share of the score", async () => {
    const positive = { constant_score: { filter: { match: { title: "alpha" } }, boost: 4 } };
    const query = { boosting: { positive, negative: { match: { body: "delta" } }, negative_boost: 0.25 } };
    expect([...(await scoresOf(store, query, "vendor")).values()]).toEqual([4, 1]);
  });

  const refused: [query: object, type: string, reason: string][] = [
    [{ span_near: {} }, "illegal_argument_exception", "[span_near] query is not supported"],
    [{ geo_distance: {} }, "illegal_argument_exception", "[geo_distance] query is not supported"],
    [{ function_score: { script_score: {} } }, "illegal_argument_exception", "[script_score]"],
    [{ foo: {} }, "parsing_exception", "unknown query [foo]"],
    [{ mach: {} }, "parsing_exception", "unknown query [mach] did you mean [match]?"],
  ];
  test.each(refused)("%j is refused", (query, type, reason) => {
    const { cause } = errorOf(() => compile(store, query, "vendor"));
    expect(cause.type).toBe(type);
    expect(cause.reason).toContain(reason);
  });
});
