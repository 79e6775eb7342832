/**
 * Which hosts and origins are answered: a page of another site, and a name that is nobody's here, get nothing.
 * Proves a part of twins/SECURITY.md.
 */
import { once } from "node:events";
import http from "node:http";
import { networkInterfaces } from "node:os";
import engine from "@offhook/engine";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { allowedHostsSetting, allowedOriginsSetting } from "../http/access-policy.ts";
import type { RunningTwins } from "../server/start.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins;
/** The vendor API at the gateway and at its own port. */
let vendor: { base: string; prefix: string }[];
beforeAll(async () => {
  const text =
    "version: 1\nservices:\n  - name: shop\n    port: 0\n    config: { stock: [lamp] }\n    dns_aliases: [shop.internal]\n";
  const shop = { ...createShop(), cloudHosts: ["*.shop.test"] };
  twins = await startEnvironment(text, {
    twins: [engine, shop],
    allowedHosts: ["twins.example", ".below.example"],
    allowedOrigins: ["https://app.example", "chrome-extension://abcdef"],
  });
  const { port_url: own = "" } = addressesOf(twins, "shop");
  vendor = [
    { base: twins.baseUrl, prefix: "/s/dev/shop" },
    { base: own, prefix: "" },
  ];
});
afterAll(() => twins.stop());

interface Answer {
  status: number | undefined;
  body: string;
}

async function ask(url: string, headers: Record<string, string>, method = "GET"): Promise<Answer> {
  const client = http.request(url, { method, headers, agent: false }).end();
  const [response] = (await once(client, "response")) as [http.IncomingMessage];
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body };
}

/** The statuses of a request with these headers, at every address of the vendor API. */
async function statuses(headers: Record<string, string>): Promise<(number | undefined)[]> {
  const answers = vendor.map(({ base, prefix }) => ask(`${base}${prefix}/things/lamp`, headers));
  return (await Promise.all(answers)).map(({ status }) => status);
}

const served = [200, 200];
const refused = [403, 403];

test("unless told otherwise they listen on loopback, and no other address of this machine is answered", async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const others = addresses.filter(({ family, internal }) => family === "IPv4" && !internal);
  for (const { base } of vendor) {
    expect(new URL(base).hostname).toMatch(/^(127\.0\.0\.1|localhost)$/);
    for (const { address } of others) {
      const away = new URL(base);
      away.hostname = address;
      await expect(ask(away.href, {}), away.href).rejects.toThrow("ECONNREFUSED");
    }
  }
});

describe("a host name", () => {
  test.each([
    "localhost",
    "LOCALHOST:6100",
    "app.localhost",
    "127.0.0.1:1",
    "[::1]:80",
    "192.0.2.7",
    "[2001:db8::1]",
    "shop.internal",
    "api.shop.test:443",
    "twins.example:8080",
    "below.example",
    "a.below.example.",
  ])("%s is answered", async (host) => {
    // Over the gateway, the names of twins have no prefix.
    const isTwin = host.startsWith("shop.internal") || host.startsWith("api.shop.test");
    const path = isTwin ? "/things/lamp" : "/s/dev/shop/things/lamp";
    expect((await ask(`${twins.baseUrl}${path}`, { host })).status).toBe(200);
    expect((await ask(`${vendor[1]?.base}/things/lamp`, { host })).status).toBe(200);
  });

  test("of nobody here is refused in the vendor's words, which say what to set", async () => {
    for (const { base, prefix } of vendor) {
      const { status, body } = await ask(`${base}${prefix}/things/lamp`, { host: "rebound.test:6100" });
      expect(status).toBe(403);
      const { fault } = JSON.parse(body);
      expect(fault).toContain("rebound.test");
      expect(fault).toContain("ALLOWED_HOSTS=rebound.test");
    }
  });

  test("of nobody here reaches no address of ours, whatever it looks like", async () => {
    const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
    const foreign = fc.oneof(
      fc.domain(),
      label,
      fc
        .tuple(label, fc.constantFrom("localhost", "127.0.0.1", "shop.internal", "twins.example"))
        .chain(([name, own]) => fc.constantFrom(`${own}.${name}x`, `${name}x${own}`, `${own}.${name}.test`)),
    );
    const paths = ["/s/dev/shop/things/lamp", "/sandboxes", "/c/dev/shop/sim/health", "/simulations", "/"];
    await fc.assert(
      fc.asyncProperty(foreign, fc.constantFrom(...paths), async (host, path) => {
        fc.pre(!/^\d+$/.test(host) && !host.endsWith(".localhost"));
        const answer = await ask(`${twins.baseUrl}${path}`, { host, "x-api-key": twins.apiKey });
        expect(answer.status).toBe(403);
        expect(answer.body).not.toContain("lamp");
      }),
      { numRuns: 100 },
    );
  });
});

describe("an origin", () => {
  test.each([
    "http://localhost:3000",
    "https://app.localhost",
    "http://127.0.0.1:5173",
    "http://[::1]:3000",
    "https://shop.internal",
    "https://dashboard.shop.test",
    "https://app.example",
    "https://twins.example",
    "chrome-extension://abcdef",
  ])("%s is answered", async (origin) => {
    expect(await statuses({ origin })).toEqual(served);
  });

  test("of the very host that is asked is answered, whatever its port", async () => {
    expect(await statuses({ origin: "http://192.0.2.7:3000", host: "192.0.2.7:6100" })).toEqual(served);
    expect(await statuses({ origin: "http://192.0.2.8:3000", host: "192.0.2.7:6100" })).toEqual(refused);
  });

  test.each([
    "https://evil.example",
    "http://app.example",
    "https://app.example:8443",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://192.0.2.7",
    "null",
    "nonsense",
    "chrome-extension://other",
    "file://localhost",
  ])("%s is refused, before anything is done", async (origin) => {
    expect(await statuses({ origin })).toEqual(refused);
    const form = { origin, "content-type": "application/x-www-form-urlencoded" };
    const [{ base, prefix } = { base: "", prefix: "" }] = vendor;
    expect((await ask(`${base}${prefix}/echo`, form, "POST")).status).toBe(403);
    const engines = await ask(`${base}/simulations`, form, "POST");
    expect(engines.status).toBe(403);
    expect(JSON.parse(engines.body).error).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("ALLOWED_ORIGINS="),
    });
    const sandboxes = await ask(`${base}/sandboxes`, { ...form, "x-api-key": twins.apiKey }, "POST");
    expect(sandboxes.status).toBe(403);
  });

  test("that is foreign opens no WebSocket", async () => {
    for (const { base, prefix } of vendor) {
      const url = `${base.replace("http:", "ws:")}${prefix}/call/abc/transport`;
      const own = new WebSocket(url, { origin: "http://localhost:3000" });
      await once(own, "open");
      own.close();
      for (const options of [{ origin: "https://evil.example" }, { headers: { host: "rebound.test" } }]) {
        const socket = new WebSocket(url, options);
        socket.on("error", () => undefined);
        const [, response] = await once(socket, "unexpected-response");
        expect(response.statusCode).toBe(403);
        response.destroy();
      }
    }
  });
});

describe("a request without Origin", () => {
  const image = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" };
  const visit = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };

  test.each<[string, Record<string, string>, number[]]>([
    ["of a client that is no browser", {}, served],
    ["of a page's image", image, refused],
    ["of a page's frame", { ...visit, "sec-fetch-dest": "iframe" }, refused],
    ["of an image of a page of this machine", { ...image, referer: "http://127.0.0.1:3000/" }, served],
    ["of an image of a page elsewhere", { ...image, referer: "https://evil.example/" }, refused],
    ["of a link that was followed", visit, served],
    ["of a page of the same site", { ...image, "sec-fetch-site": "same-site" }, served],
    ["that the user typed", { ...visit, "sec-fetch-site": "none" }, served],
  ])("%s", async (_name, headers, expected) => {
    expect(await statuses(headers)).toEqual(expected);
  });

  test("and without Host, as HTTP/1.0 has it, is answered", async () => {
    expect(await statuses({ host: "" })).toEqual(served);
  });
});

describe("the settings", () => {
  test("are lists, in any case", () => {
    expect(allowedHostsSetting.parse(" Twins.example, .below.example 192.0.2.7")).toEqual([
      "twins.example",
      ".below.example",
      "192.0.2.7",
    ]);
    expect(allowedOriginsSetting.parse("https://App.example,http://192.0.2.7:3000, *")).toEqual([
      "https://app.example",
      "http://192.0.2.7:3000",
      "*",
    ]);
  });

  test.each(["http://twins.example", "twins.example:80", "twins.example:6100", "a/b", "a*"])(
    "%s is no host name",
    (text) => {
      expect(allowedHostsSetting.safeParse(text).success).toBe(false);
    },
  );

  test.each(["app.example", "https://app.example/", "https://app.example/path", "https://a:b@app.example"])(
    "%s is no origin",
    (text) => {
      expect(allowedOriginsSetting.safeParse(text).success).toBe(false);
    },
  );
});
