/** Answers of a search: pages, order, source, highlights, totals. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

const COUNT = 30;
const events = Array.from({ length: COUNT }, (_, number) => ({
  "@timestamp": new Date(Date.UTC(2026, 0, 1, number)).toISOString(),
  message:
    number % 3 === 0 ? `Payment ${number} failed. The card was declined.` : `Payment ${number} is done`,
  level: number % 3 === 0 ? "error" : "info",
  bytes: number * 10,
  ratio: number / 4 + 0.125,
  http: { status: number % 2 === 0 ? 200 : 500 },
  ...(number % 10 === 0 ? {} : { user: `user-${number % 4}` }),
}));

let sandbox: SearchSandbox;
let vendor: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch();
  vendor = await startSearch({ fidelity: "vendor" });
  for (const { client } of [sandbox, vendor]) {
    await client.bulk({
      operations: events.flatMap((event, number) => [
        { index: { _index: "logs", _id: `e${number}` } },
        event,
      ]),
    });
  }
});
afterAll(() => Promise.all([sandbox.stop(), vendor.stop()]));

const search = async (body: object, query = "") => {
  const answer = await sandbox.raw("POST", `/logs/_search${query}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const idsOf = (answer: { hits: { hits: { _id: string }[] } }) => answer.hits.hits.map(({ _id }) => _id);

describe("pages", () => {
  test("have ten hits in the order of writing, with a total", async () => {
    const answer = await search({});
    expect(answer).toMatchObject({
      timed_out: false,
      _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
      hits: { total: { value: COUNT, relation: "eq" }, max_score: 1 },
    });
    expect(idsOf(answer)).toEqual(events.slice(0, 10).map((_, number) => `e${number}`));
    expect(idsOf(await search({ from: 28, size: 10 }))).toEqual(["e28", "e29"]);
    expect(await search({ size: 0 })).toMatchObject({ hits: { max_score: null, hits: [] } });
  });

  test("count up to the requested bound", async () => {
    expect((await search({ track_total_hits: 5 })).hits.total).toEqual({ value: 5, relation: "gte" });
    expect((await search({ track_total_hits: false })).hits).not.toHaveProperty("total");
    expect((await search({}, "?rest_total_hits_as_int=true")).hits.total).toBe(COUNT);
  });

  test("beyond the window are refused in the vendor's words", async () => {
    const answer = await sandbox.raw("POST", "/logs/_search", { from: 9_995 });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: {
          type: "search_phase_execution_exception",
          root_cause: [
            {
              type: "illegal_argument_exception",
              reason: expect.stringContaining(
                "from + size must be less than or equal to: [10000] but was [10005]",
              ),
            },
          ],
        },
      },
    });
  });

  test("follow one another by search_after, with missing values, too", async () => {
    for (const sort of [
      [{ user: "desc" }, { bytes: "asc" }],
      [{ user: { order: "asc", missing: "_first" } }, "_doc"],
      [{ ratio: "desc" }],
    ]) {
      const seen: string[] = [];
      let after: unknown[] | undefined;
      for (let page = 0; page < 5; page++) {
        const answer = await search({ size: 7, sort, ...(after ? { search_after: after } : {}) });
        expect(answer.hits.total.value).toBe(COUNT);
        seen.push(...idsOf(answer));
        after = answer.hits.hits.at(-1)?.sort;
      }
      expect(new Set(seen).size).toBe(COUNT);
      expect(seen).toHaveLength(COUNT);
    }
  });

  test("of a scroll and of a point in time do not see what is written meanwhile", async () => {
    const { client } = vendor;
    const { id } = await client.openPointInTime({ index: "logs", keep_alive: "1m" });
    const first = await client.search({ index: "logs", scroll: "1m", size: 20 });
    await client.index({ index: "logs", id: "late", document: { late: true } });
    const next = await client.scroll({ scroll_id: String(first._scroll_id), scroll: "1m" });
    expect(next.hits.hits).toHaveLength(COUNT - 20);
    expect(await client.search({ pit: { id }, size: 0 })).toMatchObject({
      pit_id: id,
      hits: { total: { value: COUNT } },
    });
    expect(await client.closePointInTime({ id })).toEqual({ succeeded: true, num_freed: 1 });
    await expect(client.search({ pit: { id } })).rejects.toMatchObject({ statusCode: 404 });
    await client.delete({ index: "logs", id: "late" });
  });

  test("are all given by the client's scroll helper", async () => {
    const seen: unknown[] = [];
    for await (const { documents } of sandbox.client.helpers.scrollSearch({
      index: "logs",
      size: 8,
      sort: ["bytes"],
    })) {
      seen.push(...documents);
    }
    expect(seen).toEqual(events);
  });
});

describe("order", () => {
  test("is by fields, with the values in each hit", async () => {
    const answer = await search({
      size: 2,
      sort: [{ ratio: "desc" }, { "@timestamp": { order: "asc", format: "yyyy-MM-dd" } }],
    });
    expect(answer.hits).toMatchObject({
      max_score: null,
      hits: [{ _id: "e29", _score: null, sort: [7.375, "2026-01-02"] }, { _id: "e28" }],
    });
    const missing = await search({ size: 1, sort: [{ user: { order: "asc", missing: "_first" } }] });
    expect(missing.hits.hits[0]).toMatchObject({ _id: "e0", sort: [null] });
  });

  test("by text or by a missing field is an error in vendor fidelity", async () => {
    expect(
      (await vendor.raw("POST", "/logs/_search", { sort: ["level"] })).body.error.root_cause[0],
    ).toMatchObject({
      type: "illegal_argument_exception",
      reason: expect.stringMatching(/^Fielddata is disabled on \[level\] in \[logs\]/),
    });
    expect(
      (await vendor.raw("POST", "/logs/_search", { sort: ["none"] })).body.error.root_cause[0],
    ).toMatchObject({
      type: "query_shard_exception",
      reason: "No mapping found for [none] in order to sort on",
      index: "logs",
    });
    expect(
      (await vendor.raw("POST", "/logs/_search", { sort: [{ none: { unmapped_type: "long" } }] })).status,
    ).toBe(200);
  });

  test("by score tells each score, as a single-precision number", async () => {
    const { text } = await sandbox.raw("POST", "/logs/_search", {
      query: { match: { message: "declined" } },
      size: 1,
    });
    expect(text).toMatch(/"max_score":\d\.\d{4,},/);
    const constant = await sandbox.raw("POST", "/logs/_search", { size: 1 });
    expect(constant.text).toContain('"max_score":1.0,');
  });
});

describe("parts", () => {
  test("of the source, by patterns", async () => {
    const one = async (_source: unknown) => (await search({ size: 1, _source })).hits.hits[0]._source;
    expect(await one(["http.*", "by*"])).toEqual({ http: { status: 200 }, bytes: 0 });
    expect(await one({ includes: ["http", "level"], excludes: ["*.status"] })).toEqual({
      http: {},
      level: "error",
    });
    expect(await one(false)).toBeUndefined();
  });

  test("as fields, in the vendor's own formats", async () => {
    const answer = await sandbox.raw("POST", "/logs/_search", {
      size: 1,
      _source: false,
      fields: ["level*", { field: "@timestamp", format: "epoch_millis" }, "http.status"],
      docvalue_fields: ["ratio"],
    });
    expect(answer.body.hits.hits[0]).not.toHaveProperty("_source");
    expect(answer.body.hits.hits[0].fields).toEqual({
      level: ["error"],
      "level.keyword": ["error"],
      "@timestamp": ["1767225600000"],
      "http.status": [200],
      ratio: [0.125],
    });
    expect(answer.text).toContain('"ratio":[0.125]');
  });

  test("with the words that were looked for marked", async () => {
    const answer = await search({
      size: 1,
      query: { match: { message: "declined payment" } },
      highlight: {
        pre_tags: ["<b>"],
        post_tags: ["</b>"],
        fields: { "mess*": { number_of_fragments: 0 }, level: {} },
      },
    });
    expect(answer.hits.hits[0].highlight).toEqual({
      message: ["<b>Payment</b> 0 failed. The card was <b>declined</b>."],
    });
    const fragments = await search({
      size: 1,
      query: { match: { message: "declined" } },
      highlight: { fields: { message: { fragment_size: 20 } } },
    });
    expect(fragments.hits.hits[0].highlight.message).toEqual(["The card was <em>declined</em>"]);
  });

  test("with versions, sequence numbers and explanations", async () => {
    const answer = await search({
      size: 1,
      version: true,
      seq_no_primary_term: true,
      explain: true,
      query: { term: { level: "error" } },
    });
    expect(answer.hits.hits[0]).toMatchObject({
      _shard: "[logs][0]",
      _version: 1,
      _seq_no: 0,
      _primary_term: 1,
    });
    expect(answer.hits.hits[0]._explanation.value).toBeCloseTo(answer.hits.max_score, 5);
  });
});

describe("narrowing", () => {
  test("a post filter leaves the aggregations as they are", async () => {
    const answer = await search({
      size: 0,
      post_filter: { term: { level: "error" } },
      aggs: { levels: { terms: { field: "level" } } },
    });
    expect(answer.hits.total.value).toBe(10);
    expect(answer.aggregations.levels.buckets).toMatchObject([
      { key: "info", doc_count: 20 },
      { key: "error", doc_count: 10 },
    ]);
  });

  test("typed keys name the kind of each aggregation", async () => {
    const answer = await search(
      { size: 0, aggs: { levels: { terms: { field: "level" } } } },
      "?typed_keys=true",
    );
    expect(Object.keys(answer.aggregations)).toEqual(["sterms#levels"]);
  });

  test("collapse keeps the best hit of each value", async () => {
    const answer = await search({ collapse: { field: "level" }, sort: [{ bytes: "desc" }] });
    expect(answer.hits).toMatchObject({
      total: { value: COUNT },
      hits: [
        { _id: "e29", fields: { level: ["info"] } },
        { _id: "e27", fields: { level: ["error"] } },
      ],
    });
  });

  test("min_score and terminate_after end a search early", async () => {
    expect((await search({ min_score: 2 })).hits.total.value).toBe(0);
    expect(await search({ terminate_after: 5 })).toMatchObject({
      terminated_early: true,
      hits: { total: { value: 5 } },
    });
  });

  test("q takes a query string, and counts as well", async () => {
    expect(
      (await sandbox.raw("GET", "/logs/_search?q=level:error&size=1&sort=bytes:desc")).body.hits,
    ).toMatchObject({
      total: { value: 10 },
      hits: [{ _id: "e27" }],
    });
    expect((await sandbox.raw("GET", "/_count?q=level:error")).body).toEqual({
      count: 10,
      _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
    });
  });
});

describe("indices", () => {
  test("are named in shard failures", async () => {
    await vendor.client.index({ index: "metrics", id: "m", document: { bytes: 1 } });
    const query = { term: { bytes: "many" } };
    const answer = await vendor.raw("POST", "/metrics/_search", { query });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: {
          root_cause: [{ type: "query_shard_exception", index: "metrics" }],
          failed_shards: [{ index: "metrics", reason: { caused_by: { type: "number_format_exception" } } }],
        },
      },
    });
    const { failed_shards, root_cause } = answer.body.error;
    const nodes = await vendor.raw("GET", "/_nodes");
    expect(Object.keys(nodes.body.nodes)).toEqual([failed_shards[0].node]);
    const mapped = await vendor.raw("GET", "/metrics/_settings");
    expect(mapped.body.metrics.settings.index.uuid).toBe(root_cause[0].index_uuid);
    // Only mistakes in the search's own query are reported as a query that could not be created.
    const filtered = await vendor.raw("POST", "/metrics/_search", { aggs: { few: { filter: query } } });
    const cause = { type: "number_format_exception", reason: 'For input string: "many"' };
    expect(filtered).toMatchObject({
      status: 400,
      body: { error: { root_cause: [cause], failed_shards: [{ index: "metrics", reason: cause }] } },
    });
    await vendor.client.delete({ index: "metrics", id: "m" });
  });

  test("bound a global aggregation", async () => {
    await vendor.client.index({ index: "metrics", id: "m", document: { load: 1 } });
    const body = { size: 0, query: { match_none: {} }, aggs: { all: { global: {} } } };
    expect((await vendor.raw("POST", "/metrics/_search", body)).body.aggregations.all.doc_count).toBe(1);
    expect((await vendor.raw("POST", "/logs,metrics/_search", body)).body.aggregations.all.doc_count).toBe(
      COUNT + 1,
    );
    await vendor.client.delete({ index: "metrics", id: "m" });
  });

  test("that are missing stand for the whole dataset in specification fidelity, and are a 404 in vendor fidelity", async () => {
    expect((await sandbox.raw("GET", "/filebeat-2026/_count")).body.count).toBe(COUNT);
    expect(await vendor.raw("GET", "/filebeat-2026/_count")).toMatchObject({
      status: 404,
      body: {
        error: {
          type: "index_not_found_exception",
          reason: "no such index [filebeat-2026]",
          index_uuid: "_na_",
        },
      },
    });
    expect((await vendor.raw("GET", "/filebeat-2026/_search?ignore_unavailable=true")).body).toMatchObject({
      _shards: { total: 0 },
      hits: { total: { value: 0 }, max_score: 0 },
    });
    expect((await vendor.raw("GET", "/none-*/_count")).body.count).toBe(0);
    expect((await vendor.raw("GET", "/none-*/_count?allow_no_indices=false")).status).toBe(404);
  });

  test("are named by patterns, lists, exclusions and dates", async () => {
    await vendor.control("PUT", "/clock", { now: "2026-03-05T10:00:00Z", frozen: true });
    await vendor.client.index({ index: "<app-{now/d}>", id: "1", document: { app: true } });
    const count = async (expression: string) =>
      (await vendor.raw("GET", `/${encodeURIComponent(expression)}/_count`)).body.count;
    expect(await count("app-2026.03.05")).toBe(1);
    expect(await count("<app-{now/d{yyyy.MM.dd|UTC}}>")).toBe(1);
    expect(await count("app-*,logs")).toBe(COUNT + 1);
    expect(await count("*,-logs")).toBe(1);
    expect(await count("_all")).toBe(COUNT + 1);
    await vendor.client.delete({ index: "app-2026.03.05", id: "1" });
  });
});

test("a profile has the vendor's shape, and what collapse does not do is refused", async () => {
  expect((await search({ profile: true })).profile.shards).toMatchObject([
    {
      index: "logs",
      searches: [{ query: [{ time_in_nanos: expect.any(Number) }], collector: [expect.any(Object)] }],
    },
  ]);
  const collapse = { field: "level", inner_hits: { name: "more" } };
  expect(await sandbox.raw("POST", "/logs/_search", { collapse })).toMatchObject({
    status: 400,
    body: { error: { reason: expect.stringContaining("[inner_hits]") } },
  });
});

test("documents are changed by query", async () => {
  const { client } = vendor;
  await client.bulk({
    operations: [1, 2, 3].flatMap((number) => [{ index: { _index: "old" } }, { number }]),
  });
  const query = { range: { number: { gte: 2 } } };
  expect(await client.updateByQuery({ index: "old", query })).toMatchObject({ total: 2, updated: 2 });
  expect(await client.deleteByQuery({ index: "old", query })).toMatchObject({
    total: 2,
    deleted: 2,
    failures: [],
  });
  expect((await client.count({ index: "old" })).count).toBe(1);
  await client.deleteByQuery({ index: "old", query: { match_all: {} } });
});

test("many searches at once have an answer or an error each", async () => {
  const { responses } = await sandbox.client.msearch({
    searches: [{ index: "logs" }, { size: 1 }, {}, { query: { match_all: {} }, sort: "bytes", from: 20_000 }],
  });
  expect(responses).toMatchObject([
    { status: 200, hits: { total: { value: COUNT } } },
    { status: 400, error: { type: "search_phase_execution_exception" } },
  ]);
});

test.each([
  ['{"from":-1}', "illegal_argument_exception"],
  ['{"nope":1}', "parsing_exception"],
  ['{"size":0,"aggs":{"a":{"nope":{}}}}', "parsing_exception"],
  ["[1]", "parsing_exception"],
  ["", "parsing_exception"],
])("of many searches, %s refuses all: none can be read", async (line, type) => {
  const refused = await sandbox.raw("POST", "/logs/_msearch", `{}\n{"size":0}\n{}\n${line}\n`, {
    "content-type": "application/x-ndjson",
  });
  expect(refused).toMatchObject({ status: 400, body: { error: { type } } });
});

test("_msearch ignores a last header without a body", async () => {
  const { body } = await sandbox.raw("POST", "/logs/_msearch", '{}\n{"size":0}\n{}\n', {
    "content-type": "application/x-ndjson",
  });
  expect(body.responses).toHaveLength(1);
});

test("the result of an async search is fetched later", async () => {
  const { client } = sandbox;
  const started = await client.asyncSearch.submit({ index: "logs", size: 0, keep_on_completion: true });
  const id = String(started.id);
  expect(await client.asyncSearch.get({ id })).toMatchObject({
    is_running: false,
    is_partial: false,
    response: { hits: { total: { value: COUNT } } },
  });
  await client.asyncSearch.delete({ id });
  await expect(client.asyncSearch.get({ id })).rejects.toMatchObject({ statusCode: 404 });
});

test("the journal shows the SQL of a search and its dropped clauses", async () => {
  await search({ query: { bool: { must: [{ term: { level: "error" } }, { fuzzy: { level: "x" } }] } } });
  const { requests } = (await sandbox.control("GET", "/requests?operation=search&limit=1000")).body;
  const { notes } = requests.at(-1);
  expect(notes.sql[0]).toMatch(/SELECT.*'error'/);
  expect(notes.dropped).toMatchObject([{ clause: "fuzzy" }]);
});

test.each([
  ["search", "POST", "/logs/_search", "search, queue capacity = 1000"],
  ["bulk", "POST", "/_bulk", "write, queue capacity = 10000"],
  ["document.index", "PUT", "/logs/_doc/never", "write, queue capacity = 10000"],
])(
  "an armed 429 of %s names the executor that the vendor would have it wait for",
  async (operation, method, path, queue) => {
    await sandbox.control("POST", "/faults", { effect: "status", status: 429, operation, times: 1 });
    const { status, body } = await sandbox.raw(method, path, "{}\n");
    expect([status, body.error.reason]).toEqual([
      429,
      `rejected execution of TimedRunnable on TaskExecutor[name = ${queue}]`,
    ]);
  },
);

test.each(["GET", "DELETE"])(
  "%s of a name that only an API could have is the vendor's refusal of the name",
  async (method) => {
    for (const one of [sandbox, vendor]) {
      expect(await one.raw(method, "/_nonsense")).toMatchObject({
        status: 400,
        body: {
          error: {
            type: "invalid_index_name_exception",
            reason: "Invalid index name [_nonsense], must not start with '_'.",
            index_uuid: "_na_",
            index: "_nonsense",
          },
        },
      });
      expect((await one.raw("HEAD", "/_nonsense")).status).toBe(400);
    }
  },
);

test("a fault that is armed is answered in the vendor's shape", async () => {
  await sandbox.control("POST", "/faults", {
    effect: "status",
    status: 429,
    operation: "search",
    times: 1,
  });
  await expect(sandbox.client.search({ index: "logs" })).rejects.toMatchObject({
    statusCode: 429,
    body: { error: { type: "es_rejected_execution_exception" }, status: 429 },
  });
  expect((await sandbox.client.search({ index: "logs" })).hits.hits).toHaveLength(10);
});
