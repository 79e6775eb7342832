/** In `vendor` fidelity an index exists once created, and its explicit mapping holds. */
import { errors } from "@elastic/elasticsearch";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.control("POST", "/reset"));

/** The error of a request. */
async function refused(
  work: Promise<unknown>,
): Promise<{ status: number | undefined; error: { type: string; reason: string } }> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof errors.ResponseError)) throw new Error(`not refused: ${String(error)}`);
  return { status: error.statusCode, error: error.body.error };
}

test("a keyword field is found, sorted and aggregated by its own name", async () => {
  const { client } = sandbox;
  await client.indices.create({
    index: "shop",
    mappings: { properties: { city: { type: "keyword" }, note: { type: "text" } } },
  });
  await client.bulk({
    index: "shop",
    operations: ["Oslo", "Bergen", "Oslo"].flatMap((city, id) => [
      { index: { _id: String(id) } },
      { city, note: `parcel to ${city}` },
    ]),
  });
  const answer = await client.search({
    index: "shop",
    query: { match: { note: "parcel" } },
    sort: [{ city: "asc" }],
    aggs: { cities: { terms: { field: "city" } } },
  });
  expect(answer.hits.hits.map(({ sort }) => sort)).toEqual([["Bergen"], ["Oslo"], ["Oslo"]]);
  expect(answer.aggregations?.cities).toMatchObject({
    buckets: [
      { key: "Oslo", doc_count: 2 },
      { key: "Bergen", doc_count: 1 },
    ],
  });
  expect((await client.count({ index: "shop", query: { term: { city: "Oslo" } } })).count).toBe(2);
  expect(
    (await client.count({ index: "shop", query: { term: { "note.keyword": "parcel to Oslo" } } })).count,
  ).toBe(0);
  const sorted = await refused(client.search({ index: "shop", sort: [{ note: "asc" }] }));
  expect(sorted.error).toMatchObject({ type: "search_phase_execution_exception" });
});

const places = {
  dynamic: "strict",
  properties: {
    city: { type: "keyword" },
    seen: { type: "date", format: "dd.MM.yyyy" },
    size: { type: "short" },
    tag: { type: "text", fields: { raw: { type: "keyword", ignore_above: 5 } } },
  },
} as const;

test("the mapping that was given is the mapping that is shown, and it only grows", async () => {
  const { client } = sandbox;
  await client.indices.create({ index: "places", mappings: places });
  const shown = async () => (await client.indices.getMapping({ index: "places" })).places?.mappings;
  expect(await shown()).toEqual(places);
  expect(await refused(client.indices.create({ index: "places" }))).toMatchObject({
    status: 400,
    error: { type: "resource_already_exists_exception" },
  });
  await client.indices.putMapping({ index: "places", properties: { open: { type: "boolean" } } });
  expect(await shown()).toEqual({
    ...places,
    properties: { ...places.properties, open: { type: "boolean" } },
  });
  const changed = { city: { type: "text" } } as const;
  expect(await refused(client.indices.putMapping({ index: "places", properties: changed }))).toMatchObject({
    status: 400,
    error: {
      type: "illegal_argument_exception",
      reason: "mapper [city] cannot be changed from type [keyword] to [text]",
    },
  });
  expect(await client.indices.exists({ index: "places" })).toBe(true);
});

test("writes are checked against the mapping of their index", async () => {
  const { client } = sandbox;
  await client.indices.create({ index: "places", mappings: places });
  const write = (document: object) => client.index({ index: "places", id: "1", document });
  await write({ city: 7, seen: "02.03.2026", size: "12", tag: "a much longer text" });
  const unfit = [
    [{ town: "x" }, "mapping set to strict, dynamic introduction of [town] within [_doc] is not allowed"],
    [
      { size: 70_000 },
      "failed to parse field [size] of type [short] in document with id '1'. Preview of field's value: '70000'",
    ],
    [
      { seen: "2026-03-02" },
      "failed to parse field [seen] of type [date] in document with id '1'. Preview of field's value: '2026-03-02'",
    ],
  ] as const;
  for (const [document, reason] of unfit) {
    expect((await refused(write(document))).error.reason).toContain(reason);
  }
  const count = async (field: string) =>
    (await client.count({ index: "places", query: { exists: { field } } })).count;
  expect([
    await count("city"),
    await count("tag"),
    await count("tag.raw"),
    await count("tag.keyword"),
  ]).toEqual([1, 1, 0, 0]);
  const { hits } = await client.search({
    index: "places",
    sort: [{ seen: "asc" }],
    fields: ["seen", "size"],
  });
  expect(hits.hits[0]).toMatchObject({
    sort: [Date.parse("2026-03-02")],
    fields: { seen: ["02.03.2026"], size: [12] },
  });
});

test("two indices map one field differently, each with statistics of its own", async () => {
  const { client } = sandbox;
  await client.indices.create({ index: "a", mappings: { properties: { x: { type: "keyword" } } } });
  await client.indices.create({ index: "b", mappings: { properties: { x: { type: "long" } } } });
  await client.index({ index: "a", id: "1", document: { x: "one" } });
  await client.index({ index: "b", id: "1", document: { x: 1 } });
  const alone = await client.search({ index: "a", query: { term: { x: "one" } } });
  await client.bulk({
    index: "logs",
    operations: Array.from({ length: 20 }, (_, id) => [{ index: { _id: String(id) } }, { x: "one" }]).flat(),
  });
  const beside = await client.search({ index: "a", query: { term: { x: "one" } } });
  expect(beside.hits).toEqual(alone.hits);
  expect((await client.search({ index: "b", query: { range: { x: { lt: 2 } } } })).hits.total).toMatchObject({
    value: 1,
  });
});

test("an index goes with its documents and its mapping, and its name is free again", async () => {
  const { client } = sandbox;
  await client.indices.create({ index: "places", mappings: places });
  await client.index({ index: "places", document: { city: "Oslo" } });
  await client.indices.delete({ index: "places" });
  expect(await client.indices.exists({ index: "places" })).toBe(false);
  expect((await refused(client.search({ index: "places" }))).status).toBe(404);
  expect((await refused(client.indices.delete({ index: "places" }))).status).toBe(404);
  await client.indices.create({ index: "places", mappings: { properties: { city: { type: "long" } } } });
  await client.index({ index: "places", document: { city: 1 } });
  expect((await client.count({ index: "places", query: { term: { city: 1 } } })).count).toBe(1);
});

test("a snapshot has the mappings, and a reset begins without them", async () => {
  const { client, control } = sandbox;
  await client.indices.create({ index: "shop", mappings: { properties: { city: { type: "keyword" } } } });
  await client.index({ index: "shop", id: "1", document: { city: "Oslo", more: ["a", "b"] } });
  const before = await client.indices.getMapping({ index: "shop" });
  const snapshot = (await control("POST", "/snapshot", {})).body.tables;
  await control("POST", "/reset");
  expect(await client.indices.exists({ index: "shop" })).toBe(false);
  expect((await control("POST", "/reset", { data: snapshot })).status).toBe(200);
  expect(await client.indices.getMapping({ index: "shop" })).toEqual(before);
  const { hits } = await client.search({
    index: "shop",
    sort: [{ city: "asc" }],
    query: { term: { "more.keyword": "b" } },
  });
  expect(hits.hits[0]).toMatchObject({ _id: "1", sort: ["Oslo"] });
});

test("indices that map a field differently are searched together, each by its own mapping", async () => {
  const { client } = sandbox;
  const mapped = (type: "keyword" | "long" | "text" | "double") =>
    ({ properties: { x: { type }, day: { type: "date" } } }) as const;
  await client.indices.create({ index: "logs-1", mappings: mapped("keyword") });
  await client.indices.create({ index: "logs-2", mappings: mapped("keyword") });
  await client.indices.create({ index: "counts", mappings: mapped("long") });
  await client.indices.create({ index: "shares", mappings: mapped("double") });
  const write = (index: string, id: string, x: unknown, day: string) =>
    client.index({ index, id, document: { x, day } });
  await write("logs-1", "1", "b", "2026-03-01");
  await write("logs-2", "2", ["a", "b"], "2026-03-02");
  await write("counts", "3", 2, "2026-03-03");
  await write("shares", "4", 1.5, "2026-03-04");
  const found = async (index: string, body: object) =>
    (await client.search({ index, ...body })).hits.hits.map(({ _id }) => _id);
  expect(await found("logs-*", { query: { term: { x: "b" } }, sort: [{ x: "asc" }, "day"] })).toEqual([
    "2",
    "1",
  ]);
  expect(await found("counts,shares", { sort: [{ x: "asc" }] })).toEqual(["4", "3"]);
  const judged = await client.search({ index: "*", query: { bool: { must_not: { term: { x: "b" } } } } });
  expect(judged).toMatchObject({
    _shards: { total: 5, successful: 3, failed: 2, failures: [{ index: "counts" }, { index: "shares" }] },
    hits: { hits: [] },
  });
  expect(await found("*", { sort: [{ day: "desc" }] })).toEqual(["4", "3", "2", "1"]);
  const { aggregations } = await client.search({
    index: "logs-*",
    size: 0,
    aggs: {
      x: { terms: { field: "x" } },
      day: { date_histogram: { field: "day", calendar_interval: "month" } },
    },
  });
  expect(aggregations).toMatchObject({
    x: {
      buckets: [
        { key: "b", doc_count: 2 },
        { key: "a", doc_count: 1 },
      ],
    },
    day: { buckets: [{ doc_count: 2 }] },
  });
  const scores = async (index: string) =>
    (
      await client.search({ index, query: { term: { x: "b" } }, sort: ["day"], track_scores: true })
    ).hits.hits.map(({ _score }) => _score);
  expect(await scores("logs-*")).toEqual([...(await scores("logs-1")), ...(await scores("logs-2"))]);
  const esql = await client.esql.query({ query: "FROM logs-* | SORT day | KEEP x, day" });
  expect(esql).toMatchObject({
    columns: [
      { name: "x", type: "keyword" },
      { name: "day", type: "date" },
    ],
  });
});

test("a pattern without a matching index is checked against no mapping", async () => {
  const { client } = sandbox;
  await client.index({ index: "logs", document: { message: "a text" } });
  const answer = await client.search({
    index: "none*",
    query: { range: { message: { gte: 3 } } },
    sort: [{ nowhere: "asc" }, { message: "asc" }],
    aggs: { m: { terms: { field: "message" } } },
  });
  expect(answer).toMatchObject({ _shards: { total: 0 }, hits: { total: { value: 0 }, hits: [] } });
  expect(answer.aggregations).toBeUndefined();
  expect(
    (await refused(client.search({ index: "none*", query: { unheard_of: {} } as object }))).error.type,
  ).toBe("parsing_exception");
});

test("an ip field holds only addresses, matches any notation of one, and is an ip in ES|QL", async () => {
  const { client } = sandbox;
  await client.indices.create({ index: "hosts", mappings: { properties: { ip: { type: "ip" } } } });
  const addresses = ["10.0.0.9", "::ffff:10.0.0.10", ["::1", "10.0.0.9", "FE80:0:0:0:0:0:0:1"], []];
  await client.bulk({
    index: "hosts",
    operations: addresses.flatMap((ip, id) => [{ index: { _id: String(id) } }, { ip }]),
  });
  const wrong = await refused(client.index({ index: "hosts", id: "x", document: { ip: "10.0.0" } }));
  expect(wrong).toMatchObject({ status: 400, error: { type: "document_parsing_exception" } });
  expect((await client.count({ index: "hosts", query: { term: { ip: "10.0.0.9" } } })).count).toBe(2);
  const answer = await client.esql.query({
    format: "json",
    query:
      'FROM hosts | EVAL near = CIDR_MATCH(MV_MAX(ip), "10.0.0.0/8") | SORT ip NULLS LAST | KEEP ip, near',
  });
  expect(answer).toMatchObject({
    columns: [
      { name: "ip", type: "ip" },
      { name: "near", type: "boolean" },
    ],
    values: [
      [["::1", "10.0.0.9", "fe80::1"], false],
      ["10.0.0.9", true],
      ["10.0.0.10", true],
      [null, null],
    ],
  });
});
