/** The journal: what it records, masks and bounds. Proves a part of twins/SECURITY.md. */
import { EventEmitter, once } from "node:events";
import engine from "@offhook/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { liveClock } from "../base/clock.ts";
import { Journal, MAX_BODY_BYTES } from "../journal/journal.ts";
import { createMask } from "../journal/mask.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

const notes = new EventEmitter();
let twins: RunningTwins;
let shop: string;
let base: string;
beforeEach(async () => {
  const services = "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp] }\n";
  twins = await startEnvironment(services, { twins: [engine, createShop((what) => notes.emit(what))] });
  ({ url: shop, control_url: base } = addressesOf(twins, "shop"));
});
afterEach(() => twins.stop());

const control = (path: string) =>
  request("GET", `${base}/sim${path}`, { headers: { "x-api-key": twins.apiKey } });

describe("a record", () => {
  test("holds request and answer, the matched operation, duration and both times", async () => {
    const before = Date.now();
    await request("POST", `${shop}/echo?a=1&b=two`, {
      headers: { "content-type": "application/json" },
      body: { x: [1] },
    });
    const { requests, total } = (await control("/requests?tier=vendor")).body;
    expect(total).toBe(1);
    expect(requests[0]).toMatchObject({
      seq: 1,
      tier: "vendor",
      operation: "echo",
      method: "POST",
      path: "/echo",
      query: { a: "1", b: "two" },
      headers: { "content-type": "application/json" },
      body: { x: [1] },
      status: 200,
      response: { headers: { "content-type": "application/json" }, body: { length: 9 } },
    });
    expect(requests[0].duration_ms).toBeGreaterThan(0);
    expect(Date.parse(requests[0].received_at)).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(requests[0].simulated_at)).toBeGreaterThanOrEqual(before - 1);
  });

  test("of a request that nothing serves has no operation", async () => {
    await request("GET", `${shop}/nothing`);
    expect((await control("/requests?status=404")).body.requests).toMatchObject([
      { operation: null, path: "/nothing" },
    ]);
  });

  test("of a request still being answered has no status", async () => {
    const waiting = once(notes, "waiting");
    const controller = new AbortController();
    const hanging = fetch(`${shop}/hang`, { signal: controller.signal }).catch(() => undefined);
    await waiting;
    expect((await control("/requests?operation=hang")).body.requests).toMatchObject([
      { status: null, response: null },
    ]);
    controller.abort();
    await hanging;
  });

  test("of bytes that are no text shows them in base64", async () => {
    await request("POST", `${shop}/echo`, { body: Buffer.from([255, 0, 254]) });
    expect((await control("/requests?operation=echo")).body.requests[0].body).toEqual({ base64: "/wD+" });
  });

  test("cuts bodies at 64 KiB, with a marker", async () => {
    await request("POST", `${shop}/echo`, { body: "y".repeat(90_000) });
    const [entry] = (await control("/requests?operation=echo")).body.requests;
    expect(entry.body).toMatchObject({ truncated: true, original_bytes: 90_000 });
    expect(entry.body.text).toHaveLength(MAX_BODY_BYTES);
  });
});

describe("notes", () => {
  const noted = async () => (await control("/requests?operation=annotate")).body.requests[0].notes;

  test("stand in the record and are never sent", async () => {
    const answer = await request("POST", `${shop}/annotate`, { body: { sql: ["SELECT 1"] } });
    expect(answer.body).toEqual({ done: true });
    expect(await noted()).toEqual({ sql: ["SELECT 1"] });
  });

  test("are masked like a body", async () => {
    await request("POST", `${shop}/annotate`, { body: { deep: [{ password: "top-secret" }] } });
    expect(await noted()).toEqual({ deep: [{ password: "***" }] });
  });

  test("are cut at 64 KiB, with a marker", async () => {
    await request("POST", `${shop}/annotate`, { body: { sql: ["y".repeat(90_000)] } });
    expect(await noted()).toMatchObject({ truncated: true, original_bytes: expect.any(Number) });
  });

  test("are null where there are none", async () => {
    await request("GET", `${shop}/things`);
    expect((await control("/requests?operation=thing.list")).body.requests[0].notes).toBeNull();
  });
});

describe("reading", () => {
  test("control traffic is recorded under tier=control, apart from the traffic of the code under test", async () => {
    await request("GET", `${shop}/things`);
    await control("/health");
    const { requests } = (await control("/requests")).body;
    expect(
      requests.map(({ tier, operation }: { tier: string; operation: string }) => [tier, operation]),
    ).toEqual([
      ["vendor", "thing.list"],
      ["control", "health"],
      ["control", "requests.read"],
    ]);
  });

  test("filters by tier, operation, method, status and since, and pages", async () => {
    for (let index = 0; index < 3; index++) await request("GET", `${shop}/things`);
    await request("GET", `${shop}/things/none`);
    expect((await control("/requests?operation=thing.list")).body.total).toBe(3);
    expect((await control("/requests?status=404")).body.total).toBe(1);
    expect(
      (await control("/requests?tier=vendor&since=2")).body.requests.map(({ seq }: { seq: number }) => seq),
    ).toEqual([3, 4]);
    expect((await control("/requests?tier=vendor&limit=1&offset=2")).body).toMatchObject({
      requests: [{ seq: 3 }],
      total: 4,
    });
    expect((await control("/requests?method=POST")).body.total).toBe(0);
    for (const query of ["limit=1001", "tier=other", "stat=404", "since=x"]) {
      expect((await control(`/requests?${query}`)).status).toBe(422);
    }
  });
});

describe("secrets", () => {
  test("no secret reaches the journal: headers, cookies, members, query, form fields, paths, answers", async () => {
    const headers = {
      authorization: "Bearer top-secret-1",
      cookie: "session=top-secret-2",
      "x-api-key": "top-secret-3",
      "X-Shop-Signature": "top-secret-4",
      "proxy-authorization": "Basic top-secret-5",
    };
    await request("POST", `${shop}/echo?token=top-secret-6`, {
      headers: { ...headers, "content-type": "application/json" },
      body: { deep: [{ password: "top-secret-7", "toke\u006e": { nested: "top-secret-8" } }] },
    });
    await request("POST", `${shop}/echo`, {
      headers: { "content-type": "application/json" },
      body: '{"p\\u0061ssword": "top-secret-9"}',
    });
    await request("POST", `${shop}/echo`, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "user=ann&password=top-secret-a",
    });
    await request("POST", `${shop}/echo`, { body: '{"index":{}}\n{"password":"top-secret-b"}\n' });
    await request("POST", `${shop}/echo`, { body: `{"password":"top-secret-c"${" ".repeat(80_000)}}` });
    await request("POST", `${shop}/echo`, { body: 'not json "password": "top-secret-d"' });
    await request("POST", `${shop}/call/top-secret-e/control`);
    const answer = await control("/requests?limit=1000");
    const texts: string[] = answer.body.requests.map(
      ({ response: _response, ...rest }: { response: unknown }) => JSON.stringify(rest),
    );
    expect(texts.filter((text) => text.includes("top-secret"))).toEqual([]);
    const [first] = answer.body.requests;
    expect(first).toMatchObject({
      headers: { authorization: "***", cookie: "***", "x-api-key": "***", "x-shop-signature": "***" },
      query: { token: "***" },
      body: { deep: [{ password: "***", token: "***" }] },
      response: { headers: { "x-shop-ticket": "***" }, body: { token: "***" } },
    });
    expect(answer.text).not.toContain("token-secret");
    expect(answer.text).not.toContain(twins.apiKey);
  });
});

const key = "credential-0123456789";
const keep = (body: string) => {
  const journal = new Journal(createMask({ secretMembers: ["password"] }), liveClock);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  journal.record({
    tier: "vendor",
    operation: null,
    method: "POST",
    path: "/x",
    query: new URLSearchParams(),
    headers,
    body: Buffer.from(body),
    startedAt: 0,
  });
  const [entry] = journal.entries();
  return { text: entry?.body.bytes.toString("latin1") ?? "", truncated: entry?.body.truncated };
};

describe("lines of JSON", () => {
  test("stay as they are where a secret's name is only said in a text, and are masked whole where they are no JSON", () => {
    const said = '{"text": "the password has expired"}';
    expect(keep(`${said}\n{"password": "top-secret"}\nno JSON: password`).text).toBe(
      `${said}\n{"password":"***"}\n***`,
    );
  });
});

describe("the cut of a large body", () => {
  test("goes through no secret, wherever it stands and however much was masked before it", () => {
    const partOfKey = key.slice(0, 14);
    for (const before of ["", key, `${key} ${key} `, key.repeat(40)]) {
      for (let at = MAX_BODY_BYTES - 80; at < MAX_BODY_BYTES + 2000; at += 7) {
        const { text, truncated } = keep(
          `${before}${"y".repeat(at - before.length)}${key}${"z".repeat(9_000)}`,
        );
        expect(text).not.toContain(partOfKey);
        expect(text.length).toBeLessThanOrEqual(MAX_BODY_BYTES);
        expect(truncated).toBe(true);
      }
    }
  });

  test("lets no value of a secret member through whose name is in what is kept, or begins there", () => {
    const member = `"password":"top-secret-value"`;
    for (let at = MAX_BODY_BYTES - 60; at < MAX_BODY_BYTES + 200; at += 3) {
      const { text } = keep(`{"a":"${"y".repeat(at)}",${member},"b":"${"z".repeat(30_000)}"}`);
      expect(text).not.toContain("top-s");
    }
  });

  test("of lines is where it is of one text: no secret before it, none behind", () => {
    const line = `{"user":"ann","password":"top-secret-value"}\n`;
    const { text, truncated } = keep(line.repeat(4_000));
    expect(truncated).toBe(true);
    expect(text.length).toBeGreaterThan(MAX_BODY_BYTES - 1_000);
    expect(text.length).toBeLessThanOrEqual(MAX_BODY_BYTES);
    expect(text).not.toContain("top-s");
  });

  test("marks what is longer than is kept, and nothing else", () => {
    expect(keep("y".repeat(MAX_BODY_BYTES))).toMatchObject({ truncated: false });
    expect(keep("y".repeat(MAX_BODY_BYTES + 1))).toMatchObject({ truncated: true });
    expect(keep("y".repeat(MAX_BODY_BYTES + 1)).text).toHaveLength(MAX_BODY_BYTES);
  });
});

describe("bounds", () => {
  const mask = createMask({});
  const arrived = (body: Buffer, tier: "vendor" | "control" = "vendor") => ({
    tier,
    operation: "x",
    method: "POST",
    path: "/x",
    query: new URLSearchParams(),
    headers: { host: "x" },
    body,
    startedAt: 0,
  });
  const answer = { status: 200, headers: {}, body: Buffer.alloc(0) };

  test("a hundred thousand requests leave the newest, and say how many were let go", () => {
    const journal = new Journal(mask, liveClock, {
      vendor: { entries: 100, bytes: 1e9 },
      control: { entries: 5, bytes: 1e9 },
    });
    for (let index = 0; index < 100_000; index++) journal.record(arrived(Buffer.from("x")))(answer);
    expect(journal.entries().map(({ seq }) => seq)).toEqual(
      Array.from({ length: 100 }, (_, index) => 99_901 + index),
    );
    expect(journal.dropped()).toEqual({ vendor: 99_900, control: 0 });
  });

  test("bytes are bounded as well, answers included", () => {
    const journal = new Journal(mask, liveClock, {
      vendor: { entries: 1000, bytes: 100_000 },
      control: { entries: 5, bytes: 1e9 },
    });
    for (let index = 0; index < 1000; index++) {
      journal.record(arrived(Buffer.alloc(1000)))({ ...answer, body: Buffer.alloc(9000) });
    }
    const kept = journal.entries();
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.reduce((bytes, entry) => bytes + entry.bytes, 0)).toBeLessThanOrEqual(100_000);
    expect(kept.at(-1)?.seq).toBe(1000);
  });

  test("an answer that comes after its request was let go changes nothing", () => {
    const journal = new Journal(mask, liveClock, {
      vendor: { entries: 2, bytes: 1e9 },
      control: { entries: 2, bytes: 1e9 },
    });
    const complete = journal.record(arrived(Buffer.alloc(10)));
    for (let index = 0; index < 4; index++) journal.record(arrived(Buffer.alloc(10)))(answer);
    const before = journal.entries();
    complete({ ...answer, body: Buffer.alloc(60_000) });
    expect(journal.entries()).toEqual(before);
  });

  test("somebody who polls the control plane does not push out vendor traffic", () => {
    const journal = new Journal(mask, liveClock, {
      vendor: { entries: 3, bytes: 1e9 },
      control: { entries: 3, bytes: 1e9 },
    });
    journal.record(arrived(Buffer.alloc(1)))(answer);
    for (let index = 0; index < 50; index++) journal.record(arrived(Buffer.alloc(1), "control"))(answer);
    expect(journal.entries().map(({ seq }) => seq)).toEqual([1, 49, 50, 51]);
  });
});
