/** Members of hits and their order. Each row is an answer of a real 8.15.0. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  await sandbox.raw("PUT", "/logs/_doc/1", { at: "2026-02-01T10:00:00Z", t: "error in pool", n: 1 });
  await sandbox.raw("PUT", "/logs/_doc/2", {
    at: "2026-02-02T10:00:00Z",
    t: "timeout",
    n: 1,
    tags: ["b", "a", "b"],
  });
});
afterAll(() => sandbox.stop());

const search = async (body: object) => {
  const { status, body: answer } = await sandbox.raw("POST", "/logs/_search", body);
  expect(status, JSON.stringify(answer)).toBe(200);
  return answer;
};

describe("the order", () => {
  test.each<[sort: unknown, maxScore: number | null, shown: unknown]>([
    ["_score", 1, undefined],
    [["_score"], 1, undefined],
    [[{ _score: "desc" }], 1, undefined],
    [[{ _score: "asc" }], null, [1]],
    [["_score", "_score"], null, [1, 1]],
    [["_score", "n"], null, [1, 1]],
    [
      [{ nope: { unmapped_type: "date", format: "strict_date_optional_time" } }],
      null,
      ["+292278994-08-17T07:12:55.807Z"],
    ],
    [[{ nope: { unmapped_type: "double" } }], null, ["Infinity"]],
    [[{ nope: { unmapped_type: "float", order: "desc" } }], null, ["-Infinity"]],
    [[{ nope: { unmapped_type: "ip" } }], null, [null]],
  ])("%j has the greatest score %j, and hits show %j of it", async (sort, maxScore, shown) => {
    const { hits } = await search({ sort });
    expect({ maxScore: hits.max_score, shown: hits.hits[0].sort }).toEqual({ maxScore, shown });
  });

  test("by an unmapped text is refused", async () => {
    const body = { sort: [{ nope: { unmapped_type: "text" } }] };
    const { status, body: answer } = await sandbox.raw("POST", "/logs/_search", body);
    expect({ status, reason: answer.error.root_cause[0].reason }).toEqual({
      status: 400,
      reason: expect.stringMatching(/^Fielddata is disabled on \[__anonymous_\] in \[logs\]/),
    });
  });
});

describe("pages after a hit", () => {
  test.each<[key: string, after: unknown, ids: string[]]>([
    ["n", "0.5", ["1", "2"]],
    ["n", "1e0", []],
    ["n", " 0 ", ["1", "2"]],
    ["at", "2026-02-01T12:00:00Z", ["2"]],
    ["at", "1769940000000", ["2"]],
  ])("%s %j", async (key, after, ids) => {
    const { hits } = await search({ sort: [key], search_after: [after] });
    expect(hits.hits.map(({ _id }: { _id: string }) => _id)).toEqual(ids);
  });

  const field = (name: string) => `Failed to parse search_after value for field [${name}].`;
  test.each<[sort: unknown[], after: unknown[], reason: string]>([
    [["_score"], [1], "Sort must contain at least one field."],
    [["_score", "n"], ["x", 1], field("null")],
    [["_score", "n"], [true, 1], field("null")],
    [["_doc"], ["x"], field("null")],
    [["n"], ["x"], field("n")],
    [["n"], [""], field("n")],
    [
      ["at"],
      ["zz"],
      "failed to parse date field [zz] with format [strict_date_optional_time||epoch_millis]: [failed to parse date field [zz] with format [strict_date_optional_time||epoch_millis]]",
    ],
  ])("%j %j are refused by the shard: %s", async (sort, search_after, reason) => {
    const { status, body } = await sandbox.raw("POST", "/logs/_search", { sort, search_after });
    const { type, root_cause: causes } = body.error;
    expect({ status, type, reason: causes[0].reason }).toEqual({
      status: 400,
      type: "search_phase_execution_exception",
      reason,
    });
  });
});

describe("hits without stored fields", () => {
  test("have no id and no source", async () => {
    const { hits } = await search({ stored_fields: "_none_", docvalue_fields: ["n"], size: 1 });
    expect(hits.hits).toEqual([{ _index: "logs", _score: 1, fields: { n: [1] } }]);
  });

  test.each<[more: object, reason: string]>([
    [{ _source: ["at"] }, "1: [stored_fields] cannot be disabled if [_source] is requested;"],
    [{ fields: ["at"] }, "1: [stored_fields] cannot be disabled when using the [fields] option;"],
  ])("cannot have %j", async (more, reason) => {
    const { status, body } = await sandbox.raw("POST", "/logs/_search", { stored_fields: "_none_", ...more });
    expect({ status, reason: body.error.reason }).toEqual({
      status: 400,
      reason: `Validation Failed: ${reason}`,
    });
  });
});

describe("failures in the reduce phase have no cause on a shard", () => {
  const days = (interval: string, more: object) => ({
    date_histogram: { field: "at", fixed_interval: interval, min_doc_count: 0 },
    ...more,
  });
  test.each<[aggs: object, reason: string]>([
    [
      { a: days("1s", {}) },
      "Trying to create too many buckets. Must be less than or equal to: [65536] but this number of buckets was exceeded. This limit can be set by changing the [search.max_buckets] cluster level setting.",
    ],
    [
      {
        a: days("1d", {
          aggs: { m: { max: { field: "n" } }, c: { cumulative_sum: { buckets_path: "m.x" } } },
        }),
      },
      "path not supported for [m]: [x]",
    ],
    [
      {
        a: days("1d", {
          aggs: { m: { stats: { field: "n" } }, c: { cumulative_sum: { buckets_path: "m" } } },
        }),
      },
      "No enum constant org.elasticsearch.search.aggregations.metrics.InternalStats.Metrics.m",
    ],
  ])("%j", async (aggs, reason) => {
    const { status, body } = await sandbox.raw("POST", "/logs/_search", { size: 0, aggs });
    const { root_cause: causes, phase, reason: told, caused_by: cause } = body.error;
    expect({ status, causes, phase, told, reason: cause.reason }).toEqual({
      status: 400,
      causes: [],
      phase: "rank-feature",
      told: "",
      reason,
    });
  });
});

test("YAML quotes its strings", async () => {
  const rows = await sandbox.raw("GET", "/_cat/indices/logs?format=yaml&h=index,docs.count");
  expect(rows.text).toBe('---\n- index: "logs"\n  docs.count: "2"\n');
  expect((await sandbox.raw("GET", "/_cat/aliases/nothing?format=yaml")).text).toBe("--- []\n");
});

describe("fields of a hit", () => {
  test("are what `fields` says, where `docvalue_fields` name them too", async () => {
    const { hits } = await search({
      fields: ["at", { field: "tags.keyword" }],
      docvalue_fields: [{ field: "at", format: "epoch_millis" }, "tags.keyword", "n"],
    });
    expect(hits.hits.map(({ fields }: { fields: object }) => fields)).toEqual([
      { at: ["2026-02-01T10:00:00.000Z"], n: [1] },
      { at: ["2026-02-02T10:00:00.000Z"], "tags.keyword": ["b", "a", "b"], n: [1] },
    ]);
  });

  test("are numbers in a pattern of digits, when `docvalue_fields` has one", async () => {
    const { hits } = await search({ docvalue_fields: [{ field: "n", format: "000.0" }] });
    expect(hits.hits[0].fields).toEqual({ n: ["001.0"] });
  });

  test("requested twice follow the last request", async () => {
    const { hits } = await search({
      docvalue_fields: [
        { field: "at", format: "epoch_millis" },
        { field: "at", format: "yyyy" },
      ],
    });
    expect(hits.hits[0].fields).toEqual({ at: ["2026"] });
    const { body } = await sandbox.raw("POST", "/logs/_search", {
      docvalue_fields: [{ field: "t", format: "yyyy" }, "t"],
    });
    expect(body.error.root_cause[0].reason).toMatch(/^Fielddata is disabled on \[t\]/);
  });
});

test.each<[body: object, endedEarly: boolean | undefined]>([
  [{ size: 0, track_total_hits: true }, false],
  [{ size: 0, track_total_hits: true, sort: "at" }, false],
  [{ size: 0, track_total_hits: 5 }, undefined],
  [{ size: 0 }, undefined],
  [{ size: 1, track_total_hits: true }, undefined],
  [{ size: 0, track_total_hits: true, aggs: { a: { max: { field: "n" } } } }, undefined],
])("%j says that it has ended early: %j", async (body, endedEarly) => {
  expect((await search(body)).terminated_early).toBe(endedEarly);
});

test.each<[count: unknown, total: object | undefined]>([
  [0, { value: 0, relation: "gte" }],
  [1, { value: 1, relation: "gte" }],
  [2, { value: 2, relation: "eq" }],
  [-1, undefined],
  [false, undefined],
])("hits counted up to %j are %j", async (count, total) => {
  expect((await search({ track_total_hits: count })).hits.total).toEqual(total);
});

test("buckets of named filters are in the order of their names", async () => {
  const filters = { y: { match_all: {} }, x: { match_none: {} } };
  const { aggregations } = await search({ size: 0, aggs: { a: { filters: { filters, keyed: false } } } });
  expect(aggregations.a.buckets).toEqual([
    { key: "x", doc_count: 0 },
    { key: "y", doc_count: 2 },
  ]);
});

test("a search with no aggregations in `aggs` has none in its answer", async () => {
  expect(await search({ aggs: {} })).not.toHaveProperty("aggregations");
});

test("the hits of a bucket of all documents score 1, whatever the query says", async () => {
  const all = { global: {}, aggs: { best: { top_hits: { _source: false } } } };
  const { aggregations } = await search({ size: 0, query: { match: { t: "error" } }, aggs: { all } });
  expect(aggregations.all.best.hits).toMatchObject({ max_score: 1, hits: [{ _score: 1 }, { _score: 1 }] });
});

test.each<[terms: object, keys: unknown[]]>([
  [{ field: "nope", missing: "x", include: [] }, []],
  [{ field: "nope", missing: 0, exclude: ["0"] }, []],
  [{ field: "nope", missing: 0, include: ["0"] }, ["0"]],
  [{ field: "tags.keyword", include: [] }, []],
  [{ field: "n", include: [] }, [1]],
])("terms of %j are %j", async (terms, keys) => {
  const { aggregations } = await search({ size: 0, aggs: { a: { terms } } });
  expect(aggregations.a.buckets.map(({ key }: { key: unknown }) => key)).toEqual(keys);
});
