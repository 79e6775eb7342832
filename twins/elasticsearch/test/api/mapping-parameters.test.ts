/** Parameters of an explicit mapping take effect. Measured on a server of 8.15.0. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.control("POST", "/reset"));

async function ask(method: string, path: string, body?: unknown) {
  const { status, text } = await sandbox.raw(method, path, body);
  return { status, body: text === "" ? undefined : JSON.parse(text) };
}

/** Creates an index with documents numbered from 1. */
async function fill(definition: object, documents: readonly object[]): Promise<void> {
  expect(await ask("PUT", "/made", definition)).toMatchObject({ status: 200 });
  for (const [index, document] of documents.entries()) {
    expect(await ask("PUT", `/made/_doc/${index + 1}`, document)).toMatchObject({ status: 201 });
  }
}

async function found(query: object): Promise<string[]> {
  const { body } = await ask("POST", "/made/_search", { query });
  return body.hits.hits.map(({ _id }: { _id: string }) => _id).sort();
}

test.each([
  ["keyword", "NONE"],
  ["long", -1],
  ["double", 0.5],
  ["date", "2020-01-01"],
  ["boolean", true],
  ["ip", "1.2.3.4"],
])("null_value of %s stands for null, alone and among others", async (type, null_value) => {
  await fill({ mappings: { properties: { f: { type, null_value } } } }, [
    { f: null },
    { f: [null] },
    { f: [] },
    { g: 1 },
  ]);
  expect(await found({ term: { f: null_value } })).toEqual(["1", "2"]);
  expect(await found({ exists: { field: "f" } })).toEqual(["1", "2"]);
});

test("copy_to collects values of several fields in one, with its sub-fields, and creates an unmapped target", async () => {
  const properties = {
    a: { type: "text", copy_to: "all" },
    b: { type: "keyword", copy_to: ["all", "other"] },
    all: { type: "text", fields: { raw: { type: "keyword" } } },
  };
  await fill({ mappings: { properties } }, [
    { a: "hello world", b: "Foo Bar" },
    { b: ["x", "y"], all: "own" },
  ]);
  expect(await found({ match: { all: "hello" } })).toEqual(["1"]);
  expect(await found({ match: { all: "foo" } })).toEqual(["1"]);
  expect(await found({ term: { "all.raw": "hello world" } })).toEqual(["1"]);
  expect(await found({ terms: { "all.raw": ["own", "y"] } })).toEqual(["2"]);
  expect(await found({ match: { other: "bar" } })).toEqual(["1"]);
  expect((await ask("GET", "/made/_mapping")).body.made.mappings.properties.other).toEqual({
    type: "text",
    fields: { keyword: { type: "keyword", ignore_above: 256 } },
  });
});

describe("a normalizer", () => {
  const definition = {
    settings: {
      analysis: { normalizer: { low: { type: "custom", filter: ["lowercase", "asciifolding"] } } },
    },
    mappings: {
      properties: {
        own: { type: "keyword", normalizer: "low" },
        built: { type: "keyword", normalizer: "lowercase" },
        text: { type: "text", fields: { low: { type: "keyword", normalizer: "low" } } },
      },
    },
  };
  beforeEach(() =>
    fill(definition, [{ own: "Ångström", built: "ABC", text: "A Text" }, { built: ["abd", "ABD"] }]),
  );

  test.each([
    [{ term: { own: "ANGSTROM" } }, ["1"]],
    [{ terms: { built: ["Abc", "x"] } }, ["1"]],
    [{ match: { built: "aBC" } }, ["1"]],
    [{ range: { built: { gte: "ABD" } } }, ["2"]],
    [{ prefix: { built: "AB" } }, ["1", "2"]],
    [{ wildcard: { built: "A?C" } }, ["1"]],
    [{ regexp: { built: "AB[CD]" } }, ["1", "2"]],
    [{ fuzzy: { built: "ABE" } }, ["1", "2"]],
    [{ query_string: { query: "built:ABD" } }, ["2"]],
    [{ term: { "text.low": "a TEXT" } }, ["1"]],
  ])("is applied to what %j looks for", async (query, ids) => {
    expect(await found(query)).toEqual(ids);
  });

  test("makes the keys of buckets and the values of sorts", async () => {
    const { body } = await ask("POST", "/made/_search", {
      sort: ["built"],
      aggs: { keys: { terms: { field: "built" } }, text: { terms: { field: "text.low" } } },
    });
    expect(body.hits.hits.map(({ sort }: { sort: unknown }) => sort)).toEqual([["abc"], ["abd"]]);
    expect(body.aggregations.keys.buckets).toEqual([
      { key: "abc", doc_count: 1 },
      { key: "abd", doc_count: 1 },
    ]);
    expect(body.aggregations.text.buckets).toEqual([{ key: "a text", doc_count: 1 }]);
  });
});

test("an unknown normalizer is refused", async () => {
  const properties = { a: { type: "keyword", normalizer: "nope" } };
  const { status, body } = await ask("PUT", "/made", { mappings: { properties } });
  expect({ status, reason: body.error.reason }).toEqual({
    status: 400,
    reason: "Failed to parse mapping: normalizer [nope] not found for field [a]",
  });
});

test("the first matching dynamic template maps a new name", async () => {
  const dynamic_templates = [
    { counts: { match_mapping_type: "long", match: "i_*", unmatch: "*_l", mapping: { type: "integer" } } },
    { names: { path_match: "name.*", path_unmatch: "*.middle", mapping: { type: "text", copy_to: "full" } } },
    { texts: { match_mapping_type: "string", mapping: { type: "keyword" } } },
    { kinds: { match: "d_*", mapping: { type: "{dynamic_type}", meta: { of: "{name}" } } } },
  ];
  await fill({ mappings: { dynamic_templates } }, [
    { i_a: 1, i_l: 2, name: { first: "Ann", middle: "B" }, s: "x", d_x: 5, day: "2026-01-01" },
    { name: { last: "Lee" } },
  ]);
  expect((await ask("GET", "/made/_mapping")).body.made.mappings.properties).toEqual({
    i_a: { type: "integer" },
    i_l: { type: "long" },
    name: {
      properties: {
        first: { type: "text", copy_to: ["full"] },
        last: { type: "text", copy_to: ["full"] },
        middle: { type: "keyword" },
      },
    },
    full: { type: "keyword" },
    s: { type: "keyword" },
    d_x: { type: "long", meta: { of: "d_x" } },
    day: { type: "date" },
  });
  expect(await found({ term: { full: "Lee" } })).toEqual(["2"]);
});

test.each([
  [{ re: { match: "^a", match_pattern: "regex", mapping: {} } }, "[match_pattern] of [regex]"],
  [{ later: { match: "a*", runtime: {} } }, "[runtime]"],
  [{ objects: { match_mapping_type: "object", mapping: {} } }, "[match_mapping_type] of [object]"],
])("a dynamic template that has no effect here is refused: %j", async (template, what) => {
  const { status, body } = await ask("PUT", "/made", { mappings: { dynamic_templates: [template] } });
  expect(status).toBe(400);
  expect(body.error.reason).toContain(`${what} of dynamic template`);
});

describe("of fields that are not indexed, or have no doc values,", () => {
  const off = { index: false, doc_values: false };
  const properties = {
    stored: { type: "long", index: false },
    neither: { type: "long", ...off },
    text: { type: "text", index: false, fields: { raw: { type: "keyword", ...off } } },
    count: { type: "long", doc_values: false },
    word: { type: "keyword", doc_values: false },
  };
  beforeEach(() =>
    fill({ mappings: { properties } }, [{ stored: 1, neither: 1, text: "a", count: 1, word: "a" }]),
  );

  test.each([
    [{ term: { stored: 1 } }],
    [{ range: { stored: { gte: 1 } } }],
    [{ term: { count: 1 } }],
    [{ prefix: { word: "a" } }],
  ])("%j is found", async (query) => {
    expect(await found(query)).toEqual(["1"]);
  });

  const neither = "since it is not indexed nor has doc values.";
  test.each([
    [{ term: { neither: 1 } }, `Cannot search on field [neither] ${neither}`],
    [{ range: { neither: { gte: 1 } } }, `Cannot search on field [neither] ${neither}`],
    [{ term: { "text.raw": "a" } }, `Cannot search on field [text.raw] ${neither}`],
    [{ match: { text: "a" } }, "Cannot search on field [text] since it is not indexed."],
    [
      { bool: { filter: { prefix: { text: "a" } } } },
      "Cannot search on field [text] since it is not indexed.",
    ],
  ])("%j is refused", async (query, reason) => {
    const { status, body } = await ask("POST", "/made/_search", { query });
    expect({ status, reason: body.error?.failed_shards[0].reason.caused_by.reason }).toEqual({
      status: 400,
      reason,
    });
  });

  const unloaded = (name: string, type: string) =>
    `Can't load fielddata on [${name}] because fielddata is unsupported on fields of type [${type}]. Use doc values instead.`;
  test.each([
    [{ sort: ["count"] }, unloaded("count", "long")],
    [{ sort: ["word"] }, unloaded("word", "keyword")],
    [{ aggs: { a: { sum: { field: "count" } } } }, unloaded("count", "long")],
    [{ aggs: { a: { terms: { field: "word" } } } }, unloaded("word", "keyword")],
    [{ docvalue_fields: ["count"] }, unloaded("count", "long")],
    [{ collapse: { field: "count" } }, "cannot collapse on field `count` without `doc_values`"],
  ])("%j is refused", async (body, reason) => {
    const answer = await ask("POST", "/made/_search", body);
    expect({ status: answer.status, reason: answer.body.error?.failed_shards[0].reason.reason }).toEqual({
      status: 400,
      reason,
    });
  });
});
