/**
 * Which mistake of a query is reported, and by which exception. Measured on Elasticsearch 8.15.0.
 * A shard rewrites the query, then builds its clauses in an order of its own; it reports the first mistake.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let twin: SearchSandbox;

beforeAll(async () => {
  twin = await startSearch({ fidelity: "vendor" });
  const properties = {
    at: { type: "date" },
    t: { type: "text" },
    k: { type: "keyword" },
    n: { type: "integer" },
    ok: { type: "boolean" },
  };
  await twin.raw("PUT", "/made", { mappings: { properties } });
  await twin.raw("PUT", "/made/_doc/1?refresh=true", { at: "2026-01-01", t: "foo bar", k: "x", n: 5 });
});

afterAll(() => twin.stop());

interface Refusal {
  error: {
    root_cause: { type: string; reason: string }[];
    caused_by?: { type: string };
    failed_shards?: { reason: { type: string; caused_by?: { reason: string } } }[];
  };
}

async function search(query: unknown) {
  const { status, body } = await twin.raw("POST", "/made/_search", { query });
  return { status, body: body as Refusal & { hits: { total: { value: number }; max_score: number | null } } };
}

const unfit = { term: { n: "x" } };
const noNumber = 'failed to create query: For input string: "x"';
const noDate = (text: string) => {
  const reason = `failed to parse date field [${text}] with format [strict_date_optional_time||epoch_millis]`;
  return `${reason}: [${reason}]`;
};

describe("a query that is refused", () => {
  const refused: [query: object, type: string, reason: string][] = [
    [{ range: { at: { gt: "of" } } }, "parse_exception", noDate("of")],
    [{ match: { at: "of" } }, "parse_exception", noDate("of")],
    [{ bool: { must: unfit, filter: { range: { at: { gt: "of" } } } } }, "parse_exception", noDate("of")],
    [
      { bool: { filter: unfit, must_not: { term: { n: "y" } } } },
      "query_shard_exception",
      noNumber.replace("x", "y"),
    ],
    [
      { function_score: { query: { term: { n: "y" } }, functions: [{ weight: 2, filter: unfit }] } },
      "query_shard_exception",
      noNumber,
    ],
    [
      { match_phrase_prefix: { k: "x" } },
      "query_shard_exception",
      "failed to create query: Can only use phrase prefix queries on text fields - not on [k] which is of type [keyword]",
    ],
    [
      { match_bool_prefix: { n: { query: "5 6", analyzer: "standard" } } },
      "query_shard_exception",
      "Can only use prefix queries on keyword, text and wildcard fields - not on [n] which is of type [integer]",
    ],
    [
      { regexp: { at: "5" } },
      "query_shard_exception",
      "Can only use regexp queries on keyword and text fields - not on [at] which is of type [date]",
    ],
    [
      { match: { n: { query: "5", fuzziness: 1 } } },
      "query_shard_exception",
      "failed to create query: Can only use fuzzy queries on keyword and text fields - not on [n] which is of type [integer]",
    ],
    [
      { query_string: { query: "a~1.5", default_field: "t" } },
      "query_shard_exception",
      "failed to create query: fuzziness needs to be one of 0.0, 1.0 or 2.0 but was 1.5",
    ],
    // Clauses around it are skipped before their dates are read only where the query's text decides enough.
    [
      { bool: { must: { term: { nope: 1 } }, should: { range: { at: { gt: "of" } } } } },
      "parse_exception",
      noDate("of"),
    ],
    [{ bool: { filter: { range: { at: { gt: "2025" } } }, must: unfit } }, "query_shard_exception", noNumber],
    [
      { range: { at: { gt: 1_769_904_000_000, lte: "2026-02-10" } } },
      "parse_exception",
      noDate("2026-02-10").replaceAll("strict_date_optional_time||epoch_millis", "epoch_millis"),
    ],
    [{ term: { n: "x " } }, "query_shard_exception", noNumber],
    // One of two characters changed: 1 - 2 / 1.
    ...["scoring_boolean", "constant_score_boolean"].map((rewrite): [object, string, string] => [
      { fuzzy: { t: { value: "f", fuzziness: 2, rewrite } } },
      "illegal_argument_exception",
      "boost must be a positive float, got -1.0",
    ]),
    // Clauses parsed before the mistake are built before it is reported.
    [{ query_string: { query: "n:x (", default_field: "t" } }, "query_shard_exception", noNumber],
    [
      { query_string: { query: "(foo n:5", default_field: "t" } },
      "query_shard_exception",
      "Failed to parse query [(foo n:5]",
    ],
    // Fields are visited in hash map order: `at`, `t`, `k`, `ok`, `n`.
    [{ query_string: { query: "x", lenient: false } }, "parse_exception", noDate("x")],
    [
      { function_score: { field_value_factor: { field: "n", factor: -1 } } },
      "illegal_argument_exception",
      "field value function must not produce negative scores, but got: [-5.0] for field value: [5.0]",
    ],
    [
      { function_score: { field_value_factor: { field: "n", factor: 0, modifier: "ln" } } },
      "illegal_argument_exception",
      "field value function must not produce negative scores, but got: [-Infinity] for field value: [5.0]; consider using ln1p or ln2p instead of ln to avoid negative scores",
    ],
  ];
  test.each(refused)("%j: %s", async (query, type, reason) => {
    const { status, body } = await search(query);
    expect(status).toBe(400);
    expect(body.error.root_cause[0]).toMatchObject({ type, reason });
  });

  test("a range within brackets has TO between its bounds", async () => {
    for (const [text, found] of [
      ["n:[1 2]", '" <RANGE_GOOP> "2 "" at line 1, column 5.'],
      ["n:[ TO 2]", '" <RANGE_GOOP> "2 "" at line 1, column 7.'],
      ["n:[1]", '" "]" "] "" at line 1, column 4.'],
      ['k:["x y" "z"]', '" <RANGE_QUOTED> "\\"z\\" "" at line 1, column 9.'],
    ]) {
      const { body } = await search({ query_string: { query: text } });
      const reason = body.error.failed_shards?.[0]?.reason.caused_by?.reason;
      expect(reason).toBe(`Cannot parse '${text}': Encountered ${found}`);
    }
  });

  test("_validate lists its shards", async () => {
    const answer = await twin.raw("POST", "/made/_validate/query", { query: unfit });
    expect(answer.body).toEqual({ valid: false, _shards: { total: 1, successful: 1, failed: 0 } });
  });
});

test("_validate finds nothing, so it finds no score that may not be", async () => {
  const query = { function_score: { field_value_factor: { field: "n", factor: -1 } } };
  expect((await twin.raw("POST", "/made/_search", { query })).status).toBe(400);
  const answer = await twin.raw("POST", "/made/_validate/query", { query });
  expect(answer.body).toMatchObject({ valid: true });
});

test("_validate does not call queries invalid that only this twin does not serve", async () => {
  const answer = await twin.raw("POST", "/made/_validate/query", { query: { regexp: { k: "~x" } } });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("[~] is not supported")]);
});

describe("clauses that cannot match are skipped", () => {
  const nothing: object[] = [
    { bool: { filter: { terms: { k: [] } }, should: unfit } },
    { bool: { must: { ids: { values: [] } }, must_not: unfit } },
    { bool: { must: { exists: { field: "nope" } }, should: unfit } },
    // The range lies beyond all documents, so the shard skips the query.
    { bool: { filter: { range: { at: { gt: "2027" } } }, must: unfit } },
    { bool: { filter: { range: { at: { lt: "2026-01-01" } } }, must_not: unfit } },
    { bool: { filter: { range: { at: { gte: "now" } } }, minimum_should_match: "33.3%" } },
    { constant_score: { filter: { bool: { must: [{ range: { at: { lte: "now-10y/y" } } }, unfit] } } } },
    // Only matches of the whole query are scored, with or without a minimum.
    {
      bool: {
        must: { term: { k: "y" } },
        filter: { function_score: { field_value_factor: { field: "n", factor: -1 }, min_score: 2 } },
      },
    },
    {
      bool: {
        must: [{ term: { k: "y" } }, { function_score: { field_value_factor: { field: "n", factor: -1 } } }],
      },
    },
    { bool: { must: { fuzzy: { nope: "x" } }, should: unfit } },
    { bool: { must: unfit, must_not: { match_all: {} } } },
    { bool: { must: unfit, must_not: { bool: {} } } },
    { bool: { must: { range: { at: { gt: "of" } } }, filter: { match_none: {} } } },
    { constant_score: { filter: { bool: { must: unfit, filter: { term: { nope: 1 } } } } } },
    { regexp: { nope: "(" } },
  ];
  test.each(nothing)("%j", async (query) => {
    const { status, body } = await search(query);
    expect([status, body.hits?.total.value]).toEqual([200, 0]);
  });

  test("but a match of a field that is not there is", async () => {
    const { status } = await search({ bool: { must: { match: { nope: "x" } }, should: unfit } });
    expect(status).toBe(400);
  });
});

describe("min_score ignores outer boosts where scores are not used", () => {
  const whole = { function_score: { boost: 2, min_score: 2 } };

  test.each<[query: object]>([
    [{ function_score: { boost: 0, min_score: 2 } }],
    [{ constant_score: { filter: whole } }],
    [{ bool: { filter: whole } }],
    [{ bool: { filter: whole, boost: 2 } }],
    [{ bool: { filter: { bool: { must: whole } } } }],
    [{ bool: { boost: 0, must: { bool: { boost: 3, must: whole } } } }],
  ])("%j", async (query) => {
    expect((await search(query)).body.hits.total.value).toBe(0);
  });

  test("a filter's own boost counts no more, but the one around both does", async () => {
    const query = { bool: { must: { term: { k: "x" } }, filter: whole, boost: 2 } };
    expect((await search(query)).body.hits.total.value).toBe(1);
  });

  test("a count has no scores", async () => {
    const { body } = await twin.raw("POST", "/made/_count", { query: whole });
    expect(body).toMatchObject({ count: 0 });
    const sorted = { query: whole, sort: "n" };
    expect((await twin.raw("POST", "/made/_search", sorted)).body).toMatchObject({
      hits: { total: { value: 0 } },
    });
  });

  test("min_score is computed even so", async () => {
    const query = { function_score: { field_value_factor: { field: "n", factor: -1 }, min_score: 0.5 } };
    expect((await twin.raw("POST", "/made/_count", { query })).status).toBe(400);
  });
});

test("one word of a document does not match two of a phrase prefix", async () => {
  const start = (text: string) => search({ match_phrase_prefix: { t: { query: text, slop: 2 } } });
  expect((await start("foo fo")).body.hits.total.value).toBe(0);
  expect((await start("foo ba")).body.hits.total.value).toBe(1);
});

test("a range of letters is of those alone, whatever the case of the rest", async () => {
  const found = async (value: string) =>
    (await search({ regexp: { k: { value, case_insensitive: true } } })).body.hits.total.value;
  const patterns = ["[W-Z]", "[^X]", "[w-z]", "[XY]", "[^W-Z]", "X"];
  expect(await Promise.all(patterns.map(found))).toEqual([0, 0, 1, 1, 1, 1]);
});

describe("what is read", () => {
  const found: [query: object, score: number][] = [
    // An operator before a space is a word.
    [{ query_string: { query: "foo ! bar", default_field: "t" } }, 0.5753642],
    [{ query_string: { query: "! ! foo", default_field: "t" } }, 0.2876821],
    [{ query_string: { query: '"foo bar"~x', default_field: "t" } }, 0.5753642],
    [{ query_string: { query: '"bar foo"~2.7', default_field: "t" } }, 0.2751742],
    // A numeric bound makes both bounds milliseconds.
    [{ range: { at: { gt: "5", lt: 1_800_000_000_000 } } }, 1],
    [{ match_phrase: { at: { query: "2026", slop: 1 } } }, 1],
    [{ simple_query_string: { query: "foo* 5*", fields: ["t", "n"], analyze_wildcard: true } }, 1],
    [{ fuzzy: { t: { value: "foo", fuzziness: 0, rewrite: "constant_score" } } }, 1],
    [{ fuzzy: { t: { value: "foo", fuzziness: 0, rewrite: "scoring_boolean" } } }, 0.2876821],
    // Without functions the boost mode is always multiply.
    [{ function_score: { boost: 2, min_score: 2 } }, 2],
    [{ function_score: { boost: 3, boost_mode: "replace" } }, 3],
    // A single function for all documents is not combined: its weight is the score.
    [{ function_score: { functions: [{ weight: 0.5 }], score_mode: "avg" } }, 0.5],
    // Terms that the analyzer removes are no clause.
    [{ query_string: { query: '+at:"2026-02-01" foo', default_field: "t", analyzer: "stop" } }, 0.2876821],
    [{ regexp: { k: { value: "[W-Z]|X", case_insensitive: true } } }, 1],
  ];
  test.each(found)("%j", async (query, score) => {
    const { status, body } = await search(query);
    expect([status, body.hits?.total.value]).toEqual([200, 1]);
    expect(body.hits.max_score).toBeCloseTo(score, 6);
  });
});
