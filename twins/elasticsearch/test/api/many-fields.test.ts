/** Searches that name no field stay within the memory limit on datasets of many fields. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

const DOCUMENTS = 1000;
const FIELDS = 100;
const words = [
  "error",
  "upstream",
  "timeout",
  "cache",
  "hit",
  "miss",
  "reset",
  "peer",
  "a",
  "b",
  "5",
  "slow",
];

/** The same words in the same places on each run. */
function* texts(): Generator<string, never> {
  for (let state = 7; ; ) {
    const chosen = Array.from({ length: 4 }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return words[Math.floor((state / 2_147_483_648) * words.length)];
    });
    yield chosen.join(" ");
  }
}

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  const made = texts();
  for (let from = 0; from < DOCUMENTS; from += 250) {
    const lines = Array.from({ length: 250 }, (_, index) => {
      const values = Array.from({ length: FIELDS }, (_, field) => [`f${field}`, made.next().value]);
      return `{"index":{}}\n${JSON.stringify({ seq: from + index, ...Object.fromEntries(values) })}\n`;
    });
    const headers = { "content-type": "application/x-ndjson" };
    await sandbox.raw("POST", "/logs/_bulk", lines.join(""), headers);
  }
});
afterAll(() => sandbox.stop());

const multiMatch = (type: string, more: object = {}) => ({
  multi_match: { query: "error upstream", type, ...more },
});
const constantScore = (query: string) => ({ constant_score: { filter: { query_string: { query } } } });
const queries: readonly object[] = [
  ...[
    '"error upstream"',
    "upstream AND error",
    '"error cache"~3',
    "up*eam",
    "upst*",
    "/ups.*/",
    "[a TO c]",
  ].map((query) => ({ query_string: { query } })),
  ...['upstream NOT "a b 5"', "pear~1"].map((query) => ({ query_string: { query } })),
  ...['cache -"a b 5"~3', "cache + hit", "cac*", "cachee~1"].map((query) => ({
    simple_query_string: { query },
  })),
  ...["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"].map((type) =>
    multiMatch(type),
  ),
  multiMatch("best_fields", { operator: "and" }),
  multiMatch("most_fields", { fuzziness: 1 }),
  { simple_query_string: { query: 'cache | -"a b 5"~3 | -"reset b a"~2' } },
  { bool: { should: ['"a b error"~3', '"reset b"~3'].map(constantScore), minimum_should_match: 1 } },
  {
    bool: {
      should: [
        { query_string: { query: "cache AND hit" } },
        ...['"a b error"~3', '"a b"~3'].map(constantScore),
      ],
      minimum_should_match: 1,
    },
  },
];

test.each(queries.map((query) => [JSON.stringify(query), query]))("%s", async (_, query) => {
  const { status, body } = await sandbox.raw("POST", "/logs/_search", { query, size: 3 });
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  expect(body.hits.hits).toHaveLength(3);
  const counted = await sandbox.raw("POST", "/logs/_count", { query });
  expect(counted.body.count).toBeGreaterThanOrEqual(body.hits.total.value);
});

const queryString = (query: string) => ({ query_string: { query } });
const filters = {
  f0: queryString("reset AND peer"),
  f1: queryString('cache AND "hit miss"'),
  f2: queryString("error AND slow AND timeout"),
};
const anyFilter = { bool: { should: Object.values(filters) } };
const least = { m: { min: { field: "seq" } } };
const search = (body: object) => sandbox.raw("POST", "/logs/_search", { size: 0, ...body });

/** The filters bucket of a query. */
async function bucketOf(query: object) {
  const { status, body } = await search({ query, aggs: least, track_total_hits: true });
  expect(status).toBe(200);
  return { doc_count: body.hits.total.value, m: body.aggregations.m };
}

test("filters find what their queries find one by one, several requests at once beside a small search", async () => {
  const aggs = {
    a: { filters: { filters, other_bucket_key: "rest" }, aggs: least },
    f: { filter: filters.f1, aggs: { ...least, by: { terms: { field: "f0.keyword", size: 1 } } } },
    g: { global: {}, aggs: { f: { filter: filters.f0, aggs: least } } },
  };
  const query = { range: { seq: { lt: 600 } } };
  const [small, ...answers] = await Promise.all([
    search({ query: { match: { f0: "error" } } }),
    ...Array.from({ length: 4 }, () => search({ query, aggs })),
  ]);
  expect(small?.status).toBe(200);
  const among = (filter: object) => bucketOf({ bool: { filter: [query, filter] } });
  const buckets = {
    f0: await among(filters.f0),
    f1: await among(filters.f1),
    f2: await among(filters.f2),
    rest: await among({ bool: { must_not: [anyFilter] } }),
  };
  const everywhere = await bucketOf(filters.f0);
  expect(buckets.f1.doc_count).toBeGreaterThan(0);
  for (const { status, body } of answers) {
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    expect(body.aggregations).toMatchObject({
      a: { buckets },
      f: buckets.f1,
      g: { doc_count: DOCUMENTS, f: everywhere },
    });
  }
});
