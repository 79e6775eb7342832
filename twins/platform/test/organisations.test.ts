/** An organisation sees its own sandboxes alone. Proves a part of twins/SECURITY.md. */
import { createHash } from "node:crypto";
import engine from "@offhook/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxOperations } from "../control/sandboxes.ts";
import { controlOperations } from "../control/serve.ts";
import { createApiKeys, readKeyVariable } from "../http/api-keys.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sendRaw } from "../testing/raw-http.ts";
import { type AskSandboxes, sandboxRoutes } from "../testing/sandboxes.ts";
import { createShop } from "../testing/shop-twin.ts";
import { startEnvironment } from "../testing/twins.ts";

const hashOf = (key: string) => `sha256:${createHash("sha256").update(key).digest("hex")}`;
const ACME = "key-of-acme";
const GLOBEX = "key-of-globex";
const GLOBEX_SECOND = "second-key-of-globex";

let twins: RunningTwins;
let ask: AskSandboxes;
beforeAll(async () => {
  const file = [
    "version: 1",
    "services: [{ name: shop, config: { stock: [lamp] } }]",
    "keys:",
    `  acme: ${hashOf(ACME)}`,
    `  globex: [${hashOf(GLOBEX)}]`,
  ].join("\n");
  twins = await startEnvironment(`${file}\n`, {
    twins: [engine, createShop()],
    keys: readKeyVariable(`globex=${hashOf(GLOBEX_SECOND)}`),
  });
  ask = sandboxRoutes(twins);
  await ask("POST", "", { id: "alpha" }, ACME);
  await ask("POST", "", { id: "beta" }, GLOBEX);
});
afterAll(() => twins.stop());

describe("organisations of the configuration", () => {
  test("the first one owns dev, by its own key and by the one that is printed", async () => {
    for (const key of [ACME, twins.apiKey]) {
      const listed = (await ask("GET", "", undefined, key)).body.sandboxes;
      expect(listed.map(({ id }: { id: string }) => id)).toEqual(["dev", "alpha"]);
    }
    expect((await ask("GET", "/dev", undefined, GLOBEX)).status).toBe(404);
  });

  test("each of its keys opens what an organisation has", async () => {
    for (const key of [GLOBEX, GLOBEX_SECOND]) {
      expect((await ask("GET", "/beta", undefined, key)).status).toBe(200);
    }
  });

  test("two may use the same id, and neither learns of the other", async () => {
    const made = await ask("POST", "", { id: "alpha" }, GLOBEX);
    expect(made.status).toBe(201);
    expect(made.body.id).toBe("globex--alpha");
    const headers = { "x-api-key": GLOBEX };
    const shop = made.body.twins[1];
    const data = { data: { things: [{ id: "ours" }] } };
    expect((await request("POST", `${shop.control_url}/sim/data`, { headers, body: data })).status).toBe(201);
    expect((await request("GET", `${twins.baseUrl}/s/alpha/shop/things`)).text).not.toContain("ours");
    expect((await request("GET", `${shop.url}/things`)).text).toContain("ours");
    expect((await ask("POST", "/alpha/reset", undefined, ACME)).status).toBe(200);
    expect((await request("GET", `${shop.url}/things`)).text).toContain("ours");
    expect((await ask("DELETE", "/alpha", undefined, GLOBEX)).status).toBe(204);
    expect((await ask("GET", "/alpha", undefined, ACME)).status).toBe(200);
  });

  test.each([{ dns_aliases: ["api.example.com"] }, { port: 0 }])(
    "only the owner of dev may claim %o, with which requests of others could be taken",
    async (claim) => {
      const body = { id: "claims", services: [{ name: "shop", ...claim }] };
      const refused = await ask("POST", "", body, GLOBEX);
      expect(refused.status).toBe(403);
      expect(refused.body.error.code).toBe("forbidden");
      expect((await ask("POST", "", body, ACME)).status).toBe(201);
      await ask("DELETE", "/claims", undefined, ACME);
    },
  );

  test("another's number of sandboxes does not count", async () => {
    const one = await startEnvironment(
      `version: 1\nservices: []\nkeys: { acme: "${hashOf(ACME)}", globex: "${hashOf(GLOBEX)}" }\n`,
      { twins: [engine], maxSandboxes: 1 },
    );
    const asked = sandboxRoutes(one);
    expect((await asked("POST", "", {}, ACME)).status).toBe(429);
    expect((await asked("POST", "", {}, GLOBEX)).status).toBe(201);
    await one.stop();
  });

  test("the records of the routes are an organisation's own", async () => {
    const records = await ask("GET", "/requests?limit=1000", undefined, GLOBEX);
    expect(records.text).not.toContain(twins.apiKey);
    expect(records.body.requests.length).toBeGreaterThan(0);
    await ask("GET", "/only-acme-asked", undefined, ACME);
    expect((await ask("GET", "/requests?limit=1000", undefined, GLOBEX)).text).not.toContain(
      "only-acme-asked",
    );
  });
});

test("every sandbox is at /s/ and /c/ with the id that it is listed with, whoever owns it", async () => {
  await ask("POST", "", {}, GLOBEX);
  for (const key of [ACME, GLOBEX]) {
    const { sandboxes } = (await ask("GET", "", undefined, key)).body;
    expect(sandboxes.length).toBeGreaterThan(1);
    for (const { id, twins: own } of sandboxes) {
      for (const { name, url, control_url } of own) {
        expect(url).toBe(`${twins.baseUrl}/s/${id}/${name}`);
        expect(control_url).toBe(`${twins.baseUrl}/c/${id}/${name}`);
        const health = await request("GET", `${control_url}/sim/health`, { headers: { "x-api-key": key } });
        expect(health.body).toMatchObject({ sandbox: id, twin: name });
      }
      expect((await ask("GET", `/${id}`, undefined, key)).body.id).toBe(id);
    }
  }
  const short = await request("GET", `${twins.baseUrl}/c/beta/shop/sim/health`, {
    headers: { "x-api-key": GLOBEX },
  });
  expect(short.body.sandbox).toBe("globex--beta");
});

test("a key that opens nothing there is on record with the twin that was addressed, for its owner alone", async () => {
  const control = (id: string, key: string, path: string) =>
    request("GET", `${twins.baseUrl}/c/${id}/shop/sim/${path}`, { headers: { "x-api-key": key } });
  expect((await control("alpha", GLOBEX, "data?note=globex-note")).status).toBe(404);
  expect((await control("alpha", "no-key-at-all", "data")).status).toBe(401);
  const seen = await control("alpha", ACME, "requests?tier=control&status=4xx&order=newest&limit=2");
  expect(seen.body.requests).toMatchObject([
    { status: 401, path: "/sim/data", operation: "data.read", headers: { "x-api-key": "***" } },
    { status: 404, path: "/sim/data", operation: "data.read", query: { note: "***" } },
  ]);
  for (const secret of [GLOBEX, "globex-note", "no-key-at-all"]) expect(seen.text).not.toContain(secret);
  expect((await control("beta", GLOBEX, "requests?tier=control&limit=1000")).text).not.toContain(
    '"status":404',
  );
});

/** An answer as it came, without what differs from one moment to the next, and with the id written as `ID`. */
async function bytesOf(method: string, path: string, key: string, id: string): Promise<string> {
  const body = method === "GET" ? "" : "{}";
  const head = `${method} ${path.replaceAll("ID", id)} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n`;
  const answer = await sendRaw(
    twins.baseUrl,
    `${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  return answer.replace(/\r\nDate: [^\r]*/, "").replaceAll(id, "ID");
}

describe("another organisation's sandbox is answered as one that never was, byte for byte", () => {
  const routes = [
    ...sandboxOperations.filter(({ path }) => path.includes(":id")),
    ...controlOperations.map(({ method, path }) => ({ method, path: `/c/:id/shop${path}` })),
  ].map(({ method, path }) => ({
    method,
    path: path.replace(":id", "ID").replace(/:\w+/g, "x"),
  }));

  test.each(routes)("$method $path", async ({ method, path }) => {
    const others = await bytesOf(method, path, GLOBEX, "alpha");
    const unknown = await bytesOf(method, path, GLOBEX, "omega");
    expect(others).toBe(unknown);
    expect(others).toMatch(/^HTTP\/1\.1 404 /);
  });

  test.each(["beta", "globex--beta"])("the id %s of somebody else's sandbox leads nowhere", async (id) => {
    expect((await ask("GET", `/${id}`, undefined, ACME)).status).toBe(404);
    expect((await ask("DELETE", `/${id}`, undefined, ACME)).status).toBe(404);
    const headers = { "x-api-key": ACME };
    expect((await request("GET", `${twins.baseUrl}/c/${id}/shop/sim/health`, { headers })).status).toBe(404);
    expect((await ask("GET", "/beta", undefined, GLOBEX)).status).toBe(200);
  });

  test("an unknown twin of one's own sandbox is answered like an unknown sandbox", async () => {
    const twin = await bytesOf("GET", "/c/alpha/ID/sim/health", ACME, "nothing");
    const sandbox = await bytesOf("GET", "/c/omega/ID/sim/health", ACME, "nothing");
    expect(twin).toBe(sandbox);
  });
});

describe("a key in the wrong place is no key", () => {
  const places: [string, Record<string, string>, string][] = [
    ["the query", {}, `?x-api-key=${ACME}&api_key=${ACME}&X-API-Key=${ACME}`],
    ["a cookie", { cookie: `x-api-key=${ACME}; X-API-Key=${ACME}` }, ""],
    ["Authorization", { authorization: `Bearer ${ACME}` }, ""],
    ["Authorization, as a password", { authorization: `Basic ${btoa(`acme:${ACME}`)}` }, ""],
    ["Proxy-Authorization", { "proxy-authorization": `Bearer ${ACME}` }, ""],
    ["a header of another name", { "api-key": ACME, "x-apikey": ACME }, ""],
    ["the header, with another behind it", { "x-api-key": `${ACME}, ${GLOBEX}` }, ""],
    ["the header, hashed", { "x-api-key": hashOf(ACME) }, ""],
    ["the header, as the bare hash", { "x-api-key": hashOf(ACME).slice(7) }, ""],
  ];
  test.each(places)("%s", async (_name, headers, query) => {
    for (const { method, path } of sandboxOperations) {
      const url = `${twins.baseUrl}${path.replace(":id", "alpha")}${query}`;
      const answer = await request(method, url, { headers });
      expect(answer.status).toBe(401);
      expect(answer.body.error.code).toBe("unauthorized");
    }
    const control = `${twins.baseUrl}/c/alpha/shop/sim/health${query}`;
    expect((await request("GET", control, { headers })).status).toBe(401);
    expect((await ask("GET", "/alpha", undefined, ACME)).status).toBe(200);
  });

  test("in the address it is refused by nobody and helps nobody", async () => {
    const answer = await sendRaw(
      twins.baseUrl,
      `GET http://acme:${ACME}@localhost/sandboxes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("on the vendor's address it opens nothing", async () => {
    const headers = { "x-api-key": ACME };
    for (const path of ["/sim/data", "/sandboxes", "/sandboxes/alpha/reset"]) {
      const answer = await request("POST", `${twins.baseUrl}/s/alpha/shop${path}`, { headers, body: {} });
      expect(answer.body).toEqual({ fault: "the shop has no such counter" });
    }
  });

  test("the vendor's address never shows it: the journal masks it", async () => {
    const headers = { "x-api-key": ACME };
    await request("GET", `${twins.baseUrl}/s/alpha/shop/things`, { headers });
    const records = await request("GET", `${twins.baseUrl}/c/alpha/shop/sim/requests`, { headers });
    expect(records.text).not.toContain(ACME);
  });
});

describe("paths of the sandbox routes that climb or hide something", () => {
  test.each([
    "/sandboxes/..",
    "/sandboxes/../c/alpha/shop/sim/health",
    "/sandboxes/%2e%2e",
    "/sandboxes/%2e%2e%2fdev",
    "/sandboxes/..%2fdev",
    "/sandboxes/alpha%2freset",
    "/sandboxes/alpha%00",
    "/sandboxes/%zz",
    "/sandboxes//alpha",
    "/sandboxes/alpha/../dev",
    "/sandboxes/alpha/shop/sim/health",
    "/sandboxes/ALPHA",
    "/sandboxes/__proto__",
    "/sandboxes/constructor",
    "/sandbox%65s/alpha",
    "//sandboxes/alpha",
    "/c/%61lpha/shop/sim/health",
    "/c/alpha/..%2fshop/sim/health",
    "/c/alpha%2fshop/sim/health",
    "/c/__proto__/shop/sim/health",
    "/c/alpha/__proto__/sim/health",
    "/c/alpha/constructor/sim/health",
    "/s/alpha/__proto__/things",
  ])("%s finds nothing", async (path) => {
    const answer = await sendRaw(
      twins.baseUrl,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${ACME}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(answer).not.toContain("control_url");
  });
});

describe("keys at rest", () => {
  test("a key is found by its hash alone, whichever it is", () => {
    const keys = createApiKeys(
      readKeyVariable(`a=${hashOf("one")}, b=${hashOf("two")},a=${hashOf("three")}`),
    );
    expect(["one", "two", "three", "four", "", undefined].map((key) => keys.organisationOf(key))).toEqual([
      "a",
      "b",
      "a",
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each([
    ["acme=a-key-in-the-clear", "entry 1"],
    [`acme=${hashOf("x")},globex`, "entry 2"],
    [`Acme Inc=${hashOf("x")}`, "a-z"],
    [`a--b=${hashOf("x")}`, "single -"],
    [`acme=${hashOf("x").slice(0, -1)}`, "64 hexadecimal"],
    [`acme=${hashOf("x").slice(0, -1)}g`, "64 hexadecimal"],
  ])("SANDBOX_API_KEYS=%s is refused, and a key in the clear not repeated", (text, words) => {
    expect(() => readKeyVariable(text)).toThrow(words);
    try {
      readKeyVariable(text);
    } catch (error) {
      expect(String(error)).not.toContain("a-key-in-the-clear");
    }
  });
});
