/**
 * In `vendor` fidelity a write creates the index it names, and documents extend its mapping. Measured on a server of
 * 8.15.0.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.control("POST", "/reset"));

const text = { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } };

async function ask(method: string, path: string, body?: unknown) {
  const { status, text } = await sandbox.raw(method, path, body);
  return { status, body: JSON.parse(text) };
}

async function propertiesOf(index: string): Promise<unknown> {
  return (await ask("GET", `/${index}/_mapping`)).body[index].mappings.properties;
}

test.each([
  ["a text", "abc", text],
  ["an empty text", "", text],
  ["an integer", 5, { type: "long" }],
  ["a fraction", 1.5, { type: "float" }],
  ["a boolean", true, { type: "boolean" }],
  ["an instant", "2026-03-02T10:00:00Z", { type: "date" }],
  ["a day", "2026-03-02", { type: "date" }],
  ["a month", "2026-03", { type: "date" }],
  [
    "a day with slashes",
    "2026/03/02",
    { type: "date", format: "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis" },
  ],
  ["a date with a space", "2026-03-02 10:00:00", text],
  ["a number as text", "12", text],
  ["a year as text", "2026", text],
  ["an address", "10.0.0.1", text],
  ["several integers", [1, 2], { type: "long" }],
  [
    "an object",
    { x: 1, y: { z: "q" } },
    { properties: { x: { type: "long" }, y: { properties: { z: text } } } },
  ],
  ["objects", [{ p: 1 }, { p: 2 }], { properties: { p: { type: "long" } } }],
  ["null before a value", [null, true], { type: "boolean" }],
])("dynamic mapping of %s", async (_, value, mapped) => {
  await ask("POST", "/made/_doc", { f: value, none: null, empty: [] });
  expect(await propertiesOf("made")).toEqual({ f: mapped });
});

test.each([
  [[1, 1.5], "mapper [f] cannot be changed from type [long] to [float]"],
  [["2026-03-02", "x"], "mapper [f] cannot be changed from type [date] to [text]"],
  [[true, "true"], "mapper [f] cannot be changed from type [boolean] to [text]"],
  [
    ["2026-03-02", "2026/03/02"],
    "Mapper for [f] conflicts with existing mapper:\n\tCannot update parameter [format] from [strict_date_optional_time||epoch_millis] to [yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis]",
  ],
])("values that make different fields are refused: %j", async (values, reason) => {
  expect(await ask("POST", "/made/_doc", { f: values })).toMatchObject({
    status: 400,
    body: { error: { type: "illegal_argument_exception", reason } },
  });
  expect(await propertiesOf("made")).toBeUndefined();
});

test("an index created by a write has no fields of others, and is gone once deleted", async () => {
  await ask("POST", "/logs/_doc", { code: "a text" });
  await ask("POST", "/one/_doc/1", { code: 7 });
  await ask("POST", "/two/_doc/1", { code: "2026-03-02" });
  expect(await propertiesOf("one")).toEqual({ code: { type: "long" } });
  expect(await propertiesOf("two")).toEqual({ code: { type: "date" } });
  expect((await ask("POST", "/one/_doc", { code: "a text" })).status).toBe(400);
  const sorted = await ask("POST", "/one/_search", { sort: ["code"], query: { range: { code: { lt: 8 } } } });
  expect(sorted.body.hits.hits).toMatchObject([{ sort: [7] }]);
  const nowhere = await ask("POST", "/two/_search", { sort: ["nowhere"] });
  expect(nowhere.body.error.failed_shards[0].reason.reason).toBe(
    "No mapping found for [nowhere] in order to sort on",
  );
  await ask("DELETE", "/one");
  expect((await ask("GET", "/one/_mapping")).status).toBe(404);
  await ask("POST", "/one/_doc", { code: true });
  expect(await propertiesOf("one")).toEqual({ code: { type: "boolean" } });
});

test("writes create their index even if every document fails, removals do not", async () => {
  const lines = [
    { delete: { _index: "gone", _id: "1" } },
    { update: { _index: "updated", _id: "1" } },
    { doc: { a: 1 } },
    { index: { _index: "indexed", _id: "1" } },
    { a: [1, "x"] },
  ];
  const { body } = await ask("POST", "/_bulk", lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect(body.items).toMatchObject([
    { delete: { status: 404, error: { type: "index_not_found_exception" } } },
    { update: { status: 404, error: { type: "document_missing_exception" } } },
    { index: { status: 400 } },
  ]);
  const there = async (index: string) => (await sandbox.raw("HEAD", `/${index}`)).status;
  expect([await there("gone"), await there("updated"), await there("indexed")]).toEqual([404, 200, 200]);
});

test("fractions are as precise as a float, in what is found, sorted, shown and counted", async () => {
  await ask("POST", "/made/_doc", { f: 0.1 });
  const found = async (query: object) => (await ask("POST", "/made/_count", { query })).body.count;
  expect(await found({ term: { f: 0.1 } })).toBe(1);
  expect(await found({ terms: { f: [0.1, 2] } })).toBe(1);
  expect(await found({ range: { f: { lte: 0.1 } } })).toBe(1);
  expect(await found({ range: { f: { gt: 0.1 } } })).toBe(0);
  const answer = await sandbox.raw("POST", "/made/_search", {
    sort: ["f"],
    fields: ["f"],
    aggs: { most: { max: { field: "f" } } },
  });
  expect(answer.text).toContain('"sort":[0.1]');
  expect(answer.text).toContain('"fields":{"f":[0.1]}');
  expect(answer.text).toContain('"most":{"value":0.10000000149011612}');
});

test("a snapshot has the mapping that documents made, and additions must agree with it", async () => {
  await ask("POST", "/made/_doc/1", { day: "2026/03/02", name: "abc" });
  const before = await propertiesOf("made");
  const snapshot = (await sandbox.control("POST", "/snapshot", {})).body.tables;
  await sandbox.control("POST", "/reset");
  expect((await sandbox.control("POST", "/reset", { data: snapshot })).status).toBe(200);
  expect(await propertiesOf("made")).toEqual(before);
  expect((await ask("POST", "/made/_doc", { day: "2026-03-02" })).status).toBe(400);
  expect(await ask("PUT", "/made/_mapping", { properties: { name: { type: "keyword" } } })).toMatchObject({
    status: 400,
    body: { error: { reason: "mapper [name] cannot be changed from type [text] to [keyword]" } },
  });
  const more = { properties: { name: { type: "text", fields: { raw: { type: "keyword" } } } } };
  expect((await ask("PUT", "/made/_mapping", more)).status).toBe(200);
  expect(await propertiesOf("made")).toMatchObject({ name: { fields: { keyword: {}, raw: {} } } });
  await ask("POST", "/made/_doc/2", { name: "def" });
  const found = await ask("POST", "/made/_count", { query: { term: { "name.raw": "def" } } });
  expect(found.body.count).toBe(1);
});
