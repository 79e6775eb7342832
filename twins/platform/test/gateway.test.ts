import { EventEmitter, once } from "node:events";
import http from "node:http";
import { deflateSync, gzipSync } from "node:zlib";
import engine from "@offhook/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prefersHtml } from "../server/root-page.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

const notes = new EventEmitter();
let twins: RunningTwins;
let shop: string;
beforeAll(async () => {
  const services =
    "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp, chair] }\n    dns_aliases: [Shop.Example.com]\n";
  twins = await startEnvironment(services, { twins: [engine, createShop((what) => notes.emit(what))] });
  shop = addressesOf(twins, "shop").url;
});
afterAll(() => twins.stop());

/** A request with a `Host` of its own, which `fetch` does not allow. */
async function requestAs(host: string, path: string): Promise<{ status: number | undefined; body: string }> {
  const { port } = new URL(twins.baseUrl);
  const client = http.get({ host: "127.0.0.1", port, path, headers: { host }, agent: false });
  const [response] = (await once(client, "response")) as [http.IncomingMessage];
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body };
}

describe("addresses", () => {
  test("a vendor API answers below /s/<sandbox>/<twin>", async () => {
    expect(shop).toBe(`${twins.baseUrl}/s/dev/shop`);
    expect((await request("GET", `${shop}/things/lamp`)).body).toMatchObject({ id: "lamp" });
  });

  test("a fixed segment wins over a named one, and a slash at the end makes no difference", async () => {
    expect((await request("GET", `${shop}/things/special`)).body).toEqual({ special: true });
    expect((await request("GET", `${shop}/things/special/`)).body).toEqual({ special: true });
  });

  test("a named segment is decoded", async () => {
    expect((await request("GET", `${shop}/things/a%20b%2Fc`)).body).toEqual({ fault: "no thing a b/c" });
  });

  test.each(["shop.example.com", "SHOP.EXAMPLE.COM:443", "shop.example.com."])(
    "a request for the host name %s is the twin's, with its whole path",
    async (host) => {
      expect(await requestAs(host, "/things/lamp")).toMatchObject({ status: 200 });
      expect((await requestAs(host, "/s/dev/engine/simulations/x")).body).toContain("no such counter");
    },
  );

  test("a browser is told at / what this is, a program gets it as JSON, and nobody a key", async () => {
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
    const page = await fetch(`${twins.baseUrl}/`, { headers: { accept: browser } });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await page.text();
    expect(html).toContain(`<td>shop</td><td><code>${shop}</code></td>`);
    const json = await request("GET", `${twins.baseUrl}/`);
    expect(json).toMatchObject({ status: 200, body: { name: "offhook twins", sandbox: "dev" } });
    for (const text of [html, JSON.stringify(json.body)]) expect(text).not.toContain(twins.apiKey);
    const head = await fetch(`${twins.baseUrl}/`, { method: "HEAD", headers: { accept: browser } });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await request("POST", `${twins.baseUrl}/`)).status).toBe(404);
  });

  test.each([
    [undefined, false],
    ["*/*", false],
    ["application/json", false],
    ["text/html;q=0.5, application/json", false],
    ["text/html, */*;q=0.8", true],
    ["application/json;q=0.9, TEXT/HTML", true],
    ["text/*", true],
    ["text/html;q=none", false],
  ])("Accept: %s is for a page: %s", (accept, wanted) => {
    expect(prefersHtml(accept)).toBe(wanted);
  });

  test("of this machine, any other path is the engine's", async () => {
    const answer = await requestAs("localhost", "/things/lamp");
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body).error.code).toBe("not_found");
  });

  test("a request target that is a whole URL is read by its host", async () => {
    const answer = await requestAs("localhost", "http://shop.example.com/things/lamp");
    expect(answer.status).toBe(200);
  });

  test.each(["/s/dev/none/x", "/s/none/shop/things", "/s/dev", "/s//shop/things", "/s/DEV/shop/things"])(
    "%s is nowhere",
    async (path) => {
      const answer = await request("GET", `${twins.baseUrl}${path}`);
      expect(answer.status).toBe(404);
      expect(answer.body.error.code).toBe("not_found");
    },
  );

  test.each(["/sim", "/sim/health", "/sim/data", "/openapi.json", "/docs", "/docs/", "/redoc"])(
    "on the vendor's address %s is the vendor's own 404, byte for byte",
    async (path) => {
      const unknown = await request("GET", `${shop}/nothing-here`);
      const answer = await request("GET", `${shop}${path}`, { headers: { "x-api-key": twins.apiKey } });
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 404, text: unknown.text });
      expect(unknown.body).toEqual({ fault: "the shop has no such counter" });
    },
  );
});

test.each(["/redoc", "/redoc/", "/openapi.json", "/sim", "/sim/"])(
  "%s may be something of the vendor's, though no page of documentation is served there",
  async (path) => {
    const put = await request("PUT", `${shop}${path}`, { body: "anything" });
    const name = path.split("/")[1];
    expect([put.status, put.body]).toEqual([201, { counter: name }]);
    expect((await request("HEAD", `${shop}${path}`)).status).toBe(204);
    const below = await request("PUT", `${shop}/sim/${name}`, { body: "anything" });
    expect([below.status, below.body]).toEqual([404, { fault: "the shop has no such counter" }]);
  },
);

describe("methods", () => {
  test("HEAD is GET without a body", async () => {
    const got = await request("GET", `${shop}/things`);
    const head = await request("HEAD", `${shop}/things`);
    expect(head.status).toBe(200);
    expect(head.text).toBe("");
    expect(head.headers.get("content-length")).toBe(got.headers.get("content-length"));
  });

  test("a method that is not served is refused in the vendor's words", async () => {
    expect((await request("PUT", `${shop}/things`)).body).toEqual({ fault: "the shop has no such counter" });
  });
});

describe("bodies", () => {
  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
  ] as const)("a %s body arrives decoded", async (coding, encode) => {
    const headers = { "content-encoding": coding };
    const answer = await request("POST", `${shop}/echo`, { headers, body: encode("hello") });
    expect(answer.body).toMatchObject({ length: 5, text: "hello" });
  });

  test("bytes arrive as they were sent", async () => {
    const body = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const answer = await request("POST", `${shop}/echo`, { body });
    expect(answer.body.text).toBe(body.toString("latin1"));
  });

  test("an answer can be a stream", async () => {
    const answer = await request("GET", `${shop}/stream`);
    expect(answer.text).toBe("one two three");
    expect((await request("HEAD", `${shop}/stream`)).status).toBe(200);
  });

  test("an answer without a body has none", async () => {
    const answer = await request("POST", `${shop}/call/x/control`);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: "" });
  });
});

describe("failures", () => {
  test("an operation that throws is the vendor's own 500, without the reason", async () => {
    const answer = await request("GET", `${shop}/crash`);
    expect(answer.status).toBe(500);
    expect(answer.text).toBe('{"fault":"the shop is in disorder"}');
  });

  test("a stream that fails cuts its connection, so that nobody takes the part for the whole", async () => {
    await expect(request("GET", `${shop}/broken-stream`)).rejects.toThrow();
    expect((await request("GET", `${shop}/things/lamp`)).status).toBe(200);
  });

  test("a handler is told when its client has gone", async () => {
    const waiting = once(notes, "waiting");
    const aborted = once(notes, "aborted");
    const controller = new AbortController();
    const hanging = fetch(`${shop}/hang`, { signal: controller.signal });
    await waiting;
    controller.abort();
    await expect(hanging).rejects.toThrow();
    await aborted;
  });

  test("any number of a handler's parts may be told that its client has gone: no leak is warned of", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    const aborted = once(notes, "aborted");
    const waiting = once(notes, "waiting");
    const controller = new AbortController();
    const hanging = fetch(`${shop}/hang`, { signal: controller.signal });
    await waiting;
    controller.abort();
    await expect(hanging).rejects.toThrow();
    await aborted;
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});
