/**
 * Signing in to the console: codes, sessions, and for which requests a session counts.
 * Proves a part of twins/SECURITY.md.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import engine from "@offhook/engine";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createSessions } from "../http/session.ts";
import { ConsoleCodes } from "../server/console-codes.ts";
import { FailureLimit } from "../server/console-session.ts";
import type { RunningTwins, StartOptions } from "../server/start.ts";
import { captureLog } from "../testing/log-lines.ts";
import { createShop } from "../testing/shop-twin.ts";
import { startEnvironment } from "../testing/twins.ts";

const OWN = "the-key-of-acme";
const OTHER = "the-key-of-globex";
const HOUR_MS = 3_600_000;

const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
const keys = [
  { organisation: "acme", sha256: sha256(OWN) },
  { organisation: "globex", sha256: sha256(OTHER) },
];

let twins: RunningTwins;
let captured: ReturnType<typeof captureLog>;

async function start(options: Partial<StartOptions> = {}): Promise<RunningTwins> {
  captured = captureLog();
  return startEnvironment("version: 1\nservices: [{ name: shop }]\n", {
    twins: [engine, createShop()],
    apiKey: OWN,
    keys,
    console: async () => ({ default: { serve: async () => ({ status: 200, body: "the page" }) } }),
    log: captured.log,
    ...options,
  });
}

beforeEach(async () => {
  twins = await start();
});
afterEach(async () => {
  vi.useRealTimers();
  await twins.stop();
});

interface Answer {
  status: number | undefined;
  headers: http.IncomingHttpHeaders;
  text: string;
}

type SentHeaders = Record<string, string>;

async function send(method: string, path: string, headers: SentHeaders = {}, body = ""): Promise<Answer> {
  const sent = body === "" ? headers : { "content-length": String(Buffer.byteLength(body)), ...headers };
  const client = http.request(`${twins.baseUrl}${path}`, { method, headers: sent, agent: false }).end(body);
  const [response] = (await once(client, "response")) as [http.IncomingMessage];
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

/** Keeps cookies, and sends them where a browser does. */
class Browser {
  #cookies: { path: string; pair: string }[] = [];

  async ask(method: string, path: string, headers: SentHeaders = sameOrigin, body = ""): Promise<Answer> {
    const cookie = this.cookieFor(path);
    const answer = await send(method, path, cookie === "" ? headers : { ...headers, cookie }, body);
    for (const line of answer.headers["set-cookie"] ?? []) this.#keep(line);
    return answer;
  }

  cookieFor(path: string): string {
    const [pathname = ""] = path.split("?");
    const fits = (scope: string) =>
      pathname === scope || pathname.startsWith(scope.endsWith("/") ? scope : `${scope}/`);
    return this.#cookies.flatMap((cookie) => (fits(cookie.path) ? [cookie.pair] : [])).join("; ");
  }

  #keep(line: string): void {
    const [pair = "", ...attributes] = line.split("; ");
    const path = attributes.find((attribute) => attribute.startsWith("Path="))?.slice(5) ?? "/";
    this.#cookies = this.#cookies.filter((cookie) => cookie.path !== path);
    if (!attributes.includes("Max-Age=0")) this.#cookies.push({ path, pair });
  }
}

const sameOrigin = { "sec-fetch-site": "same-origin" };
/** A link that was followed from the terminal. */
const typed = { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const protectedPaths = ["/sandboxes", "/sandboxes/dev", "/c/dev/shop/sim/health"];

async function makeCode(key = OWN): Promise<{ code: string; url: string; expires_at: string }> {
  const { status, text } = await send("POST", "/console/codes", { "x-api-key": key });
  expect(status).toBe(201);
  return JSON.parse(text);
}

async function signIn(key = OWN): Promise<Browser> {
  const browser = new Browser();
  const { status } = await browser.ask(
    "POST",
    "/console/session",
    sameOrigin,
    JSON.stringify({ api_key: key }),
  );
  expect(status).toBe(204);
  return browser;
}

async function statusesOf(ask: (path: string) => Promise<Answer>): Promise<(number | undefined)[]> {
  return (await Promise.all(protectedPaths.map(ask))).map(({ status }) => status);
}

const served = protectedPaths.map(() => 200);
const refused = protectedPaths.map(() => 401);

describe("a code", () => {
  test("takes the key, and names a link and its end", async () => {
    expect((await send("POST", "/console/codes")).status).toBe(401);
    expect((await send("POST", "/console/codes", { "x-api-key": "wrong" })).status).toBe(401);
    expect((await send("GET", "/console/codes", { "x-api-key": OWN })).status).toBe(405);
    expect((await send("POST", "/console/codes", { "x-api-key": OWN }, '{"for":"me"}')).status).toBe(422);
    const { code, url, expires_at } = await makeCode();
    expect(url).toBe(`${twins.baseUrl}/console?code=${code}`);
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(11.9 * HOUR_MS);
    expect((await (await signIn()).ask("POST", "/console/codes")).status).toBe(401);
  });

  test("in an address becomes a session, and the address stays without it", async () => {
    const { code } = await makeCode();
    const browser = new Browser();
    const address = "/console/dev/journal?status=500&text=a%20b";
    const { status, headers } = await browser.ask("GET", `${address}&code=${code}`, typed);
    expect(status).toBe(303);
    expect(headers.location).toBe(address);
    expect(headers["cache-control"]).toBe("no-store");
    const port = new URL(twins.baseUrl).port;
    for (const line of headers["set-cookie"] ?? []) {
      expect(line).toMatch(new RegExp(`^offhook_console_${port}=`));
      expect(line).toContain("; HttpOnly; SameSite=Strict; Max-Age=43200");
    }
    expect(await statusesOf((path) => browser.ask("GET", path))).toEqual(served);
    expect(JSON.parse((await browser.ask("GET", "/console/session")).text)).toEqual({
      organisation: "acme",
      expires_at: expect.any(String),
    });
  });

  test("is sent to no vendor API, engine or other path", async () => {
    const browser = await signIn();
    for (const path of ["/s/dev/shop/things", "/", "/simulations", "/consoles", "/c", "/sandboxesx"]) {
      expect(browser.cookieFor(path), path).toBe("");
    }
    for (const path of [
      "/c/dev/shop/sim/data",
      "/sandboxes",
      "/environments/dev",
      "/console",
      "/console/dev",
    ]) {
      expect(browser.cookieFor(path), path).not.toBe("");
    }
  });

  test("that is used opens nothing, but whoever has a session goes on", async () => {
    const { code } = await makeCode();
    const first = new Browser();
    expect((await first.ask("GET", `/console?code=${code}`, typed)).status).toBe(303);
    const second = new Browser();
    const page = await second.ask("GET", `/console?code=${code}`, typed);
    expect(page).toMatchObject({ status: 200, text: "the page" });
    expect(page.headers["set-cookie"]).toBeUndefined();
    expect(await statusesOf((path) => second.ask("GET", path))).toEqual(refused);
    const again = await first.ask("GET", `/console?code=${code}`, typed);
    expect(again).toMatchObject({ status: 303, headers: { location: "/console" } });
    const body = JSON.stringify({ code });
    expect((await second.ask("POST", "/console/session", sameOrigin, body)).status).toBe(401);
  });

  test("may be sent to /console/session instead", async () => {
    const { code } = await makeCode();
    const browser = new Browser();
    const body = JSON.stringify({ code });
    expect((await browser.ask("POST", "/console/session", sameOrigin, body)).status).toBe(204);
    expect(await statusesOf((path) => browser.ask("GET", path))).toEqual(served);
  });

  // Asked of the codes themselves: sandboxes that run meanwhile would take the moved time for the machine's.
  test("ends after twelve hours", () => {
    const codes = new ConsoleCodes();
    const [early, late] = [codes.issue("acme"), codes.issue("acme")];
    vi.setSystemTime(Date.now() + 11.9 * HOUR_MS);
    expect(codes.redeem(early.code)).toBe("acme");
    vi.setSystemTime(Date.now() + 0.2 * HOUR_MS);
    expect(codes.redeem(late.code)).toBeUndefined();
    vi.useRealTimers();
  });

  test("is dropped when its organisation makes a hundred others, and no other organisation's is", async () => {
    const other = await makeCode(OTHER);
    const codes = [];
    for (let count = 0; count < 101; count++) codes.push(await makeCode());
    const [oldest, next] = codes;
    expect((await send("GET", `/console?code=${oldest?.code}`, typed)).status).toBe(200);
    expect((await send("GET", `/console?code=${next?.code}`, typed)).status).toBe(303);
    expect((await send("GET", `/console?code=${other.code}`, typed)).status).toBe(303);
  });

  test("is not used up by HEAD", async () => {
    const { code } = await makeCode();
    const head = await send("HEAD", `/console?code=${code}`);
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers["set-cookie"]).toBeUndefined();
    expect((await send("GET", `/console?code=${code}`, typed)).status).toBe(303);
  });
});

describe("a session", () => {
  // Asked of the sessions themselves, as above.
  test("ends after twelve hours", () => {
    const sessions = createSessions({ baseUrl: twins.baseUrl, owner: "acme", apiKey: OWN, keys });
    const [cookie = ""] = sessions.start("acme").cookies;
    vi.setSystemTime(Date.now() + 11.9 * HOUR_MS);
    expect(sessions.find({ cookie })?.organisation).toBe("acme");
    vi.setSystemTime(Date.now() + 0.2 * HOUR_MS);
    expect(sessions.find({ cookie })).toBeUndefined();
    vi.useRealTimers();
  });

  test("ends in the browser that signs out", async () => {
    const browser = await signIn();
    expect((await browser.ask("DELETE", "/console/session")).status).toBe(204);
    expect(browser.cookieFor("/console/session")).toBe("");
    expect((await browser.ask("GET", "/console/session")).status).toBe(401);
  });

  test("of another organisation shows its own sandboxes alone, as its key does", async () => {
    const [acme, globex] = [await signIn(), await signIn(OTHER)];
    expect(JSON.parse((await globex.ask("GET", "/console/session")).text).organisation).toBe("globex");
    const listed = await globex.ask("GET", "/sandboxes");
    expect(JSON.parse(listed.text)).toEqual({ sandboxes: [] });
    for (const path of ["/c/dev/shop/sim/health", "/c/none/shop/sim/health", "/sandboxes/dev"]) {
      expect(await globex.ask("GET", path)).toMatchObject({
        status: 404,
        text: (await send("GET", path, { "x-api-key": OTHER })).text,
      });
      expect((await acme.ask("GET", path)).status).toBe(path.includes("none") ? 404 : 200);
    }
  });

  test("cannot be made from another one, nor out of nothing", async () => {
    const cookie = (await signIn(OTHER)).cookieFor("/sandboxes");
    const [name = "", value = ""] = cookie.split("=");
    const [signature = "", , seconds = ""] = value.split(".");
    const forged = [
      `${signature}.acme.${seconds}`,
      `${signature}.globex.${Number(seconds) + 3600}`,
      `${signature}.globex.${seconds}.more`,
      `${signature.slice(0, -1)}.globex.${seconds}`,
      `.globex.${seconds}`,
      `console_.acme.${seconds}`,
      `${signature}.unknown.${seconds}`,
      "",
      OWN,
    ];
    expect((await send("GET", "/sandboxes", { ...sameOrigin, cookie })).status).toBe(200);
    for (const each of forged) {
      const headers = { ...sameOrigin, cookie: `${name}=${each}` };
      expect((await send("GET", "/sandboxes", headers)).status, each).toBe(401);
    }
    // Another program of the machine can set cookies of the same name; they do not displace the true one.
    const tossed = { ...sameOrigin, cookie: `${name}=${forged[0]}; ${cookie}` };
    expect((await send("GET", "/sandboxes", tossed)).status).toBe(200);
  });

  test("does not help a request with a wrong key", async () => {
    const browser = await signIn();
    const headers = { ...sameOrigin, "x-api-key": "wrong" };
    expect(await statusesOf((path) => browser.ask("GET", path, headers))).toEqual(refused);
  });

  test("of the owner outlasts a restart with the same keys, and no other one does", async () => {
    const [acme, globex] = [await signIn(), await signIn(OTHER)];
    const { baseUrl } = twins;
    const restart = async (options: Partial<StartOptions>) => {
      await twins.stop();
      twins = await start({ port: Number(new URL(baseUrl).port), ...options });
      expect(twins.baseUrl).toBe(baseUrl);
    };
    await restart({});
    expect(await statusesOf((path) => acme.ask("GET", path))).toEqual(served);
    await signIn(OTHER);
    expect((await globex.ask("GET", "/sandboxes")).status).toBe(401);
    await restart({ keys: [...keys, { organisation: "acme", sha256: sha256("a third key") }] });
    expect((await acme.ask("GET", "/sandboxes")).status).toBe(401);
    await restart({});
    expect((await acme.ask("GET", "/sandboxes")).status).toBe(200);
    await restart({ apiKey: "another key of acme" });
    expect((await acme.ask("GET", "/sandboxes")).status).toBe(401);
  });
});

describe("a page of another origin, whose requests carry the cookie", () => {
  const host = () => new URL(twins.baseUrl).host;

  test.each<[string, (own: string) => SentHeaders]>([
    ["another port of this machine", () => ({ "sec-fetch-site": "same-site" })],
    [
      "another port that names itself",
      () => ({ "sec-fetch-site": "same-site", origin: "http://localhost:3000" }),
    ],
    ["an address that the user typed", () => typed],
    ["a browser that says only Origin", () => ({ origin: "http://127.0.0.1:3000" })],
    ["a browser that says only Referer", () => ({ referer: "http://127.0.0.1:3000/console/dev" })],
    ["a Referer whose user is our host", (own) => ({ referer: `http://${own}@localhost:3000/` })],
    [
      "our Referer, but another Origin",
      (own) => ({ origin: "http://localhost:3000", referer: `http://${own}/` }),
    ],
    ["our Origin, but another site", (own) => ({ origin: `http://${own}`, "sec-fetch-site": "same-site" })],
    ["one that hides its address", () => ({})],
  ])("is refused: %s", async (_name, headers) => {
    const browser = await signIn();
    expect(browser.cookieFor("/sandboxes")).not.toBe("");
    expect(await statusesOf((path) => browser.ask("GET", path, headers(host())))).toEqual(refused);
    expect((await browser.ask("POST", "/sandboxes/dev/reset", headers(host()))).status).toBe(401);
    expect((await browser.ask("GET", "/console/session", headers(host()))).status).toBe(401);
  });

  test("neither signs in nor out", async () => {
    const browser = await signIn();
    const headers = { "sec-fetch-site": "same-site", origin: "http://localhost:3000" };
    const body = JSON.stringify({ api_key: OTHER });
    expect((await browser.ask("POST", "/console/session", headers, body)).status).toBe(403);
    expect((await browser.ask("DELETE", "/console/session", headers)).status).toBe(403);
    expect(JSON.parse((await browser.ask("GET", "/console/session")).text).organisation).toBe("acme");
  });

  test("is told apart by Origin or Referer where a browser sends no more", async () => {
    const browser = await signIn();
    for (const headers of [{ origin: `http://${host()}` }, { referer: `http://${host()}/console/dev` }]) {
      expect(await statusesOf((path) => browser.ask("GET", path, headers))).toEqual(served);
    }
  });

  test("frames no page", async () => {
    expect((await send("GET", "/console")).headers["x-frame-options"]).toBe("DENY");
  });
});

test("a host name that resolves to this machine reaches neither page nor session", async () => {
  const browser = await signIn();
  const { code } = await makeCode();
  const host = `rebound.test:${new URL(twins.baseUrl).port}`;
  for (const path of ["/console", `/console?code=${code}`, "/console/session", ...protectedPaths]) {
    const answer = await browser.ask("GET", path, { ...sameOrigin, host });
    expect(answer.status, path).toBe(403);
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect(answer.text).not.toContain("the page");
  }
  const body = JSON.stringify({ api_key: OWN });
  expect((await browser.ask("POST", "/console/session", { ...sameOrigin, host }, body)).status).toBe(403);
  expect((await send("GET", `/console?code=${code}`, typed)).status).toBe(303);
});

test("what a browser opens elsewhere at the gateway has no origin, so that its scripts have no session", async () => {
  const paths = [
    "/s/dev/shop/things",
    "/s/dev/shop/none",
    "/c/dev/shop/sim/health",
    "/sandboxes",
    "/simulations",
  ];
  const page = { accept: "text/html,*/*;q=0.8" };
  for (const path of paths) {
    for (const headers of [typed, { "sec-fetch-dest": "iframe" }, page]) {
      expect((await send("GET", path, headers)).headers["content-security-policy"], path).toBe("sandbox");
    }
    for (const headers of [{}, { ...sameOrigin, ...page, "sec-fetch-dest": "empty" }]) {
      expect((await send("GET", path, headers)).headers["content-security-policy"], path).toBeUndefined();
    }
  }
  expect((await send("GET", "/console", typed)).headers["content-security-policy"]).toBeUndefined();
});

describe("signing in with a key", () => {
  test("takes a bounded body of JSON that names one credential", async () => {
    const post = async (body: string) => (await send("POST", "/console/session", sameOrigin, body)).status;
    expect(await post("{")).toBe(400);
    for (const body of [
      "",
      "null",
      "{}",
      '{"api_key":""}',
      `{"api_key":"${OWN}","code":"x"}`,
      '{"api_key":7}',
    ]) {
      expect(await post(body), body).toBe(422);
    }
    expect(await post(JSON.stringify({ api_key: "x".repeat(5000) }))).toBe(413);
    expect(await post(JSON.stringify({ api_key: "wrong" }))).toBe(401);
    expect(await post(JSON.stringify({ code: "wrong" }))).toBe(401);
    const { status, headers } = await send("PUT", "/console/session", sameOrigin);
    expect(status).toBe(405);
    expect(headers.allow).toBe("GET, POST, DELETE");
  });

  test("is refused after ten wrong keys, right ones too, while codes go on", async () => {
    const post = (credential: object) =>
      send("POST", "/console/session", sameOrigin, JSON.stringify(credential));
    const wrong = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post({ api_key: `wrong ${index}` })),
    );
    expect(wrong.filter(({ status }) => status === 401)).toHaveLength(10);
    const right = await post({ api_key: OWN });
    expect(right.status).toBe(429);
    expect(right.headers["set-cookie"]).toBeUndefined();
    expect(Number(right.headers["retry-after"])).toBeLessThanOrEqual(6);
    const { code } = await makeCode();
    expect((await post({ code })).status).toBe(204);
  });

  test("is possible again for one attempt every six seconds", () => {
    let nowMs = 1000;
    const limit = new FailureLimit(() => nowMs);
    for (let count = 0; count < 10; count++) {
      expect(limit.waitMs()).toBe(0);
      limit.count();
    }
    expect(limit.waitMs()).toBe(6000);
    nowMs += 5999;
    expect(limit.waitMs()).toBe(1);
    nowMs += 1;
    expect(limit.waitMs()).toBe(0);
    limit.count();
    expect(limit.waitMs()).toBe(6000);
    nowMs += 60_000;
    for (let count = 0; count < 10; count++) limit.count();
    expect(limit.waitMs()).toBe(6000);
  });
});

test("no journal, trace or log line shows a code or a session", async () => {
  const { code } = await makeCode();
  const unused = (await makeCode()).code;
  const browser = new Browser();
  await browser.ask("GET", `/console/dev?code=${code}`, typed);
  const [, session = ""] = browser.cookieFor("/sandboxes").split("=");
  const [signature = ""] = session.split(".");
  await browser.ask("POST", "/console/session", sameOrigin, JSON.stringify({ code: unused }));
  for (const secret of [code, unused, session]) {
    // Where a browser, or a person, may leave one.
    const referer = `${twins.baseUrl}/console/dev?code=${secret}`;
    for (const path of ["/sandboxes", "/c/dev/shop/sim/health", `/c/dev/shop/sim/data?text=${secret}`]) {
      await browser.ask("GET", path, { ...sameOrigin, referer });
      await browser.ask("GET", path, { "sec-fetch-site": "same-site", referer });
    }
    await send("POST", "/s/dev/shop/echo", { cookie: `x=${secret}`, referer }, `it is ${secret}.`);
    await send("GET", `/s/dev/shop/things/${secret}`);
    await send("GET", `/simulations/${secret}`, { referer });
  }
  const shown = await Promise.all(
    [
      "/c/dev/shop/sim/requests?limit=1000",
      "/c/dev/engine/sim/requests?limit=1000",
      "/sandboxes/requests?limit=1000",
    ].map((path) => send("GET", path, { "x-api-key": OWN })),
  );
  const text = [...shown.map((answer) => answer.text), captured.text()].join("\n");
  expect(text).toContain("console.code");
  for (const secret of [code, unused, signature, session]) expect(text).not.toContain(secret);
  expect(text).not.toContain(Buffer.from(code).toString("base64"));
});
