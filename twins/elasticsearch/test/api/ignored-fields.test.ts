/** `_ignored`: values of a document that its fields do not hold. Measured on Elasticsearch 8.15.0. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  await sandbox.raw("PUT", "/own", {
    mappings: {
      properties: {
        k: { type: "keyword", ignore_above: 3, fields: { s: { type: "keyword", ignore_above: 2 } } },
        t: { type: "text", fields: { raw: { type: "keyword", ignore_above: 5 } } },
      },
    },
  });
  const document = { k: ["ab", "abc", "abcd"], t: "hello world", o: { q: "x".repeat(257) } };
  await sandbox.raw("PUT", "/own/_doc/1", document);
  await sandbox.raw("PUT", "/own/_doc/2", { k: "ab", t: "hello", o: { q: "x".repeat(256) } });
});
afterAll(() => sandbox.stop());

const search = async (body: object) => {
  const { body: answer } = await sandbox.raw("POST", "/own/_search", { sort: ["o.q.keyword"], ...body });
  return answer.hits.hits;
};

it("names the fields that ignored a value, in alphabetical order", async () => {
  const ignored = (await search({})).map((hit: { _ignored?: string[] }) => hit._ignored);
  expect(ignored).toEqual([undefined, ["k", "k.s", "o.q.keyword", "t.raw"]]);
});

it("shows indexed values in `fields`, and ignored ones beside them", async () => {
  const [, hit] = await search({ fields: ["k*", "t.raw"], _source: false });
  expect(hit.fields).toEqual({ k: ["ab", "abc"], "k.s": ["ab"] });
  expect(hit.ignored_field_values).toEqual({
    k: ["abcd"],
    "k.s": ["abc", "abcd"],
    "t.raw": ["hello world"],
  });
});

it("has no such member among the values of `docvalue_fields`", async () => {
  const [, hit] = await search({ docvalue_fields: ["k", "t.raw"], _source: false });
  expect(hit.fields).toEqual({ k: ["ab", "abc"] });
  expect(hit).not.toHaveProperty("ignored_field_values");
});

it("appears in the hits of a bucket, too", async () => {
  const { body } = await sandbox.raw("POST", "/own/_search", {
    size: 0,
    aggs: { best: { top_hits: { _source: false, sort: ["o.q.keyword"] } } },
  });
  expect(body.aggregations.best.hits.hits[1]._ignored).toEqual(["k", "k.s", "o.q.keyword", "t.raw"]);
});
