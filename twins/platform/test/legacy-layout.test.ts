/** The keyless layout: what it opens, and what it does not. Proves a part of twins/SECURITY.md. */
import { once } from "node:events";
import engine from "@offhook/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sendRaw } from "../testing/raw-http.ts";
import { type AskSandboxes, sandboxRoutes } from "../testing/sandboxes.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins;
let ask: AskSandboxes;
let shop: string;
beforeAll(async () => {
  twins = await startEnvironment("version: 1\nservices: [{ name: shop, config: { stock: [lamp] } }]\n", {
    twins: [engine, createShop()],
  });
  ask = sandboxRoutes(twins);
  const made = await ask("POST", "", { id: "pinned", layout: "legacy" });
  shop = made.body.twins[1].url;
});
afterAll(() => twins.stop());

test("a pinned world's control_url is its keyless /s/ address, and control_auth is null", async () => {
  const { body } = await ask("GET", "/pinned");
  expect(body.layout).toBe("legacy");
  for (const twin of body.twins) {
    expect(twin.control_url).toBe(twin.url);
    expect(twin.url).toBe(`${twins.baseUrl}/s/pinned/${twin.name}`);
    expect(twin.control_auth).toBeNull();
  }
});

test("the control plane answers there without a key, beside the vendor API", async () => {
  expect((await request("GET", `${shop}/sim/health`)).body).toMatchObject({
    status: "ok",
    sandbox: "pinned",
  });
  const data = { data: { things: [{ id: "vase" }] } };
  expect((await request("POST", `${shop}/sim/data`, { body: data })).status).toBe(201);
  expect((await request("GET", `${shop}/things/vase`)).status).toBe(200);
  expect((await request("POST", `${shop}/sim/reset`)).status).toBe(200);
  expect((await request("GET", `${shop}/things/vase`)).status).toBe(404);
});

test("it is recorded as control traffic, apart from the vendor's", async () => {
  await request("GET", `${shop}/things`);
  await request("GET", `${shop}/sim/health`);
  const { requests } = (await request("GET", `${shop}/sim/requests`)).body;
  for (const { tier, path } of requests) expect(tier).toBe(path.startsWith("/sim") ? "control" : "vendor");
  expect(new Set(requests.map(({ tier }: { tier: string }) => tier))).toEqual(new Set(["control", "vendor"]));
});

test("an X-API-Key header is gone before anything sees it, whatever its value", async () => {
  for (const key of ["wrong", twins.apiKey]) {
    const headers = { "X-API-Key": key, "x-other": "kept" };
    expect((await request("GET", `${shop}/sim/health`, { headers })).status).toBe(200);
    expect((await request("GET", `${shop}/things`, { headers })).status).toBe(200);
  }
  const socket = new WebSocket(`${shop.replace("http:", "ws:")}/call/abc/transport`, {
    headers: { "X-API-Key": twins.apiKey },
  });
  await once(socket, "open");
  socket.close();
  await once(socket, "close");
  const { requests } = (await request("GET", `${shop}/sim/requests`)).body;
  expect(requests.length).toBeGreaterThan(4);
  for (const { headers } of requests) expect(Object.keys(headers)).not.toContain("x-api-key");
  expect(requests.some(({ headers }: { headers: object }) => "x-other" in headers)).toBe(true);
});

test("a split sandbox keeps the header for its record, masked", async () => {
  await request("GET", `${twins.baseUrl}/s/dev/shop/things`, { headers: { "x-api-key": twins.apiKey } });
  const records = await request("GET", `${twins.baseUrl}/c/dev/shop/sim/requests`, {
    headers: { "x-api-key": twins.apiKey },
  });
  expect(records.body.requests[0].headers["x-api-key"]).toBe("***");
});

test.each(["/openapi.json", "/docs", "/redoc", "/simulate", "/%73im/health"])(
  "%s is not the control plane",
  async (path) => {
    const answer = await request("GET", `${shop}${path}`);
    expect(answer.body).toEqual({ fault: "the shop has no such counter" });
  },
);

test("nothing of it is at /c/, even with the key", async () => {
  const headers = { "x-api-key": twins.apiKey };
  expect((await request("GET", `${twins.baseUrl}/c/pinned/shop/sim/health`, { headers })).status).toBe(404);
});

test("no other address that leads to the twin has it: root, host name, own port", async () => {
  const text =
    "version: 1\nlayout: legacy\nservices: [{ name: shop, port: 0, dns_aliases: [shop.internal], config: { stock: [lamp] } }]\n";
  const own = await startEnvironment(text, { twins: [engine, createShop()] });
  const { port_url: port = "", control_url } = addressesOf(own, "shop");
  expect((await request("GET", `${control_url}/sim/health`)).status).toBe(200);
  const root = await request("GET", `${own.baseUrl}/sim/health`);
  expect([root.status, root.body.error.message]).toEqual([404, "nothing is served at /sim/health"]);
  const write = { body: { data: { things: [{ id: "stolen" }] } } };
  const head = "GET /sim/health HTTP/1.1\r\nHost: shop.internal\r\nConnection: close\r\n\r\n";
  expect(await sendRaw(own.baseUrl, head)).toMatch(/^HTTP\/1\.1 404 .*the shop has no such counter/s);
  const byPort = await request("POST", `${port}/sim/data`, write);
  expect([byPort.status, byPort.body]).toEqual([404, { fault: "the shop has no such counter" }]);
  expect((await request("GET", `${port}/things/stolen`)).status).toBe(404);
  expect((await request("GET", `${port}/things/lamp`)).status).toBe(200);
  await own.stop();
});

test("the sandbox routes still take the key", async () => {
  expect((await request("POST", `${twins.baseUrl}/sandboxes/pinned/reset`)).status).toBe(401);
  expect((await ask("POST", "/pinned/reset")).status).toBe(200);
});

test("an environment file can pin dev", async () => {
  const own = await startEnvironment("version: 1\nlayout: legacy\nservices: []\n", { twins: [engine] });
  const [twin] = own.sandboxes[0]?.twins ?? [];
  expect(twin).toMatchObject({ control_url: `${own.baseUrl}/s/dev/engine`, control_auth: null });
  expect((await request("GET", `${twin?.control_url}/sim/health`)).status).toBe(200);
  await own.stop();
});
