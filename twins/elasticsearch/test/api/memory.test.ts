/** A search beyond the memory limit trips the vendor's circuit breaker, and no other request is affected. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  const lines = Array.from({ length: 2000 }, (_, seq) => [
    { index: { _index: "logs" } },
    { seq, message: `event ${seq}` },
  ]);
  const body = lines.flat().map((line) => `${JSON.stringify(line)}\n`);
  await sandbox.raw("POST", "/_bulk", body.join(""), { "content-type": "application/x-ndjson" });
});
afterAll(() => sandbox.stop());

/** Sorts half a gigabyte of texts. */
const huge =
  "FROM logs | EVAL long = REPEAT(message, 30000) | SORT long | LIMIT 2000 | STATS n = MAX(LENGTH(long))";

test("it is refused like by the parent circuit breaker, on every route", async () => {
  const { status, body } = await sandbox.raw("POST", "/_query", { query: huge });
  const cause = {
    type: "circuit_breaking_exception",
    reason:
      "[parent] Data too large, data for [<http_request>] would be [256262144/244.3mb], which is larger than the limit of [256000000/244.1mb], real usage: [256000000/244.1mb], new bytes reserved: [262144/256kb], usages [model_inference=0/0b, inflight_requests=0/0b, request=256000000/244.1mb, fielddata=0/0b, eql_sequence=0/0b]",
    bytes_wanted: 256_262_144,
    bytes_limit: 256_000_000,
    durability: "TRANSIENT",
  };
  expect({ status, body }).toEqual({
    status: 429,
    body: { error: { root_cause: [cause], ...cause }, status: 429 },
  });
});

test("concurrent searches and writes are unaffected", async () => {
  const count = {
    size: 0,
    aggs: { first: { min: { field: "seq" } }, all: { terms: { field: "message.keyword" } } },
  };
  const answers = await Promise.all([
    sandbox.raw("POST", "/_query", { query: huge }),
    sandbox.raw("POST", "/logs/_search", count),
    sandbox.raw("POST", "/_query", { query: huge }),
    sandbox.raw("POST", "/logs/_search", { query: { match: { message: "event" } } }),
    sandbox.raw("PUT", "/other/_doc/1?refresh=true", { message: "written" }),
    sandbox.raw("POST", "/logs/_search", count),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([429, 200, 429, 200, 201, 200]);
});
