/** Every code of the event collector, with its text and its HTTP status; and what is kept of a request that is refused. */
import { deflateSync, gzipSync } from "node:zlib";
import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CHANNEL, type Collector, startCollector, TOKEN } from "../../testing/collector.ts";

const DISABLED = "11111111-0000-4000-8000-000000000001";
const ACK = "11111111-0000-4000-8000-000000000002";
const QUERY = "11111111-0000-4000-8000-000000000003";
const NARROW = "11111111-0000-4000-8000-000000000004";

let collector: Collector;
let start: unknown;
beforeAll(async () => {
  collector = await startCollector();
  await collector.addToken("disabled", DISABLED, { disabled: true });
  await collector.addToken("ack", ACK, { use_ack: true });
  await collector.addToken("query", QUERY, { allow_query_string_auth: true });
  await collector.addToken("narrow", NARROW, { indexes: ["summary"], index: "summary" });
  start = (await collector.splunk.control("POST", "/snapshot")).body.tables;
});
beforeEach(async () => {
  await collector.splunk.control("POST", "/reset", { data: start });
});
afterAll(() => collector.stop());

const one = '{"event":"hello"}';
const as = (token: string, more: Record<string, string> = {}) => ({
  authorization: `Splunk ${token}`,
  ...more,
});
const said = ({ status, body }: { status: number; body: unknown }) => ({ status, body });
const refused = (status: number, code: number, text: string, number?: number) => ({
  status,
  body: { text, code, ...(number === undefined ? {} : { "invalid-event-number": number }) },
});

describe("who sends", () => {
  test("code 0: a token that is known; Basic with the token as password too", async () => {
    expect(said(await collector.send("", one))).toEqual(refused(200, 0, "Success"));
    const authorization = `Basic ${btoa(`x:${TOKEN}`)}`;
    expect(said(await collector.send("/event", one, { authorization }))).toEqual(refused(200, 0, "Success"));
  });

  test.each([
    ["code 1: a token that is disabled", as(DISABLED), refused(403, 1, "Token disabled")],
    ["code 2: no token", {}, refused(401, 2, "Token is required")],
    ["code 2: a scheme without a token", { authorization: "Splunk" }, refused(401, 2, "Token is required")],
    ["code 3: another scheme", { authorization: "Digest x" }, refused(401, 3, "Invalid authorization")],
    ["code 4: an unknown token", as("none"), refused(403, 4, "Invalid token")],
  ])("%s", async (_name, headers, answer) => {
    for (const path of ["", "/event", "/event/1.0", "/raw", "/raw/1.0", "/ack"]) {
      expect(said(await collector.send(path, one, headers))).toEqual(answer);
    }
    expect(await collector.texts()).toEqual([]);
  });

  test("code 16: a token in the address, unless it may stand there; whether it is known is looked at first", async () => {
    const ask = async (token: string) => said(await collector.send(`?token=${token}`, one, {}));
    expect(await ask(TOKEN)).toEqual(refused(400, 16, "Query string authorization is not enabled"));
    expect(await ask("none")).toEqual(refused(403, 4, "Invalid token"));
    expect(await ask(QUERY)).toEqual(refused(200, 0, "Success"));
    const { requests } = (await collector.splunk.control("GET", "/requests?operation=collector.event")).body;
    expect(JSON.stringify(requests)).not.toContain(QUERY);
  });

  test("code 17: health is told to anybody, whatever the header says", async () => {
    for (const path of ["/health", "/health/1.0"]) {
      for (const headers of [{}, as("none"), as(TOKEN)]) {
        const answer = await request("GET", `${collector.splunk.url}/services/collector${path}`, { headers });
        expect(said(answer)).toEqual(refused(200, 17, "HEC is healthy"));
      }
    }
  });
});

describe("what is sent", () => {
  test.each([
    ["", ""],
    ["", "  \n "],
    ["", "[]"],
    ["/raw", " \n\n"],
  ])("code 5: nothing (%s %j)", async (path, body) => {
    expect(said(await collector.send(path, body))).toEqual(refused(400, 5, "No data"));
  });

  test.each([
    ['{"event":"a"', 0],
    ['{"event":"a"}{"event"', 1],
    ['{"event":"a"},{"event":"b"}', 1],
    ['[{"event":"a"},{"event":"b"', 1],
    ['[{"event":"a"},{"event":"b"}', 2],
    ['"event"', 0],
    ["event=a", 0],
    ['{"event":null}', 0],
    ['{"event":false}', 0],
    ['{"event":"a","host":{}}', 0],
    [`{"event":${"[".repeat(201)}`, 0],
  ])("code 6: no JSON, or no event (%s)", async (body, number) => {
    expect(said(await collector.send("", body))).toEqual(refused(400, 6, "Invalid data format", number));
    expect(await collector.texts()).toHaveLength(number);
  });

  test("code 6: a body that is no gzip, and acks that are none", async () => {
    const headers = as(TOKEN, { "content-encoding": "gzip" });
    expect(said(await collector.send("", "plain", headers))).toEqual(refused(400, 6, "Invalid data format"));
    const acks = async (body: string) =>
      said(await collector.send("/ack", body, as(ACK, { "x-splunk-request-channel": CHANNEL })));
    expect(await acks('{"acks":"all"}')).toEqual(refused(400, 6, "Invalid data format"));
    expect(await acks("{")).toEqual(refused(400, 6, "Invalid data format"));
    expect(await acks("")).toEqual(refused(400, 5, "No data"));
  });

  test("code 7: an index that is not there or not allowed; the number is one more than the event's", async () => {
    const body = '{"event":"a"}{"event":"b","index":"nowhere"}{"event":"c"}';
    expect(said(await collector.send("", body))).toEqual(refused(400, 7, "Incorrect index", 2));
    expect(await collector.texts()).toEqual(["a"]);
    const narrow = await collector.send("", '{"event":"x","index":"main"}', as(NARROW));
    expect(said(narrow)).toEqual(refused(400, 7, "Incorrect index", 1));
    expect(said(await collector.send("/raw?index=nowhere", "x"))).toEqual(refused(400, 7, "Incorrect index"));
    await collector.splunk.control("PATCH", "/data", {
      entity_type: "indexes",
      key: "main",
      changes: { disabled: true },
    });
    expect(said(await collector.send("", one))).toEqual(refused(400, 7, "Incorrect index", 1));
  });

  test.each([
    ["code 12: no event", '{"event":"a"}{"host":"h"}{"event":"c"}', 12, "Event field is required"],
    ["code 13: a blank event", '{"event":"a"}{"event":" "}{"event":"c"}', 13, "Event field cannot be blank"],
    [
      "code 15: fields in fields",
      '{"event":"a"}{"event":"b","fields":{"x":{"y":1}}}',
      15,
      "Error in handling indexed fields",
    ],
    [
      "code 15: fields that are none",
      '{"event":"a"}{"event":"b","fields":[]}',
      15,
      "Error in handling indexed fields",
    ],
    [
      "code 15: a time that is none",
      '{"event":"a"}{"event":"b","time":"today"}',
      15,
      "Error in handling indexed fields",
    ],
    ["code 6: a mistake in it", '{"event":"a"}{"event":b}{"event":"c"}', 6, "Invalid data format"],
  ])("%s: what came before it is kept, it and the rest are not", async (_name, body, code, text) => {
    expect(said(await collector.send("", body))).toEqual(refused(400, code, text, 1));
    expect(await collector.texts()).toEqual(["a"]);
    const list = `[${body.replaceAll("}{", "},{")}]`;
    expect(said(await collector.send("", list))).toEqual(refused(400, code, text, 1));
    expect(await collector.texts()).toEqual(["a", "a"]);
  });

  test("what has fields alone is passed over; a member that nobody knows ends the batch without a word", async () => {
    expect(said(await collector.send("", '{"event":"a"}{"fields":{"x":1}}{"event":"c"}'))).toEqual(
      refused(200, 0, "Success"),
    );
    expect(said(await collector.send("", '{"event":"d"}{"event":"e","colour":1}{"event":"f"}'))).toEqual(
      refused(200, 0, "Success"),
    );
    expect(await collector.texts()).toEqual(["a", "c", "d"]);
    expect(said(await collector.send("", '{"event":"e","colour":1}'))).toEqual(refused(400, 5, "No data"));
  });

  test("deflate is a 415; a body beyond the limit is a 400", async () => {
    const answer = await collector.send("", deflateSync(one), as(TOKEN, { "content-encoding": "deflate" }));
    expect(answer.status).toBe(415);
    expect(answer.headers.get("content-type")).toContain("text/html");
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, 32));
    const large = await collector.send("", bomb, as(TOKEN, { "content-encoding": "gzip" }));
    expect(said(large)).toEqual(refused(400, 6, "Invalid data format", 0));
  });
});

describe("acknowledgement", () => {
  const onChannel = (channel: string) => as(ACK, { "x-splunk-request-channel": channel });
  const OTHER = "FE0ECFAD-13D5-401B-847D-77833BD77132";

  test("code 10: no channel; it may stand in the address", async () => {
    for (const path of ["", "/raw", "/ack"]) {
      expect(said(await collector.send(path, one, as(ACK)))).toEqual(
        refused(400, 10, "Data channel is missing"),
      );
    }
    const answer = await collector.send(`?channel=${CHANNEL}`, one, as(ACK));
    expect(answer.body).toEqual({ text: "Success", code: 0, ackId: 0 });
  });

  test("code 11: a channel that is no GUID", async () => {
    expect(said(await collector.send("", one, onChannel("x")))).toEqual(
      refused(400, 11, "Invalid data channel"),
    );
  });

  test("code 14: acks of a token that has none; nor is there a number", async () => {
    const answer = await collector.send(
      "/ack",
      '{"acks":[0]}',
      as(TOKEN, { "x-splunk-request-channel": CHANNEL }),
    );
    expect(said(answer)).toEqual(refused(400, 14, "ACK is disabled"));
    const sent = await collector.send("", one, as(TOKEN, { "x-splunk-request-channel": CHANNEL }));
    expect(sent.body).toEqual({ text: "Success", code: 0 });
  });

  test("each channel counts its requests from 0; what was answered with yes is forgotten", async () => {
    const ids = [];
    for (const channel of [CHANNEL, CHANNEL, OTHER]) {
      ids.push((await collector.send("/raw", "x", onChannel(channel))).body.ackId);
    }
    expect(ids).toEqual([0, 1, 0]);
    const ask = async (channel: string, ...acks: number[]) =>
      (await collector.send("/ack", { acks }, onChannel(channel))).body.acks;
    expect(await ask(CHANNEL, 0, 1, 5)).toEqual({ 0: true, 1: true, 5: false });
    expect(await ask(CHANNEL, 0, 1)).toEqual({ 0: false, 1: false });
    expect(await ask(OTHER, 0, 1)).toEqual({ 0: true, 1: false });
    expect(await ask("FE0ECFAD-13D5-401B-847D-77833BD77133", 0)).toEqual({ 0: false });
  });
});

describe("faults and what is not there", () => {
  test.each([
    [500, refused(500, 8, "Internal server error")],
    [503, refused(503, 9, "Server is busy")],
    [429, refused(429, 26, "HEC queue is at capacity and cannot process any more requests")],
  ])("codes 8, 9, 26: a fault of status %s is in the collector's words", async (status, answer) => {
    const fault = { effect: "status", status, operation: "collector.event", times: 1 };
    expect((await collector.splunk.control("POST", "/faults", fault)).status).toBe(201);
    expect(said(await collector.send("", one))).toEqual(answer);
    expect(said(await collector.send("", one))).toEqual(refused(200, 0, "Success"));
  });

  test("unknown paths are 404, other methods 405, OPTIONS says which there are", async () => {
    const ask = (method: string, path: string) =>
      request(method, `${collector.splunk.url}/services/collector${path}`);
    const nothing = { text: "The requested URL was not found on this server.", code: 404 };
    expect(said(await ask("GET", "/nothing"))).toEqual({ status: 404, body: nothing });
    expect(said(await ask("GET", "/event"))).toEqual({ status: 405, body: nothing });
    for (const [path, allow] of [
      ["/event", "POST,OPTIONS"],
      ["/health", "GET,HEAD,OPTIONS"],
    ] as const) {
      const options = await ask("OPTIONS", path);
      expect([options.status, options.text, options.headers.get("allow")]).toEqual([200, "", allow]);
    }
  });
});
