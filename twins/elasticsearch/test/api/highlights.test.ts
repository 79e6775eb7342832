/** Highlights of hits. Each row is an answer of a real 8.15.0. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  const documents = [
    { t: "the retry pool, retry the pool", s: "pay" },
    { t: "the timeout error upstream error card GET exhausted upstream timeout upstream card", s: "web-1" },
  ];
  for (const [number, document] of documents.entries()) {
    await sandbox.raw("PUT", `/logs/_doc/${number}`, document);
  }
});
afterAll(() => sandbox.stop());

/** The highlighted texts of the first hit. */
async function marked(query: object, highlight: object): Promise<unknown> {
  const answer = await sandbox.raw("POST", "/logs/_search", { query, highlight, sort: "_doc" });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.hits.hits[0].highlight;
}

const whole = { number_of_fragments: 0 };

test.each<[query: object, shown: string | undefined]>([
  [{ match: { t: "retry" } }, "the <em>retry</em> pool, <em>retry</em> the pool"],
  [{ match_phrase: { t: "the pool" } }, "the retry pool, retry <em>the pool</em>"],
  [
    { match_phrase: { t: { query: "the pool", slop: 1 } } },
    "<em>the retry pool</em>, retry <em>the pool</em>",
  ],
  [{ match_phrase_prefix: { t: "retry po" } }, "the <em>retry pool</em>, retry the pool"],
  [{ prefix: { t: "re" } }, "the <em>retry</em> pool, <em>retry</em> the pool"],
  [{ wildcard: { t: "r*t?y" } }, "the <em>retry</em> pool, <em>retry</em> the pool"],
  [{ fuzzy: { t: "retri" } }, "the <em>retry</em> pool, <em>retry</em> the pool"],
  [
    { match_bool_prefix: { t: "pool ret" } },
    "the <em>retry</em> <em>pool</em>, <em>retry</em> the <em>pool</em>",
  ],
  [
    { query_string: { query: "pool -upstream", default_field: "t" } },
    "the retry <em>pool</em>, retry the <em>pool</em>",
  ],
  [
    { bool: { must: { match: { t: "pool" } }, must_not: { match: { t: "upstream" } } } },
    "the retry <em>pool</em>, retry the <em>pool</em>",
  ],
  [
    {
      boosting: { positive: { term: { t: "pool" } }, negative: { term: { t: "the" } }, negative_boost: 0.5 },
    },
    "the retry <em>pool</em>, retry the <em>pool</em>",
  ],
  [
    {
      function_score: {
        query: { term: { t: "pool" } },
        functions: [{ weight: 2, filter: { term: { t: "the" } } }],
      },
    },
    "the retry <em>pool</em>, retry the <em>pool</em>",
  ],
])("%j marks %s", async (query, shown) => {
  expect(await marked(query, { ...whole, fields: { t: {} } })).toEqual({ t: [shown] });
});

test("each word of a phrase that is looked for in another field is marked by itself", async () => {
  const query = { match_phrase: { t: "the pool" } };
  const highlight = { ...whole, require_field_match: false, fields: { t: {} } };
  expect(await marked(query, highlight)).toEqual({ t: ["the retry pool, retry <em>the</em> <em>pool</em>"] });
});

test("a sub-field is marked by what is looked for in it alone, as a whole", async () => {
  const fields = { "s*": {} };
  expect(await marked({ match: { s: "pay" } }, { fields })).toEqual({ s: ["<em>pay</em>"] });
  expect(await marked({ term: { "s.keyword": "pay" } }, { fields })).toEqual({
    "s.keyword": ["<em>pay</em>"],
  });
});

test("one tag of a schema is used for every word", async () => {
  const highlight = { ...whole, tags_schema: "styled", fields: { t: {} } };
  expect(await marked({ match: { t: "retry the" } }, highlight)).toEqual({
    t: [
      '<em class="hlt1">the</em> <em class="hlt1">retry</em> pool, <em class="hlt1">retry</em> <em class="hlt1">the</em> pool',
    ],
  });
});

test.each<[options: object, shown: string[]]>([
  [
    { fragment_size: 10 },
    ["error <em>upstream</em>", "exhausted <em>upstream</em>", "timeout <em>upstream</em>"],
  ],
  [
    { fragment_size: 1_000 },
    [
      "the timeout error <em>upstream</em> error card GET exhausted <em>upstream</em> timeout <em>upstream</em> card",
    ],
  ],
])("passages of %j are made around what is marked: %j", async (options, shown) => {
  expect(await marked({ match: { t: "upstream" } }, { fields: { t: options } })).toEqual({ t: shown });
});

test.each<[size: number, shown: string]>([
  [4, "the retry"],
  [3, "the"],
  [12, "the retry pool"],
  [200, "the retry pool, retry the pool"],
])(
  "of a text without a match the first %d characters are shown, to the end of a word",
  async (size, shown) => {
    expect(await marked({ match_all: {} }, { fields: { t: { no_match_size: size } } })).toEqual({
      t: [shown],
    });
  },
);
