/** WebSockets: upgrades, limits and records. Proves a part of twins/SECURITY.md. */
import { EventEmitter, once } from "node:events";
import engine from "@offhook/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

const services = "version: 1\nservices:\n  - name: shop\n    dns_aliases: [shop.example.com]\n";
const notes = new EventEmitter();
let twins: RunningTwins;
let base: string;
let control: string;
beforeAll(async () => {
  twins = await startEnvironment(services, { twins: [engine, createShop((what) => notes.emit(what))] });
  base = addressesOf(twins, "shop").url.replace("http:", "ws:");
  control = addressesOf(twins, "shop").control_url;
});
afterAll(() => twins.stop());

async function connect(url: string, protocols: string[] = [], options: WebSocket.ClientOptions = {}) {
  const socket = new WebSocket(url, protocols, options);
  await once(socket, "open");
  return socket;
}

/** The status and body with which an upgrade is refused. */
async function refusal(url: string): Promise<{ status: number | undefined; body: string }> {
  const socket = new WebSocket(url);
  socket.on("error", () => undefined);
  const [, response] = await once(socket, "unexpected-response");
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body };
}

describe("an upgrade", () => {
  test("reaches the socket operation, and messages pass both ways as they are", async () => {
    const socket = await connect(`${base}/call/abc/transport`);
    socket.send(Buffer.from([0, 255, 7]));
    expect(await once(socket, "message")).toEqual([Buffer.from([0, 255, 7]), true]);
    socket.send("text");
    expect(await once(socket, "message")).toEqual([Buffer.from("text"), false]);
    socket.close();
    await once(socket, "close");
  });

  test("reaches the twin by host name as well", async () => {
    const url = `${twins.baseUrl.replace("http:", "ws:")}/call/abc/transport`;
    const socket = await connect(url, [], { headers: { host: "shop.example.com" } });
    socket.close();
    await once(socket, "close");
  });

  test("gets the subprotocol that the twin chose, and no compression", async () => {
    const socket = await connect(`${base}/call/abc/transport`, ["other", "shop"]);
    expect({ protocol: socket.protocol, extensions: socket.extensions }).toEqual({
      protocol: "shop",
      extensions: "",
    });
    socket.close();
    await once(socket, "close");
  });

  test("refused by the twin is answered in the twin's words", async () => {
    expect(await refusal(`${base}/call/wrong/transport`)).toEqual({
      status: 403,
      body: '{"fault":"no such call"}',
    });
  });

  test("that makes the twin fail is the vendor's own 500, without the reason", async () => {
    expect(await refusal(`${base}/call/crash/transport`)).toEqual({
      status: 500,
      body: '{"fault":"the shop is in disorder"}',
    });
  });

  test("at a path of requests is ignored, as servers do that upgrade nothing there", async () => {
    expect(await refusal(`${base}/things`)).toEqual({ status: 200, body: "[]" });
  });

  test.each(["/nothing", "/sim/watch"])("at %s is the vendor's own 404", async (path) => {
    expect(await refusal(`${base}${path}`)).toEqual({
      status: 404,
      body: '{"fault":"the shop has no such counter"}',
    });
  });

  test("to an unknown twin or sandbox is a 404, and to a control plane a request without a key", async () => {
    const root = twins.baseUrl.replace("http:", "ws:");
    for (const path of ["/s/dev/none/x", "/s/none/shop/call/a/transport", "/x"]) {
      expect((await refusal(`${root}${path}`)).status).toBe(404);
    }
    expect((await refusal(`${root}/c/dev/shop/call/a/transport`)).status).toBe(401);
  });
});

describe("limits", () => {
  test("a message over the limit closes the socket with 1009, and the gateway goes on", async () => {
    const socket = await connect(`${base}/call/abc/transport`);
    socket.send(Buffer.alloc(10_001));
    const [code] = await once(socket, "close");
    expect(code).toBe(1009);
    expect((await request("GET", `${addressesOf(twins, "shop").url}/things`)).status).toBe(200);
  });

  test("a message in thousands of fragments closes the socket", async () => {
    const socket = await connect(`${base}/call/abc/transport`);
    socket.on("error", () => undefined);
    for (let index = 0; index < 3000; index++) socket.send("x", { fin: false });
    const [code] = await once(socket, "close");
    expect([1006, 1008, 1009]).toContain(code);
  });
});

describe("the journal", () => {
  test("records upgrades with their answer, and masks the secret in the path", async () => {
    const socket = await connect(`${base}/call/very-secret/transport`);
    socket.close();
    await once(socket, "close");
    await refusal(`${base}/call/wrong/transport`);
    const headers = { "x-api-key": twins.apiKey };
    const answer = await request("GET", `${control}/sim/requests?operation=call.transport&limit=1000`, {
      headers,
    });
    expect(answer.text).not.toContain("very-secret");
    const last = answer.body.requests.at(-1);
    expect(last).toMatchObject({ tier: "vendor", path: "/call/***/transport", status: 403 });
    expect(answer.body.requests.at(-2)).toMatchObject({ status: 101 });
  });
});

test("stopping closes open sockets with 1001 and resolves", async () => {
  const own = await startEnvironment(services, { twins: [engine, createShop()] });
  const socket = await connect(`${addressesOf(own, "shop").url.replace("http:", "ws:")}/call/abc/transport`);
  const closed = once(socket, "close");
  await own.stop();
  expect((await closed)[0]).toBe(1001);
});
