import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

const FIRST = "2026-03-02T10:00:00.000Z";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch();
});
afterAll(() => sandbox.stop());

async function upload(text: string): Promise<void> {
  const { twins } = sandbox;
  const place = `${twins.baseUrl}/environments/dev/datasets/elasticsearch?replace=true`;
  const answer = await request("POST", place, { headers: { "x-api-key": twins.apiKey }, body: text });
  expect(answer.status, answer.text).toBe(201);
}

/** Times of the stored events, by id. */
async function instants(field = "timestamp"): Promise<Record<string, string>> {
  const answer = await sandbox.raw("POST", "/logs/_search", {
    size: 100,
    query: { match_all: {} },
    docvalue_fields: [{ field, format: "strict_date_time" }],
  });
  const hits: { _id: string; fields?: Record<string, string[]> }[] = answer.body.hits.hits;
  return Object.fromEntries(hits.map(({ _id, fields }) => [_id, fields?.[field]?.[0] ?? "none"]));
}

test.each([
  ["epoch seconds", "1772445600", "1772445601"],
  ["Apache's", "[02/Mar/2026:10:00:00 +0000]", "[02/Mar/2026:11:00:01 +0100]"],
  ["RFC 2822", "Mon, 02 Mar 2026 10:00:00 +0000", "Mon, 02 Mar 2026 10:00:01 GMT"],
  ["a space for the T", "2026-03-02 10:00:00", "2026-03-02 10:00:01"],
  ["day first with dots", "02.03.2026 10:00:00", "02.03.2026 10:00:01"],
])("what the upload reads, every write reads, and an update leaves: %s", async (_name, first, second) => {
  await upload(`timestamp,m\n"${first}",a\n`);
  const isNumber = /^\d+$/.test(first);
  const event = { timestamp: isNumber ? Number(second) : second, m: "x" };
  const written = [
    await sandbox.raw("POST", "/logs/_update/row-0", { doc: { m: "b" } }),
    await sandbox.raw("PUT", "/logs/_doc/doc", event),
    await sandbox.raw("POST", "/logs/_bulk", `{"index":{"_id":"bulk"}}\n${JSON.stringify(event)}\n`),
    await sandbox.raw("POST", "/logs/_update/upserted", { doc: event, doc_as_upsert: true }),
    await sandbox.control("POST", "/data", { data: { events: [{ _id: "control", ...event }] } }),
    await sandbox.control("PATCH", "/data", {
      entity_type: "events",
      where: { _id: "row-0" },
      changes: { m: "c" },
    }),
  ];
  for (const { status, text } of written) expect([200, 201], text).toContain(status);
  const later = FIRST.replace("00.000", "01.000");
  const expected = { "row-0": FIRST, doc: later, bulk: later, upserted: later, control: later };
  expect(await instants()).toEqual(expected);

  const found = await sandbox.control(
    "GET",
    `/data?entity_type=events&timestamp=${encodeURIComponent(first)}`,
  );
  expect(
    found.body.rows.map(({ _id }: { _id: string }) => _id),
    found.text,
  ).toEqual(["row-0"]);

  const { tables } = (await sandbox.control("POST", "/snapshot")).body;
  const reset = await sandbox.control("POST", "/reset", { data: tables });
  expect(reset.status, reset.text).toBe(200);
  await sandbox.raw("PUT", "/logs/_doc/after", event);
  expect(await instants()).toEqual({ ...expected, after: later });
});

test("the vendor's own forms are read, too, and all others refused", async () => {
  await upload("timestamp,m\n1772445600,a\n");
  await sandbox.raw("PUT", "/logs/_doc/iso", { timestamp: FIRST });
  await sandbox.raw("PUT", "/logs/_doc/millis", { timestamp: 1772445600000 });
  expect(await instants()).toEqual({ "row-0": FIRST, iso: FIRST, millis: FIRST });
  expect((await sandbox.raw("PUT", "/logs/_doc/none", { timestamp: "soon" })).status).toBe(400);
  expect((await sandbox.raw("PUT", "/logs/_doc/none", { timestamp: "-" })).status).toBe(400);
});

test.each([
  ["seconds", "1772445600", "1772445601"],
  ["milliseconds", "1772445600000", "1772445601000"],
  ["microseconds", "1772445600000000", "1772445601000000"],
  ["nanoseconds", "1772445600000000000", "1772445601000000000"],
])(
  "a query counts as its dataset does, in %s, and knows the vendor's forms as well",
  async (_unit, first, second) => {
    await upload(`timestamp,m\n${first},a\n${second},b\n`);
    const ids = async (query: object) => {
      const { body } = await sandbox.raw("POST", "/logs/_search", { query, sort: [{ timestamp: "asc" }] });
      return body.hits.hits.map(({ _id }: { _id: string }) => _id);
    };
    const range = (bounds: object) => ids({ range: { timestamp: bounds } });
    expect(await range({ gte: Number(first) })).toEqual(["row-0", "row-1"]);
    expect(await range({ gt: Number(first) })).toEqual(["row-1"]);
    expect(await range({ lte: first, gte: 0 })).toEqual(["row-0"]);
    expect(await ids({ term: { timestamp: Number(second) } })).toEqual(["row-1"]);
    expect(await ids({ terms: { timestamp: [first] } })).toEqual(["row-0"]);
    expect(await ids({ query_string: { query: `timestamp:[${second} TO *]` } })).toEqual(["row-1"]);
    expect(await range({ gte: "2026", lt: "2026-03-02T10:00:01Z" })).toEqual(["row-0"]);
    expect(await range({ gte: 1_772_445_601_000, format: "epoch_millis" })).toEqual(["row-1"]);
  },
);

test("an event without a time keeps its dash, even when rewritten", async () => {
  await upload(`timestamp,m\n${FIRST},a\n-,b\n`);
  expect((await sandbox.raw("POST", "/logs/_update/row-1", { doc: { m: "c" } })).status).toBe(200);
  expect(await instants()).toEqual({ "row-0": FIRST, "row-1": "none" });
  expect((await sandbox.raw("GET", "/logs/_source/row-1")).body).toEqual({ timestamp: "-", m: "c" });
});

test("date math matches nothing where the time is text, as where it is a date", async () => {
  await upload("timestamp,m\nMar 2 10:00,a\nzulu,b\n");
  const count = async (range: object) =>
    (await sandbox.raw("POST", "/logs/_count", { query: { range: { timestamp: range } } })).body.count;
  expect(await count({ lte: "now" })).toBe(0);
  expect(await count({ gte: "now-1h" })).toBe(0);
  expect(await count({ gte: "Mar 2 10:00", lt: "N" })).toBe(1);
});
