/** A top_hits without a sort orders by the scores of the search, whatever the query. */
import type { estypes } from "@elastic/elasticsearch";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  const events = [
    { level: "error", message: "pool is empty" },
    { level: "info", message: "all is well" },
    { level: "error", message: "pool is slow" },
  ];
  await sandbox.client.bulk({
    operations: events.flatMap((event) => [{ index: { _index: "logs" } }, event]),
    refresh: true,
  });
});
afterAll(() => sandbox.stop());

const fields = ["message", "level"];
test.each<[string, estypes.QueryDslQueryContainer]>([
  ["match", { match: { message: "pool" } }],
  ["fuzzy", { fuzzy: { message: "pol" } }],
  ["fuzzy match", { match: { message: { query: "pol wel", fuzziness: 1 } } }],
  ["match_phrase_prefix", { match_phrase_prefix: { message: "pool is s" } }],
  ["match_bool_prefix", { match_bool_prefix: { message: "pool s" } }],
  ["prefix by its terms", { prefix: { message: { value: "po", rewrite: "top_terms_2" } } }],
  ["wildcard by its terms", { wildcard: { message: { value: "*o*", rewrite: "scoring_boolean" } } }],
  ["best_fields", { multi_match: { query: "pool error", fields } }],
  ["cross_fields", { multi_match: { query: "pool error", fields, type: "cross_fields" } }],
  ["query_string", { query_string: { query: "pol~ OR slo*", fields } }],
  ["bool", { bool: { should: [{ fuzzy: { message: "pol" } }, { match: { message: "slow" } }] } }],
  ["function_score", { function_score: { query: { fuzzy: { message: "pol" } }, boost: 2 } }],
])("top_hits are those of the search by their scores: %s", async (_, query) => {
  const found = await sandbox.client.search({
    query,
    aggs: {
      best: { top_hits: { size: 10 } },
      by: { terms: { field: "level.keyword" }, aggs: { best: { top_hits: { size: 10 } } } },
    },
  });
  expect(found.hits.hits.length).toBeGreaterThan(0);
  expect(found.aggregations?.best).toMatchObject({ hits: { hits: found.hits.hits } });
  const levels = z.object({ buckets: z.array(z.object({ doc_count: z.number() })) });
  const { buckets } = levels.parse(found.aggregations?.by);
  expect(buckets.reduce((sum, { doc_count: count }) => sum + count, 0)).toBe(found.hits.hits.length);
});
