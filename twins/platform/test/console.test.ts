/** `/console`: the pages that another package makes, at the gateway's own address alone. */
import engine from "@offhook/engine";
import { afterEach, expect, test } from "vitest";
import type { ConsolePages, ConsoleRequest, LoadConsole } from "../server/console.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { captureLog } from "../testing/log-lines.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

const environment = `version: 1
services:
  - { name: shop, port: 0, dns_aliases: [shop.internal] }
actor:
  channels:
    - { type: voice_ws, url: "ws://127.0.0.1:8008/voice" }
    - { type: voice_ws, url: "ws://127.0.0.1:8008/other" }
    - { type: voice_ws, url: "wss://agent.example/voice" }
`;

let twins: RunningTwins;
afterEach(() => twins.stop());

/** Starts twins with pages that repeat their path; `asked` are the requests that they got. */
async function startWithPages(load?: (pages: ConsolePages) => ReturnType<LoadConsole>) {
  const asked: ConsoleRequest[] = [];
  const pages: ConsolePages = {
    async serve(page) {
      asked.push(page);
      return { status: 200, headers: { "content-type": "text/plain" }, body: `page ${page.path}` };
    },
  };
  const captured = captureLog();
  twins = await startEnvironment(environment, {
    twins: [engine, createShop()],
    console: load ? () => load(pages) : async () => ({ default: pages }),
    log: captured.log,
  });
  return { asked, captured };
}

test.each([
  ["/console", "/"],
  ["/console/", "/"],
  ["/console/assets/page.js", "/assets/page.js"],
  ["/console/dev/journal?status=500", "/dev/journal"],
  ["/console/dev/a%2Fb", "/dev/a%2Fb"],
])("%s is the page %s", async (address, page) => {
  const { asked } = await startWithPages();
  const answer = await request("GET", `${twins.baseUrl}${address}`, {
    headers: { "accept-encoding": "gzip" },
  });
  expect(answer).toMatchObject({ status: 200, text: `page ${page}` });
  expect(asked).toMatchObject([
    {
      path: page,
      headers: { "accept-encoding": "gzip" },
      connectSources: ["ws://127.0.0.1:8008", "wss://agent.example"],
    },
  ]);
});

test("HEAD gets the headers of a page, and every other method 405", async () => {
  await startWithPages();
  const head = await request("HEAD", `${twins.baseUrl}/console/dev`);
  expect(head).toMatchObject({ status: 200, text: "" });
  expect(head.headers.get("content-type")).toBe("text/plain");
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const refused = await request(method, `${twins.baseUrl}/console/dev`);
    expect(refused.status).toBe(405);
    expect(refused.headers.get("allow")).toBe("GET, HEAD");
    expect(refused.body.error.code).toBe("method_not_allowed");
  }
});

test("a page can neither be framed nor hide that it is the one that asks, whatever it says", async () => {
  const headers = {
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
    "content-language": "en",
  };
  await startWithPages(async () => ({ default: { serve: async () => ({ status: 200, headers }) } }));
  const page = await request("GET", `${twins.baseUrl}/console`);
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "content-language": "en",
  });
});

test("the pages are loaded for the first request, once", async () => {
  let loads = 0;
  await startWithPages(async (pages) => {
    loads += 1;
    return { default: pages };
  });
  await request("GET", `${twins.baseUrl}/sandboxes`);
  expect(loads).toBe(0);
  const addresses = ["/console", "/console/a", "/console/b"].map((path) => `${twins.baseUrl}${path}`);
  await Promise.all(addresses.map((address) => request("GET", address)));
  expect(loads).toBe(1);
});

test("pages that cannot be loaded are answered with 500 and tried again", async () => {
  let broken = true;
  const { captured } = await startWithPages(async (pages) => {
    if (broken) throw new Error("the private reason");
    return { default: pages };
  });
  const failed = await request("GET", `${twins.baseUrl}/console`);
  expect(failed.status).toBe(500);
  expect(failed.text).not.toContain("private");
  expect(captured.text()).toContain("the private reason");
  broken = false;
  expect((await request("GET", `${twins.baseUrl}/console`)).status).toBe(200);
});

test("a twin's host name and own port, and paths that only begin alike, are untouched", async () => {
  const { asked } = await startWithPages();
  const own = addressesOf(twins, "shop").port_url;
  // Over a name of the shop and at its port, `/console` is a counter of the shop.
  expect((await request("PUT", `${own}/console`)).body).toEqual({ counter: "console" });
  expect((await request("GET", `${own}/console/dev`)).body).toHaveProperty("fault");
  expect((await request("GET", `${twins.baseUrl}/consoles`)).status).toBe(404);
  expect((await request("GET", `${twins.baseUrl}/s/dev/shop/console/dev`)).status).toBe(404);
  expect(asked).toEqual([]);
});

test("the gateway's root says where it is, to programs and in a browser", async () => {
  await startWithPages();
  const html = { accept: "text/html" };
  expect((await request("GET", twins.baseUrl)).body.console).toBe(`${twins.baseUrl}/console`);
  expect((await request("GET", twins.baseUrl, { headers: html })).text).toContain('<a href="/console">');
});

test("without pages it is a path like any other", async () => {
  twins = await startEnvironment(environment, { twins: [engine, createShop()] });
  expect((await request("GET", twins.baseUrl)).body).not.toHaveProperty("console");
  expect((await request("GET", twins.baseUrl, { headers: { accept: "text/html" } })).text).not.toContain(
    "console",
  );
  for (const path of ["/console", "/console/dev", "/console/session"]) {
    const unknown = await request("GET", `${twins.baseUrl}/unknown${path}`);
    const answer = await request("GET", `${twins.baseUrl}${path}`);
    expect(answer.status).toBe(404);
    expect(answer.text).toBe(unknown.text.replace("/unknown", ""));
  }
});
