/** Paths that climb, bodies that are too large, and keys that are none. Proves a part of twins/SECURITY.md. */
import net from "node:net";
import { gzipSync } from "node:zlib";
import engine from "@offhook/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sendRaw } from "../testing/raw-http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins;
let shop: string;
let control: string;
beforeAll(async () => {
  const services = "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp] }\n";
  twins = await startEnvironment(services, { twins: [engine, createShop()] });
  ({ url: shop, control_url: control } = addressesOf(twins, "shop"));
});
afterAll(() => twins.stop());

function rawGet(path: string, headers = ""): Promise<string> {
  return sendRaw(
    twins.baseUrl,
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`,
  );
}

describe("paths that climb", () => {
  test.each([
    "/s/../c/dev/shop/sim/health",
    "/s/dev/../../c/dev/shop/sim/health",
    "/s/dev/shop/../../../c/dev/shop/sim/health",
    "/s/dev/shop/things/%2e%2e/%2e%2e/sim/health",
    "/s/dev/shop/things/..%2f..%2f..%2fsim",
    "/s/dev/shop/things/..%5c..%5csim",
    "/s/dev%2fshop/things",
    "/s/dev/%2e%2e/shop/things",
    "/s/de%76/shop/things",
    "/s/dev/shop%2fthings",
    "/s/dev/sh%6fp/things",
    "/c/dev%2fshop/sim/health",
    "/c/..%2fs/dev/shop/things",
  ])("%s reaches nothing", async (path) => {
    const answer = await rawGet(path, `X-API-Key: ${twins.apiKey}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(answer).not.toContain("lamp");
    expect(answer).not.toContain('"status":"ok"');
  });

  test("an encoded slash stays inside its segment: it cannot form the path of another operation", async () => {
    const answer = await request("GET", `${shop}/things%2Flamp`);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ fault: "the shop has no such counter" });
  });

  test("a percent sign that encodes nothing is a 400 in the vendor's words", async () => {
    const answer = await rawGet("/s/dev/shop/things/%zz");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"fault"');
  });

  test("a NUL in a segment is refused", async () => {
    expect(await rawGet("/s/dev/shop/things/a%00b")).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("bodies that are too large", () => {
  test("a declared length over the limit is a 413 in the twin's own shape", async () => {
    const answer = await request("POST", `${shop}/echo`, { body: "x".repeat(100_001) });
    expect(answer.status).toBe(413);
    expect(answer.body).toEqual({ fault: "at most 100000" });
  });

  test("a body of a gigabyte is refused before it is sent", async () => {
    const head = "POST /s/dev/shop/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n";
    const answer = await sendRaw(twins.baseUrl, head);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain("at most 100000");
  });

  test("a client that sends its whole body before it reads gets the refusal all the same", async () => {
    const { hostname, port } = new URL(twins.baseUrl);
    const body = Buffer.alloc(3_000_000, "x");
    for (const [path, status] of [
      ["/s/dev/shop/echo", 413],
      ["/s/dev/shop/nothing", 404],
      ["/c/dev/shop/sim/data", 401],
    ]) {
      const socket = net.connect(Number(port), hostname);
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
      socket.write(head);
      await new Promise((resolve) => socket.write(body, resolve));
      const chunks: Buffer[] = [];
      for await (const chunk of socket) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    }
  });

  test("a body without a declared length is cut off at the limit", async () => {
    const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const head = "POST /s/dev/shop/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    const answer = await sendRaw(twins.baseUrl, `${head}${piece.repeat(4)}0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("a small gzip body that unpacks to more than the limit is a 413", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    const answer = await request("POST", `${shop}/echo`, {
      headers: { "content-encoding": "gzip" },
      body: bomb,
    });
    expect(answer.status).toBe(413);
    expect(answer.body).toEqual({ fault: "at most 100000" });
  });

  test("a body that is not the gzip it claims to be is a 400, and so is a coding nobody knows", async () => {
    for (const coding of ["gzip", "deflate", "zstd, gzip"]) {
      const answer = await request("POST", `${shop}/echo`, {
        headers: { "content-encoding": coding },
        body: "plain",
      });
      expect(answer.status).toBe(400);
      expect(answer.body.fault).toContain(coding.split(",")[0]);
    }
  });

  test("a request that is both long and chunked is refused by the parser", async () => {
    const head =
      "POST /s/dev/shop/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n";
    expect(
      await sendRaw(twins.baseUrl, `${head}0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    ).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    ["two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n"],
    ["a space before the colon", "Transfer-Encoding : chunked\r\n"],
    ["a coding that is not chunked", "Transfer-Encoding: xchunked\r\n"],
    ["chunked before another coding", "Transfer-Encoding: chunked, identity\r\n"],
    ["a folded header", "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n"],
    ["a bare line feed", "Content-Length: 5\nTransfer-Encoding: chunked\r\n"],
  ])(
    "a length that can be read in two ways is refused, and nothing behind it is served: %s",
    async (_name, framing) => {
      const hidden = "GET /s/dev/shop/things/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
      const head = `POST /s/dev/shop/echo HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n`;
      const answer = await sendRaw(twins.baseUrl, `${head}0\r\n\r\n${hidden}`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer.split("HTTP/1.1 ")).toHaveLength(2);
      expect(answer).not.toContain("no thing smuggled");
    },
  );

  test("what stands behind a refused body is never taken for a request", async () => {
    const hidden = "GET /s/dev/shop/things/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const head = `POST /s/dev/shop/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length}\r\n\r\n`;
    const answer = await sendRaw(twins.baseUrl, `${head}${hidden}${hidden}`);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).not.toContain("no thing smuggled");
  });

  test("JSON nested ten thousand deep is refused, not recursed into", async () => {
    const body = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const headers = { "x-api-key": twins.apiKey };
    expect((await request("POST", `${control}/sim/data`, { headers, body })).status).toBe(400);
  });
});

describe("keys", () => {
  test.each([
    "http://localhost/c/dev/shop/sim/data",
    "http://localhost/s/dev/shop/../../../c/dev/shop/sim/data",
    "http://KEY@localhost/c/dev/shop/sim/data",
    "//c/dev/shop/sim/data",
    "/C/dev/shop/sim/data",
    "/c//dev/shop/sim/data",
    "/%63/dev/shop/sim/data",
    "/c/dev/KEY/sim/data",
    "/c/KEY/shop/sim/data",
  ])("no spelling of an address takes the place of the key: %s", async (target) => {
    const answer = await rawGet(target.replace("KEY", twins.apiKey));
    expect(answer).toMatch(/^HTTP\/1\.1 (400|401|404) /);
    expect(answer).not.toContain('"counts"');
  });

  test.each([
    "X-API-Key: KEY\r\nX-API-Key: wrong",
    "X-API-Key-: KEY",
    "X_API_KEY: KEY",
    "Proxy-Authorization: Bearer KEY",
  ])("a header that is not the one key opens nothing: %s", async (headers) => {
    const answer = await rawGet("/c/dev/shop/sim/data", `${headers.replace("KEY", twins.apiKey)}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  test.each([
    ["none", {}],
    ["a wrong one", { "x-api-key": "wrong" }],
    ["an empty one", { "x-api-key": "" }],
    ["the right one with more behind it", { "x-api-key": "KEY more" }],
    ["the right one twice", { "x-api-key": "KEY, KEY" }],
    ["the right one as a bearer token", { authorization: "Bearer KEY" }],
    ["the right one as a cookie", { cookie: "x-api-key=KEY" }],
  ])("the control plane refuses %s with 401", async (_name, given) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, String(value).replaceAll("KEY", twins.apiKey)]),
    );
    for (const path of ["/sim/health", "/sim/data", "/sim/nothing", "/"]) {
      const answer = await request("GET", `${control}${path}`, { headers });
      expect(answer.status).toBe(401);
      expect(answer.body.error.code).toBe("unauthorized");
    }
  });

  test("the right key in the query string is no key", async () => {
    const answer = await request("GET", `${control}/sim/health?x-api-key=${twins.apiKey}`);
    expect(answer.status).toBe(401);
  });

  test("without a key nothing tells whether a sandbox or a twin exists", async () => {
    const known = await request("GET", `${twins.baseUrl}/c/dev/shop/sim/health`);
    const unknown = await request("GET", `${twins.baseUrl}/c/none/nothing/sim/health`);
    expect({ status: unknown.status, text: unknown.text }).toEqual({
      status: known.status,
      text: known.text,
    });
  });

  test("with the key an unknown sandbox or twin is a 404", async () => {
    const headers = { "x-api-key": twins.apiKey };
    for (const path of ["/c/none/shop/sim/health", "/c/dev/none/sim/health"]) {
      expect((await request("GET", `${twins.baseUrl}${path}`, { headers })).status).toBe(404);
    }
  });

  test("a write without the key changes nothing", async () => {
    await request("POST", `${control}/sim/data`, { body: { data: { things: [{ id: "stolen" }] } } });
    expect((await request("GET", `${shop}/things/stolen`)).status).toBe(404);
  });
});
