/**
 * Whatever was asked can be listed: no recorded request breaks `/sim/requests` or the engine's trace.
 * Proves a part of twins/SECURITY.md.
 */

import engine from "@offhook/engine";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlOperations } from "../control/serve.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sendRaw } from "../testing/raw-http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins;
let simulation: string;
beforeAll(async () => {
  twins = await startEnvironment("version: 1\nservices: [{ name: shop }]\n", {
    twins: [engine, createShop()],
  });
  simulation = (await request("POST", `${twins.baseUrl}/simulations`)).body.id;
});
afterAll(() => twins.stop());

const deep = fc
  .tuple(
    fc.constantFrom("[", '{"a":', '[{"b":'),
    fc.constantFrom(10, 199, 201, 1000, 4500, 20_000),
    fc.boolean(),
  )
  .map(([open, levels, closed]) => {
    const close = [...open].reverse().flatMap((sign) => (sign === "[" ? ["]"] : sign === "{" ? ["}"] : []));
    return Buffer.from(`${open.repeat(levels)}1${closed ? close.join("").repeat(levels) : ""}`);
  });
const body = fc.oneof(
  deep,
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((text) => Buffer.from(text)),
  fc.string({ unit: "binary" }).map((text) => Buffer.from(JSON.stringify(text))),
  fc
    .constantFrom(
      '{"__proto__":{"x":1},"toJSON":1}',
      "1e999",
      "-0",
      "\ufeff{}",
      '"\\ud800"',
      "\0".repeat(70_000),
    )
    .map((text) => Buffer.from(text)),
);
/** What Node's parser takes in a header's value and in a path. */
const latin = (from: number) =>
  fc
    .array(
      fc.integer({ min: from, max: 255 }).filter((code) => code !== 127),
      { maxLength: 40 },
    )
    .map((codes) => String.fromCharCode(...codes));
const header = fc.tuple(
  fc.constantFrom(
    "X-Any",
    "__proto__",
    "constructor",
    "toString",
    "Authorization",
    "Cookie",
    "Content-Language",
  ),
  latin(32),
);
const path = fc.oneof(
  fc.constantFrom(
    "/echo",
    "/echo?__proto__=1&__proto__=2",
    "/echo?a=%ff%fe&%00",
    "/annotate",
    "/call/%E0%A4%A/control",
  ),
  latin(33).map((text) => `/${text.replaceAll("#", "")}`),
);

async function list(url: string, tier = "vendor"): Promise<{ path: string }[]> {
  const answer = await request("GET", `${url}/sim/requests?tier=${tier}&limit=1000`, {
    headers: { "x-api-key": twins.apiKey },
  });
  expect(answer.status).toBe(200);
  return answer.body.requests;
}

test("of any path, headers and body", async () => {
  const { control_url: control } = addressesOf(twins, "shop");
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(path, fc.array(header, { maxLength: 3 }), body, async (target, headers, bytes) => {
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      const head = `POST /s/dev/shop${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${bytes.length}\r\n${lines}\r\n`;
      const answer = await sendRaw(twins.baseUrl, Buffer.concat([Buffer.from(head, "latin1"), bytes]));
      // Refused by the parser of HTTP itself, and so not recorded.
      if (!/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/.test(answer)) sent++;
      expect(await list(control)).toHaveLength(sent);
    }),
    { numRuns: 150 },
  );
  const trace = await request("GET", `${twins.baseUrl}/simulations/${simulation}/trace`);
  expect(trace.status).toBe(200);
  expect(trace.body.trace).toHaveLength(sent);
});

describe("a control route", () => {
  const values: unknown[] = [
    null,
    [],
    {},
    0,
    -1,
    1e308,
    true,
    "",
    "\0",
    "x".repeat(5000),
    [[null]],
    { a: null },
  ];
  const members = [
    ...[
      "data",
      "profile",
      "entity_type",
      "key",
      "where",
      "changes",
      "url",
      "headers",
      "now",
      "frozen",
      "speed",
    ],
    ...[
      "effect",
      "operation",
      "all",
      "match",
      "after",
      "probability",
      "seed",
      "times",
      "delay_ms",
      "status",
      "at",
    ],
    ...["retry_after", "bytes", "code", "after_ms", "bytes_per_second", "content_hash", "id", "services"],
    ...["environment", "layout", "ttl_seconds", "name", "config", "port", "dns_aliases", "files"],
  ];
  interface Route {
    method: string;
    base: "control" | "sandboxes";
    path: string;
  }
  const routes: Route[] = [
    ...controlOperations.map(({ method, path }) => ({ method, base: "control" as const, path })),
    ...["", "/dev/reset"].map((path) => ({ method: "POST", base: "sandboxes" as const, path })),
  ].filter(({ method }) => ["POST", "PUT", "PATCH", "DELETE"].includes(method));

  /** A fault that is sound, so that one wrong member is looked at beside right ones. */
  const sound = [
    {},
    { effect: "status", status: 503, operation: "echo" },
    { effect: "slow", all: true, delay_ms: 1 },
    { effect: "drop", operation: "call.transport" },
    { entity_type: "things", key: "lamp", changes: { price: 2 } },
    { data: { things: [{ id: "chair" }] } },
    { now: "2026-01-01T00:00:00Z", speed: 2 },
    { url: "http://127.0.0.1:1/hook" },
  ];
  const nested = ["match", "data", "where", "changes", "headers", "services"];
  const inner = ["method", "path", "headers", "json", "things", "id", "price", "name", "0"];

  test("answers null, a list or a number at any member with less than 500, and so whatever it is sent", async () => {
    const { control_url: control } = addressesOf(twins, "shop");
    const value = fc.oneof(fc.constantFrom(...values), fc.jsonValue({ maxDepth: 3 }));
    const whole = fc.oneof(
      value,
      fc.tuple(fc.constantFrom(...sound), fc.constantFrom(...members), value).map(([base, name, given]) => ({
        ...base,
        [name]: given,
      })),
      fc
        .tuple(fc.constantFrom(...sound), fc.constantFrom(...nested), fc.constantFrom(...inner), value)
        .map(([base, name, within, given]) => ({ ...base, [name]: { [within]: given } })),
    );
    const headers = { "x-api-key": twins.apiKey };
    const send = async ({ method, base, path }: Route, given: unknown) => {
      const root = base === "control" ? control : `${twins.baseUrl}/sandboxes`;
      const answer = await request(method, `${root}${path.replace(/:\w+/g, "lamp")}`, {
        headers,
        body: given,
      });
      expect(answer.status, `${method} ${path} ${JSON.stringify(given)}`).toBeLessThan(500);
      if (answer.status === 201 && base === "sandboxes") {
        await request("DELETE", `${twins.baseUrl}/sandboxes/${answer.body.id}`, { headers });
      }
    };
    // Each member of each kind of fault, with each of the values: the class that was found.
    const arming: Route = { method: "POST", base: "control", path: "/sim/faults" };
    for (const base of sound.slice(0, 4)) {
      for (const name of members) for (const given of values) await send(arming, { ...base, [name]: given });
      for (const name of inner)
        for (const given of values) await send(arming, { ...base, match: { [name]: given } });
      await request("DELETE", `${control}/sim/faults`, { headers });
    }
    await fc.assert(fc.asyncProperty(fc.constantFrom(...routes), whole, send), { numRuns: 600 });
    await request("DELETE", `${control}/sim/faults`, { headers });
    expect((await list(control, "control")).length).toBeGreaterThan(0);
  });
});
