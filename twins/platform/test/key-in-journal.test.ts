/**
 * The control plane's keys stand in no journal, trace or log line, wherever and however they are sent.
 * Proves a part of twins/SECURITY.md.
 */
import { createHash } from "node:crypto";
import engine from "@offhook/engine";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PlatformKeys } from "../journal/known-secrets.ts";
import { MASK } from "../journal/mask.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

/** Of the second organisation, known by its hash alone. */
const HASHED = "hashed/key+of=globex-2";
const OWN = 'own "key" of dev/1';

let twins: RunningTwins;
let shop: string;
let control: string;
beforeEach(async () => {
  const sha256 = createHash("sha256").update(HASHED).digest("hex");
  twins = await startEnvironment("version: 1\nservices: [{ name: shop }]\n", {
    twins: [engine, createShop()],
    apiKey: OWN,
    keys: [
      { organisation: "acme", sha256: createHash("sha256").update("another-key").digest("hex") },
      { organisation: "globex", sha256 },
    ],
  });
  ({ url: shop, control_url: control } = addressesOf(twins, "shop"));
});
afterEach(() => twins.stop());

const base64 = (text: string) => Buffer.from(text).toString("base64");
const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join("");
const escaped = (text: string) =>
  [...text].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

/** Where the answer does not repeat what it was sent. */
const QUIET = "/call/x/control";
const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };
/** Where a key may stand in a request to the shop. Each is tried first, when a hashed key has not been seen anywhere else. */
const places: [string, (key: string) => [path: string, headers?: Record<string, string>, body?: string]][] = [
  ["its own header", (key) => ["/echo", { "x-api-key": key }, "x"]],
  ["another header", (key) => ["/echo", { "x-other": key }, "x"]],
  ["a header's last word", (key) => ["/echo", { "x-other": `Token ${key}` }, "x"]],
  ["Basic of another header", (key) => ["/echo", { "x-other": `Basic ${base64(`user:${key}`)}` }, "x"]],
  ["Authorization", (key) => ["/echo", { authorization: `Bearer ${key}` }, "x"]],
  ["the query", (key) => [`/echo?key=${encodeURIComponent(key)}`]],
  ["the query's names", (key) => [`/echo?${encodeURIComponent(key)}=1`]],
  ["the query, encoded more than needed", (key) => [`/echo?key=${percent(key)}`]],
  ["the path", (key) => [`/things/${encodeURIComponent(key)}`]],
  ["the path, encoded more than needed", (key) => [`/things/${percent(key)}`]],
  ["a member of JSON", (key) => ["/echo", json, JSON.stringify({ a: [key] })]],
  ["JSON's escapes", (key) => [QUIET, json, `{"a":"${escaped(key)}"}`]],
  ["a form", (key) => ["/echo", form, new URLSearchParams({ a: key }).toString()]],
  ["a form, encoded more than needed", (key) => [QUIET, form, `a=${percent(key)}`]],
  ["a text", (key) => ["/echo", { "content-type": "text/plain" }, `so it is: "${key}"`]],
];

async function send(path: string, headers: Record<string, string> = {}, body?: string): Promise<void> {
  const method = path.startsWith("/things") ? "GET" : "POST";
  await request(method, `${shop}${path}`, { headers, ...(body === undefined ? {} : { body }) });
}

/** All that the journals and a trace say, with JSON's own escapes undone. */
async function allThatIsShown(simulation: string): Promise<string> {
  const headers = { "x-api-key": OWN };
  const urls = [`${control}/sim/requests?limit=1000`, `${twins.baseUrl}/sandboxes/requests?limit=1000`];
  const answers = [
    ...(await Promise.all(urls.map((url) => request("GET", url, { headers })))),
    await request("GET", `${twins.baseUrl}/simulations/${simulation}/trace`),
  ];
  return answers.map(({ text }) => text).join("\n");
}

function expectNone(shown: string, key: string): void {
  const forms = [key, escaped(key), JSON.stringify(key).slice(1, -1), encodeURIComponent(key), percent(key)];
  const inJson = forms.map((form) => JSON.stringify(form).slice(1, -1));
  for (const form of [...forms, ...inJson, base64(key), base64(`user:${key}`)]) {
    expect(shown.toLowerCase()).not.toContain(form.toLowerCase());
  }
}

describe.each([
  ["in clear", OWN],
  ["by its hash", HASHED],
])("a key that is known %s", (_how, key) => {
  test.each(places)("in %s", async (_place, make) => {
    const { id } = (await request("POST", `${twins.baseUrl}/simulations`)).body;
    const made = make(key);
    await send(...made);
    const shown = await allThatIsShown(id);
    expect(shown).toContain(MASK);
    expectNone(shown, key);
  });
});

test("once seen, a key is masked in every sandbox and in base64, wherever it begins", async () => {
  await request("GET", `${twins.baseUrl}/sandboxes`, { headers: { "x-api-key": HASHED } });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(OWN, HASHED),
      fc.string({ unit: "grapheme-ascii", maxLength: 20 }),
      fc.string({ unit: "grapheme-ascii", maxLength: 20 }),
      fc.constantFrom("base64", "base64url"),
      async (key, before, after, coding) => {
        const sent = Buffer.from(before + key + after).toString(coding as BufferEncoding);
        await send("/echo", {}, sent);
        const headers = { "x-api-key": OWN };
        const newest = await request("GET", `${control}/sim/requests?tier=vendor&limit=1000`, { headers });
        const { body } = newest.body.requests.at(-1);
        expect(Buffer.from(body, "base64").toString("latin1")).not.toContain(key);
        expect(body).not.toContain(sent);
      },
    ),
    { numRuns: 60 },
  );
});

test("a log line holds none", () => {
  const keys = new PlatformKeys(MASK);
  keys.declare(OWN);
  const line = JSON.stringify({ url: `/x?key=${encodeURIComponent(OWN)}`, text: `it is ${OWN}.` });
  expect(keys.maskIn(line)).toBe(`{"url":"/x?key=${MASK}","text":"it is ${MASK}."}`);
});
