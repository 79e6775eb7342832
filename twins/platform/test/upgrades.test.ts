/** Upgrades that are not served are ignored, and those that are refused leave nothing behind. */
import { once } from "node:events";
import net from "node:net";
import engine from "@offhook/engine";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sendRaw } from "../testing/raw-http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

const services =
  "version: 1\nservices:\n  - name: shop\n    port: 0\n    config: { stock: [lamp] }\n    dns_aliases: [shop.example.com]\n";
let twins: RunningTwins;
/** The vendor API's addresses, with the path before each of its own. */
let places: { base: string; prefix: string }[];
beforeAll(async () => {
  twins = await startEnvironment(services, { twins: [engine, createShop()] });
  const { port_url: own = "" } = addressesOf(twins, "shop");
  places = [
    { base: twins.baseUrl, prefix: "/s/dev/shop" },
    { base: own, prefix: "" },
  ];
});
afterAll(() => twins.stop());

const host = "Host: localhost\r\n";
/** What curl and Java's HttpClient send with their first request over plain HTTP. */
const offer =
  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";

/** Bodies of the answers, in their order. */
function bodiesOf(answers: string): string[] {
  return answers.split(/HTTP\/1\.1 \d+ [\s\S]*?\r\n\r\n/).slice(1);
}

describe("a request that offers HTTP/2 over plain HTTP", () => {
  test("is answered as one that does not, at every address of ours", async () => {
    for (const { base, prefix } of places) {
      const get = `GET ${prefix}/things/lamp HTTP/1.1\r\n${host}`;
      const answer = await sendRaw(
        base,
        `${get}${offer}${get}Connection: close\r\n\r\n`.replace(offer, `${offer}\r\n`),
      );
      expect(bodiesOf(answer).map((body) => JSON.parse(body).id)).toEqual(["lamp", "lamp"]);
    }
    const control = `GET /c/dev/shop/sim/health HTTP/1.1\r\n${host}X-API-Key: ${twins.apiKey}\r\n`;
    const both = await sendRaw(twins.baseUrl, `${control}${offer}\r\n${control}Connection: close\r\n\r\n`);
    expect(both.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(await sendRaw(twins.baseUrl, `GET /sandboxes HTTP/1.0\r\n${offer}\r\n`)).toMatch(
      /^HTTP\/1\.1 401 /,
    );
  });

  test("keeps its body, its connection and its place among others, however it is cut into packets", async () => {
    const pieces = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 6 });
    const one = fc.record({
      method: fc.constantFrom("GET", "POST", "chunked"),
      offers: fc.boolean(),
      body: fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]|["\\]/g, "x")),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.array(one, { minLength: 1, maxLength: 5 }),
        pieces,
        async ({ base, prefix }, requests, cuts) => {
          const sent = requests.map(({ method, offers, body }) => {
            const upgrade = offers ? offer : "";
            if (method === "GET") return `GET ${prefix}/things/lamp HTTP/1.1\r\n${host}${upgrade}\r\n`;
            const start = `POST ${prefix}/echo HTTP/1.1\r\n${host}${upgrade}`;
            if (method === "POST") return `${start}Content-Length: ${body.length}\r\n\r\n${body}`;
            const chunk = body === "" ? "" : `${body.length.toString(16)}\r\n${body}\r\n`;
            return `${start}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`;
          });
          const last = `GET ${prefix}/things/lamp HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
          const answers = bodiesOf(await sendInPieces(base, [...sent, last].join(""), cuts));
          const expected = requests.map(({ method, body }) => (method === "GET" ? "lamp" : body));
          expect(
            answers.map((answer) => {
              const { id, text } = JSON.parse(answer);
              return id ?? text;
            }),
          ).toEqual([...expected, "lamp"]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("is recorded as it came", async () => {
    const path = "/things/offered";
    await sendRaw(
      twins.baseUrl,
      `GET /s/dev/shop${path} HTTP/1.1\r\n${host}${offer.replace("Upgrade, ", "Upgrade, close, ")}\r\n`,
    );
    const records = await request(
      "GET",
      `${addressesOf(twins, "shop").control_url}/sim/requests?limit=1000`,
      {
        headers: { "x-api-key": twins.apiKey },
      },
    );
    expect(records.body.requests.filter((entry: { path: string }) => entry.path === path)).toMatchObject([
      { method: "GET", status: 404, headers: { upgrade: "h2c", "http2-settings": expect.any(String) } },
    ]);
  });

  test("a thousand of them on one connection leave nothing on it", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on("warning", warn);
    const get = (extra: string) => `GET /s/dev/shop/things/lamp HTTP/1.1\r\n${host}${extra}\r\n`;
    const answers = await sendRaw(twins.baseUrl, get(offer).repeat(1000) + get("Connection: close\r\n"));
    process.removeListener("warning", warn);
    expect(bodiesOf(answers)).toHaveLength(1001);
    expect(warnings).toEqual([]);
  });
});

/** Sends text as packets of these lengths, the rest as one, and answers all that comes back. */
async function sendInPieces(base: string, text: string, lengths: readonly number[]): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  const closed = once(socket, "close");
  await once(socket, "connect");
  let from = 0;
  for (const length of [...lengths, text.length]) {
    const piece = text.slice(from, from + length);
    from += length;
    if (piece === "") break;
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise(setImmediate);
  }
  await closed;
  return Buffer.concat(chunks).toString("latin1");
}

describe("a refused WebSocket upgrade", () => {
  const websocket =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const heads = [
    ["at a path that is not served", "/nope", websocket],
    ["at a path of requests", "/things", websocket],
    ["by the twin", "/call/wrong/transport", websocket],
    ["by a twin that fails", "/call/crash/transport", websocket],
    ["without a key", "/call/x/transport", "Connection: Upgrade\r\nUpgrade: websocket\r\n"],
    ["of another version", "/call/x/transport", websocket.replace("13", "7")],
    ["of another protocol", "/call/x/transport", websocket.replace("websocket", "h2c")],
  ] as const;
  const trailing = ["", "x", "\x81\x05hello", "GET / HTTP/1.1\r\n\r\n", "z".repeat(100_000)];
  const leave = {
    close: (socket: net.Socket) => socket.end(),
    reset: (socket: net.Socket) => socket.resetAndDestroy(),
    // Gone only when the other side has cut the connection.
    stay: () => undefined,
  };

  function openSockets(): number {
    return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
  }

  test("leaves no socket, whatever its client sends after it and however it leaves, by the hundred", async () => {
    const before = openSockets();
    const clients: Promise<unknown>[] = [];
    for (const { base, prefix } of places) {
      const { hostname, port } = new URL(base);
      for (const [, path, headers] of heads) {
        for (const rest of trailing) {
          for (const how of Object.values(leave)) {
            const socket = net.connect(Number(port), hostname);
            socket.on("error", () => undefined);
            clients.push(new Promise((resolve) => socket.once("close", resolve)));
            socket.on("connect", () => {
              const text = `GET ${prefix}${path} HTTP/1.1\r\n${host}${headers}\r\n${rest}`;
              socket.write(Buffer.from(text, "latin1"), () => how(socket));
            });
            // Without a reader the other side's end is never noticed.
            if (how !== leave.reset) socket.resume();
          }
        }
      }
    }
    expect(clients.length).toBeGreaterThan(200);
    // Served without the upgrade, a connection that is kept is open for as long as any idle one.
    await expect.poll(openSockets).toBeLessThanOrEqual(before + 40);
    await twins.stop();
    await Promise.all(clients);
    await expect.poll(openSockets).toBeLessThanOrEqual(before);
    twins = await startEnvironment(services, { twins: [engine, createShop()] });
  });

  test.each(heads)("%s is answered in the vendor's words", async (_name, path, headers) => {
    const answer = await sendRaw(
      twins.baseUrl,
      `GET /s/dev/shop${path} HTTP/1.1\r\n${host}${headers.replace("Connection: ", "Connection: close, ")}\r\n`,
    );
    if (path !== "/things") expect(answer).toMatch(/^HTTP\/1\.1 (400|403|404|500) /);
    if (path !== "/things") expect(answer).toContain('{"fault":"');
  });
});
