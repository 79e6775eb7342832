/** Nested objects are documents of their own. Measured on Elasticsearch 8.15.0. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let twin: SearchSandbox;

beforeAll(async () => {
  twin = await startSearch({ fidelity: "vendor" });
  const comment = {
    type: "nested",
    properties: { by: { type: "keyword" }, stars: { type: "integer" }, text: { type: "text" } },
  };
  await twin.raw("PUT", "/posts", { mappings: { properties: { comments: comment } } });
  await twin.raw("PUT", "/posts/_doc/1", {
    comments: [
      { by: "ann", stars: 1, text: "too long", tags: ["a", "b"] },
      { by: ["bob", "eve"], stars: 5, text: "not long enough" },
    ],
  });
  await twin.raw("PUT", "/posts/_doc/2", { comments: { by: "ann", stars: 5, text: "fine", tags: "c" } });
});
afterAll(() => twin.stop());

const search = async (body: object) => (await twin.raw("POST", "/posts/_search", body)).body;
const within = (query: object) => ({ nested: { path: "comments", query } });
const both = (by: string, stars: number) => ({
  bool: { must: [{ term: { "comments.by": by } }, { term: { "comments.stars": stars } }] },
});

describe("within `nested`", () => {
  test.each<[query: object, found: string[]]>([
    [both("ann", 1), ["1"]],
    [both("ann", 5), ["2"]],
    [both("eve", 5), ["1"]],
    [{ match: { "comments.text": "long" } }, ["1"]],
    [{ term: { "comments.tags.keyword": "b" } }, ["1"]],
    [{ range: { "comments.stars": { gte: 5 } } }, ["1", "2"]],
    [{ exists: { field: "comments.tags" } }, ["1", "2"]],
  ])("%j finds %j", async (query, found) => {
    const { hits } = await search({ query: within(query) });
    expect(hits.hits.map(({ _id }: { _id: string }) => _id).sort()).toEqual(found);
  });
});

describe("without it a document has none of their values", () => {
  test.each([
    { term: { "comments.by": "ann" } },
    { match: { "comments.text": "long" } },
    { range: { "comments.stars": { gte: 1 } } },
    { exists: { field: "comments.by" } },
    both("ann", 5),
  ])("%j finds nothing", async (query) => {
    expect((await search({ query })).hits.total.value).toBe(0);
  });

  test("neither do aggregations", async () => {
    const { aggregations } = await search({
      aggs: { by: { terms: { field: "comments.by" } }, stars: { max: { field: "comments.stars" } } },
    });
    expect(aggregations).toMatchObject({ by: { buckets: [] }, stars: { value: null } });
  });

  test("a sort by them is refused", async () => {
    const { error } = await search({ sort: ["comments.stars"] });
    expect(error.root_cause[0].reason).toBe(
      "it is mandatory to set the [nested] context on the nested sort field: [comments.stars].",
    );
  });

  test("but for `_source`", async () => {
    const { hits } = await search({ query: { ids: { values: ["2"] } } });
    expect(hits.hits[0]._source.comments.by).toBe("ann");
  });
});

test("a value that its field cannot hold is refused", async () => {
  const { status } = await twin.raw("PUT", "/posts/_doc/3", { comments: { stars: "many" } });
  expect(status).toBe(400);
});
