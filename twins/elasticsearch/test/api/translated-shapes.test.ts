/** Requests that the compiler does not recognise, with and without a model. */

import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { OPENAI_KEY, type OpenAiServer, startOpenAiServer } from "@offhook/platform/testing/openai-server";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import searchTwin from "../../index.ts";

const documents = [
  { "@timestamp": "2026-01-31T09:00:00Z", level: "error", ms: 4 },
  { "@timestamp": "2026-01-31T09:00:01Z", level: "info", ms: 1 },
  { "@timestamp": "2026-01-31T09:00:02Z", level: "error", ms: 2 },
];

const aggs = (definition: object) => ({ size: 0, aggs: { x: definition } });
const surprising = { surprising: { level: "err" } };
const matrix = { adjacency_matrix: { filters: { a: { match_all: {} } } } };

let server: OpenAiServer;
let twins: RunningTwins;
beforeAll(async () => {
  server = await startOpenAiServer();
  process.env.TRANSLATOR_KEY = OPENAI_KEY;
});
beforeEach(() => {
  server.requests.length = 0;
});
afterEach(() => twins.stop());
afterAll(async () => {
  delete process.env.TRANSLATOR_KEY;
  await server.stop();
});

async function start(config: string): Promise<void> {
  const yaml = `version: 1\nservices:\n  - name: elasticsearch\n    config: ${config}\n`;
  twins = await startEnvironment(yaml, { twins: [searchTwin] });
  const { url } = addressesOf(twins, "elasticsearch");
  const lines = documents.flatMap((source, id) => [{ index: { _index: "logs", _id: `${id}` } }, source]);
  const body = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
  const { status } = await request("POST", `${url}/_bulk?refresh`, {
    body,
    headers: { "content-type": "application/x-ndjson" },
  });
  expect(status).toBe(200);
}

const model = () =>
  `model: { base_url: "${server.endpoint.baseUrl}", api_key_env: TRANSLATOR_KEY, name: small-model }`;

/** Makes the model answer with each of these in turn, then repeat the last. */
function answerWith(...contents: string[]): void {
  const left = [...contents];
  server.answer = (response) => {
    const content = left.length > 1 ? left.shift() : left[0];
    response.end(JSON.stringify({ choices: [{ message: { content } }] }));
  };
}

const ask = (body: unknown, path = "/logs/_search") =>
  request("POST", `${addressesOf(twins, "elasticsearch").url}${path}`, {
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });

/** The last question to the model. */
function lastQuestion(): string {
  const { messages } = JSON.parse(String(server.requests.at(-1)?.body)) as {
    messages: { content: string }[];
  };
  return messages[1]?.content ?? "";
}

/** Requests, each with the error that the vendor, or this twin in its place, gives. */
const shapes: [what: string, body: object, refused: RegExp, path?: string][] = [
  ["a list as the query", { query: [surprising] }, /Unknown key for a START_ARRAY in \[query\]/],
  ["a text as the query", { query: "errors" }, /Unknown key for a VALUE_STRING in \[query\]/],
  ["a list as the post filter", { post_filter: [] }, /Unknown key for a START_ARRAY in \[post_filter\]/],
  ["a list of aggregations", { aggs: [] }, /Unknown key for a START_ARRAY in \[aggs\]/],
  ["a member of no search", { find: { level: "error" } }, /Unknown key for a START_OBJECT in \[find\]/],
  ["a member not served", { knn: { field: "v", query_vector: [1] } }, /does not search vectors/],
  ["a member of no count", { find: 1 }, /request does not support \[find\]/, "/logs/_count"],
  ["an aggregation that is none", aggs({ most_frequent: {} }), /Unknown aggregation type \[most_frequent\]/],
  ["an aggregation not served", aggs(matrix), /\[adjacency_matrix\] aggregations are not supported/],
  [
    "an aggregation in another",
    aggs({ terms: { field: "level" }, aggs: { y: matrix } }),
    /\[adjacency_matrix\] aggregations are not supported/,
  ],
  ["a filter's query", aggs({ filter: surprising }), /unknown query \[surprising\]/],
  ["one of filters", aggs({ filters: { filters: { a: surprising } } }), /unknown query \[surprising\]/],
];

describe("is the vendor's 400", () => {
  test.each(["specification", "vendor"])(
    "without a model, in %s; of a model speaks one alone",
    async (fidelity) => {
      await start(`{ fidelity: ${fidelity} }`);
      for (const [what, body, refused, path] of shapes) {
        const { status, body: answer } = await ask(body, path);
        expect({ what, status, reason: answer.error.reason }).toEqual({
          what,
          status: 400,
          reason: expect.stringMatching(refused),
        });
        expect(answer.error.reason.includes("configure [model]")).toBe(fidelity === "specification");
      }
    },
  );

  test("in vendor even with a model, which gets no question", async () => {
    await start(`{ fidelity: vendor, ${model()} }`);
    answerWith("SELECT _row FROM documents");
    for (const [what, body, refused, path] of [
      ...shapes,
      ["a query", { query: surprising }, /unknown query/] as const,
      ["a query of two", { query: { match_all: {}, match: {} } }, /malformed query/] as const,
    ]) {
      const { status, body: answer } = await ask(body, path);
      expect({ what, status, reason: answer.error.reason }).toEqual({
        what,
        status: 400,
        reason: expect.stringMatching(refused),
      });
    }
    expect(server.requests).toEqual([]);
  });

  test("when no statement of the model runs", async () => {
    await start(`{ ${model()} }`);
    answerWith("DROP TABLE documents");
    for (const [what, body, refused, path] of shapes) {
      const { status, body: answer } = await ask(body, path);
      expect({ what, status, reason: answer.error.reason }).toEqual({
        what,
        status: 400,
        reason: expect.stringMatching(refused),
      });
      expect(answer.error.reason).toMatch(/the model has no SQL for it/);
    }
  });
});

describe("goes to the model", () => {
  const errors = "SELECT _row FROM documents WHERE level = 'error'";
  beforeEach(() => start(`{ ${model()} }`));

  test.each(shapes.slice(0, 6))("%s: as the whole body, whose other members hold", async (_what, body) => {
    answerWith(errors);
    const members = { ...body, size: 1, sort: [{ ms: "asc" }] };
    const { hits } = (await ask(members)).body;
    expect(JSON.parse(lastQuestion())).toEqual(members);
    expect({ total: hits.total.value, ids: hits.hits.map(({ _id }: { _id: string }) => _id) }).toEqual({
      total: 2,
      ids: ["2"],
    });
  });

  test("a member of no count, and the items of _msearch each by themselves", async () => {
    answerWith(errors);
    expect((await ask({ find: 1 }, "/logs/_count")).body.count).toBe(2);
    const lines = [{ index: "logs" }, { find: 2 }, { index: "logs" }, { query: { term: { level: "info" } } }];
    const { body } = await request("POST", `${addressesOf(twins, "elasticsearch").url}/_msearch`, {
      body: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`,
      headers: { "content-type": "application/x-ndjson" },
    });
    const totals = body.responses.map(({ hits }: { hits: { total: { value: number } } }) => hits.total.value);
    expect(totals).toEqual([2, 1]);
  });

  test("the query of a filter, once for each; the compiler knows the rest of the aggregation", async () => {
    const infos = "SELECT _row FROM documents WHERE level = 'info' UNION ALL SELECT NULL";
    answerWith(errors, infos);
    const { aggregations } = (
      await ask({
        size: 0,
        query: { range: { ms: { lt: 4 } } },
        aggs: {
          one: { filter: { prefix: { level: "err" } }, aggs: { ms: { sum: { field: "ms" } } } },
          many: {
            filters: { filters: { a: { prefix: { level: "err" } }, b: surprising }, other_bucket: true },
          },
        },
      })
    ).body;
    expect(aggregations).toEqual({
      one: { doc_count: 1, ms: { value: 2 } },
      many: { buckets: { a: { doc_count: 1 }, b: { doc_count: 1 }, _other_: { doc_count: 0 } } },
    });
    expect(server.requests).toHaveLength(2);
  });

  test("an aggregation with buckets, over what the search matches; those beside it are compiled", async () => {
    answerWith(
      "SELECT level AS key, count(*) AS doc_count, avg(ms) AS ms, {'value': max(ms), 'at': [1]} AS most FROM documents GROUP BY ALL ORDER BY key DESC",
    );
    const rare = { rare_terms: { field: "level" }, aggs: { ms: { avg: { field: "ms" } } }, meta: { a: 1 } };
    const body = { query: { range: { ms: { lt: 4 } } }, aggs: { rare, sum: { sum: { field: "ms" } } } };
    const { hits, aggregations } = (await ask(body)).body;
    expect(JSON.parse(lastQuestion())).toEqual({ rare });
    expect(hits.total.value).toBe(2);
    expect(aggregations).toEqual({
      sum: { value: 3 },
      rare: {
        meta: { a: 1 },
        buckets: [
          { key: "info", doc_count: 1, ms: { value: 1 }, most: { value: 1, at: [1] } },
          { key: "error", doc_count: 1, ms: { value: 2 }, most: { value: 2, at: [1] } },
        ],
      },
    });
  });

  test("an aggregation of one row, and one with another unknown in it, with typed keys", async () => {
    answerWith("SELECT median(ms) AS value FROM documents");
    const { body } = await ask(
      aggs({ median_absolute_deviation: { field: "ms" } }),
      "/logs/_search?typed_keys=true",
    );
    expect(body.aggregations).toEqual({ "median_absolute_deviation#x": { value: 2 } });
    answerWith("SELECT level AS key, count(*) AS doc_count, 7 AS y FROM documents GROUP BY ALL ORDER BY key");
    const nested = aggs({ terms: { field: "level" }, aggs: { y: { surprising: {} } } });
    expect((await ask(nested)).body.aggregations.x.buckets).toEqual([
      { key: "error", doc_count: 2, y: { value: 7 } },
      { key: "info", doc_count: 1, y: { value: 7 } },
    ]);
  });

  test("an aggregation whose result has no shape, which the model gets a second try for", async () => {
    answerWith("SELECT ms FROM documents", "SELECT max(ms) AS value FROM documents");
    expect((await ask(aggs({ surprising: {} }))).body.aggregations).toEqual({ x: { value: 4 } });
    expect(String(server.requests.at(-1)?.body)).toContain("need a column key");
  });

  test("no more than 16 queries of filters, beyond which it is the vendor's 400", async () => {
    answerWith(errors);
    const filters = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, { surprising: { at } }]));
    expect((await ask(aggs({ filters: { filters: filters(16) } }))).status).toBe(200);
    server.requests.length = 0;
    expect((await ask(aggs({ filters: { filters: filters(17) } }))).status).toBe(400);
  });

  test.each([
    ["a clause of no query", surprising],
    ["a list", [{ term: { level: "error" } }]],
    ["a clause that the specification does not list", { prefix: { level: "err" } }],
  ])("an ES|QL query whose filter is %s", async (_what, filter) => {
    answerWith("SELECT count(*) AS n FROM documents WHERE level = 'error'");
    const { body } = await ask({ query: "FROM logs | STATS n = COUNT(*)", filter }, "/_query");
    expect(body.values).toEqual([[2]]);
    expect(lastQuestion()).toContain(JSON.stringify(filter));
  });
});
