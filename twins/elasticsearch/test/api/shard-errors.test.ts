/** Shard failures name the searched index on every route. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor", index: "prod" });
  await sandbox.raw("PUT", "/prod/_doc/1", { n: 1 });
  await sandbox.raw("PUT", "/web-1/_doc/1", { n: 2 });
});
afterAll(() => sandbox.stop());

const query = { range: { n: { gte: "many" } } };
const failed = (index: string) => ({
  status: 400,
  body: {
    error: {
      type: "search_phase_execution_exception",
      root_cause: [
        { type: "query_shard_exception", index_uuid: expect.stringMatching(/^[\w-]{22}$/), index },
      ],
      failed_shards: [{ shard: 0, index, reason: { caused_by: { type: "number_format_exception" } } }],
    },
  },
});

test.each([
  ["the configured one", "/prod/_search", { query }, "prod"],
  ["the first that a pattern names", "/web-*/_search", { query }, "web-1"],
  ["that of a post filter", "/web-1/_search", { post_filter: query }, "web-1"],
  ["that of a count", "/web-1/_count", { query }, "web-1"],
  ["that of a change by query", "/web-1/_delete_by_query", { query }, "web-1"],
  ["that of an explanation", "/web-1/_explain/1", { query }, "web-1"],
  ["that of FROM", "/_query", { query: "FROM web-1", filter: query }, "web-1"],
])("the index is %s", async (_which, path, body, index) => {
  expect(await sandbox.raw("POST", path, body)).toMatchObject(failed(index));
});

test("the identifier of an index is the one that its settings tell", async () => {
  const { body } = await sandbox.raw("POST", "/web-1/_search", { query });
  const { uuid } = (await sandbox.raw("GET", "/web-1/_settings")).body["web-1"].settings.index;
  expect(body.error.root_cause[0].index_uuid).toBe(uuid);
});
