/** Indexes: what they are, how they are made and changed, and the events that are sent to them as plain text. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { findInvalid } from "../../conf/formats.ts";
import { indexDefaults } from "../../conf/index-defaults.ts";
import { indexFormats } from "../../conf/index-formats.ts";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
let service: ReturnType<SplunkSandbox["client"]>;
beforeAll(async () => {
  splunk = await startSplunk();
  service = splunk.client();
  await service.login();
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  await splunk.control("POST", "/reset", {});
  await splunk.control("PUT", "/clock", { now: "2026-01-31T09:00:00Z", frozen: true });
  await service.login();
});

const INDEXES = "/services/data/indexes";
const ask = (method: string, path: string, parameters: Parameters = {}) =>
  splunk.ask(method, path, { output_mode: "json", ...parameters });
const found = async (search: string) =>
  (await service.oneshotSearch(`search ${search}`, { output_mode: "json" })).results;

test("an index has the vendor's 113 settings and figures, each as the vendor's file has it", async () => {
  const { content } = (await ask("GET", `${INDEXES}/_audit`)).body.entry[0];
  expect(Object.keys(content)).toHaveLength(113);
  expect(content).toMatchObject({
    "bucketMerge.maxMergeSizeMB": 1000,
    coldPath: "$SPLUNK_DB/audit/colddb",
    frozenTimePeriodInSecs: 188_697_600,
    journalCompression: "zstd",
    maxDataSize: "auto",
    maxTime: "1970-01-01T00:00:00.000+00:00",
    totalEventCount: 0,
    currentDBSizeMB: "1",
    isInternal: true,
  });
  const main = (await ask("GET", `${INDEXES}/main`)).body.entry[0].content;
  expect(main).toMatchObject({ maxDataSize: "auto_high_volume", maxMemMB: 20, isInternal: false });
});

test("every setting of an index has a form: what it is by default is of it, and anything else is refused and not written", async () => {
  expect(Object.keys(indexDefaults).filter((name) => !Object.hasOwn(indexFormats, name))).toEqual([]);
  const usual = Object.entries(indexDefaults).map(([name, value]) => [name, String(value ?? "")]);
  expect(findInvalid(indexFormats, Object.fromEntries(usual))).toBeUndefined();
  const wrong = {
    maxTotalDataSizeMB: "abc",
    frozenTimePeriodInSecs: "4294967296",
    enableTsidxReduction: "perhaps",
    journalCompression: "zip",
    maxDataSize: "huge",
    maxBloomBackfillBucketAge: "long",
    minRawFileSyncSecs: "never",
    tsidxWritingLevel: "5",
    datatype: "words",
  };
  await ask("POST", INDEXES, { name: "orders" });
  for (const [name, value] of Object.entries(wrong)) {
    const messages = [{ type: "ERROR", text: `Invalid value "${value}" for argument "${name}".` }];
    for (const [path, given] of [
      [INDEXES, { name: "other" }],
      [`${INDEXES}/orders`, { maxMemMB: 7 }],
    ] as const) {
      const refused = await ask("POST", path, { ...given, [name]: value });
      expect([refused.status, refused.body]).toEqual([400, { messages }]);
    }
    if (name === "datatype") continue;
    const row = { name: "seeded", settings: { [name]: value } };
    const seeded = await splunk.control("POST", "/data", { data: { indexes: [row] } });
    expect([seeded.status, seeded.text]).toEqual([
      expect.any(Number),
      expect.stringContaining(`${name} must`),
    ]);
  }
  const names = (await ask("GET", INDEXES)).body.entry.map(({ name }: { name: string }) => name);
  expect(names).not.toContain("other");
  expect(names).not.toContain("seeded");
  expect((await ask("GET", `${INDEXES}/orders`)).body.entry[0].content.maxMemMB).toBe(5);
});

test("the vendor's client makes an index, changes it, sends events to it, disables and removes it", async () => {
  const indexes = service.indexes();
  const made = await indexes.create("orders", { frozenTimePeriodInSecs: 86400 });
  expect(made.properties()).toMatchObject({ frozenTimePeriodInSecs: 86400, totalEventCount: 0 });
  await expect(indexes.create("orders", {})).rejects.toMatchObject({
    status: 409,
    data: { messages: [{ text: "Index name=orders already exists" }] },
  });
  await made.update({ maxTotalDataSizeMB: 100, assureUTF8: true });
  expect(made.properties()).toMatchObject({
    maxTotalDataSizeMB: 100,
    assureUTF8: true,
    frozenTimePeriodInSecs: 86400,
  });
  const message = "level=error Ummelner Straße 6";
  const [info] = await made.submitEvent(message, { sourcetype: "shop", host: "web-1" });
  expect(info).toEqual({
    index: "orders",
    bytes: Buffer.byteLength(message),
    host: "web-1",
    source: "http-simple",
    sourcetype: "shop",
  });
  expect(await found("index=orders level=error")).toMatchObject([
    { _raw: message, host: "web-1", sourcetype: "shop", index: "orders" },
  ]);
  expect((await made.fetch()).properties().totalEventCount).toBe(1);
  await made.disable();
  await expect(service.log("more", { index: "orders" })).rejects.toMatchObject({ status: 400 });
  await made.enable();
  await service.log("more", { index: "orders" });
  await made.remove();
  expect((await indexes.fetch()).item("orders")).toBeNull();
  expect(await found("index=orders")).toEqual([]);
});

test("an index is a row of the world, and its settings are", async () => {
  await ask("POST", INDEXES, { name: "orders", maxHotBuckets: 4 });
  const { rows } = (await splunk.control("GET", "/data?entity_type=indexes&name=orders")).body;
  expect(rows).toEqual([
    { name: "orders", disabled: false, datatype: "event", settings: { maxHotBuckets: "4" } },
  ]);
});

test("what is wrong with an index is said in splunkd's words", async () => {
  const refusals: [method: string, path: string, parameters: Parameters, status: number, text: string][] = [
    ["GET", `${INDEXES}/none`, {}, 404, "Could not find object id=none"],
    ["POST", INDEXES, {}, 400, 'Cannot perform action "POST" without a target name to act on.'],
    ["POST", INDEXES, { name: "a", colour: 1 }, 400, 'Argument "colour" is not supported by this handler.'],
    ["POST", `${INDEXES}/main`, { colour: 1 }, 400, 'Argument "colour" is not supported by this handler.'],
    ["POST", INDEXES, { name: "main" }, 409, "Index name=main already exists"],
    ["DELETE", INDEXES, {}, 400, 'Cannot perform action "DELETE" without a target name to act on.'],
    ["DELETE", `${INDEXES}/main`, {}, 400, "Cannot delete index=main: it is one of the system's own."],
    ["POST", INDEXES, { name: "a", datatype: "x" }, 400, 'Invalid value "x" for argument "datatype".'],
  ];
  for (const [method, path, parameters, status, text] of refusals) {
    const answer = await ask(method, path, parameters);
    expect([path, answer.status, answer.body]).toEqual([
      path,
      status,
      { messages: [{ type: "ERROR", text }] },
    ]);
  }
  const refusalOf = async (name: string) => (await ask("POST", INDEXES, { name })).body.messages[0].text;
  expect(await refusalOf("Bad Name")).toContain("lower-case");
  for (const name of ["_", "_internal_of_mine", "my_kvstore"]) {
    expect(await refusalOf(name)).toContain(`Index name=${name} is not valid`);
  }
});

test("a text becomes events, line by line, with their own times; the answer says what was taken", async () => {
  const body = "2026-01-31 08:00:00 a=1\n2026-01-31 08:30:00 a=2\n  and its second line\n";
  const { url } = splunk;
  const post = (path: string) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: "Bearer splunk-twin-token", "content-type": "text/plain" },
      body,
    });
  const xml = await (await post("/services/receivers/simple?source=www&host=h")).text();
  expect(xml).toContain("<field k='_index'>");
  expect(xml).toContain("<text>www</text>");
  const stream = await post("/services/receivers/stream?sourcetype=s");
  expect([stream.status, await stream.text()]).toEqual([204, ""]);
  expect(await found("source=www | table _time, a, linecount")).toMatchObject([
    { _time: "2026-01-31T08:30:00.000+00:00", a: "2" },
    { _time: "2026-01-31T08:00:00.000+00:00", a: "1" },
  ]);
  expect(await found("sourcetype=s source=http-stream")).toHaveLength(2);
  const refusedBy = async (query: string, text: string) => {
    const answer = await fetch(`${url}/services/receivers/simple?output_mode=json&${query}`, {
      method: "POST",
      headers: { authorization: "Bearer splunk-twin-token", "content-type": "text/plain" },
      body: text,
    });
    return [answer.status, await answer.json()];
  };
  expect(await refusedBy("index=nowhere", "x")).toEqual([
    400,
    { messages: [{ type: "WARN", text: "supplied index 'nowhere' missing" }] },
  ]);
  expect(await refusedBy("", "")).toEqual([400, { messages: [{ type: "ERROR", text: "empty body" }] }]);
  const [status, taken] = await refusedBy("", "x");
  const learned = { source: "http-simple", sourcetype: "unknown-too_small" };
  expect([status, taken]).toMatchObject([200, { index: "default", ...learned, bytes: 1 }]);
});

test("typeahead answers in CSV unless another form is asked for; in JSON its numbers are numbers", async () => {
  const typed = (parameters: Parameters) =>
    splunk.ask("GET", "/services/search/typeahead", { count: 5, ...parameters });
  await splunk.add({ _id: "1", "@timestamp": "2026-01-31T09:00:00Z", sourcetype: "shop" });
  const csv = await typed({ prefix: "index=mai" });
  expect(csv.headers.get("content-type")).toContain("text/csv");
  expect(csv.text).toMatch(/^content,count,operator\n"index=""main""",\d+,true\n$/);
  expect((await typed({ prefix: "index=zzz" })).status).toBe(204);
  const json = await typed({ prefix: "sourcetype=", output_mode: "json" });
  for (const one of json.body.results) {
    expect(one).toEqual({
      content: expect.stringMatching(/^sourcetype="/),
      count: expect.any(Number),
      operator: false,
    });
  }
  expect(json.body.results).not.toEqual([]);
  expect((await typed({ prefix: "index=zzz", output_mode: "json" })).body).toEqual({ results: [] });
  expect((await typed({ prefix: "index=mai", output_mode: "atom" })).status).toBe(400);
});
