/** Aggregations through the vendor's own client. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch();
  const events = [
    {
      "@timestamp": "2026-01-01T00:10:00Z",
      level: "error",
      service: "checkout",
      ms: 12.5,
      message: "pool is empty",
    },
    {
      "@timestamp": "2026-01-01T00:50:00Z",
      level: "info",
      service: "checkout",
      ms: 2.5,
      message: "all is well",
    },
    {
      "@timestamp": "2026-01-01T03:00:00Z",
      level: "error",
      service: "search",
      ms: 5.25,
      message: "pool is slow",
    },
  ];
  await sandbox.client.bulk({
    operations: events.flatMap((event) => [{ index: { _index: "logs" } }, event]),
    refresh: true,
  });
});
afterAll(() => sandbox.stop());

test("filters are queries, and top_hits are hits", async () => {
  const { aggregations } = await sandbox.client.search({
    size: 0,
    query: { match: { message: "pool" } },
    aggs: {
      services: {
        terms: { field: "service", order: { slow: "desc" } },
        aggs: {
          slow: { max: { field: "ms" } },
          best: { top_hits: { size: 1, _source: ["ms"], sort: [{ ms: "desc" }] } },
        },
      },
      kinds: {
        filters: {
          filters: { empty: { match_phrase: { message: "is empty" } }, slow: { range: { ms: { lt: 6 } } } },
        },
      },
      everything: { global: {}, aggs: { levels: { terms: { field: "level" } } } },
      best: { top_hits: { size: 1 } },
    },
  });
  expect(aggregations).toMatchObject({
    services: {
      buckets: [
        {
          key: "checkout",
          doc_count: 1,
          slow: { value: 12.5 },
          best: { hits: { total: { value: 1 }, hits: [{ _source: { ms: 12.5 }, sort: [12.5] }] } },
        },
        { key: "search", doc_count: 1, slow: { value: 5.25 } },
      ],
    },
    kinds: { buckets: { empty: { doc_count: 1 }, slow: { doc_count: 1 } } },
    everything: {
      doc_count: 3,
      levels: {
        buckets: [
          { key: "error", doc_count: 2 },
          { key: "info", doc_count: 1 },
        ],
      },
    },
    best: {
      hits: {
        total: { value: 2, relation: "eq" },
        max_score: expect.any(Number),
        hits: [{ _index: "logs" }],
      },
    },
  });
});

test("an invalid request is the vendor's error", async () => {
  await expect(
    sandbox.client.search({ aggs: { a: { term: { field: "level" } } as never } }),
  ).rejects.toMatchObject({
    statusCode: 400,
    meta: {
      body: {
        error: {
          type: "parsing_exception",
          reason: expect.stringMatching(
            /^Unknown aggregation type \[term\] did you mean \[terms\]\?; a model/,
          ),
        },
        status: 400,
      },
    },
  });
});
