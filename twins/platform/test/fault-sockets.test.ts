import { EventEmitter, once } from "node:events";
import { performance } from "node:perf_hooks";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { type FaultyShop, startFaultyShop } from "../testing/faulty-shop.ts";

let shop: FaultyShop;
let base: string;
/** What happens inside the shop. */
const notes = new EventEmitter();
beforeEach(async () => {
  shop = await startFaultyShop((what) => notes.emit(what));
  base = shop.url.replace("http:", "ws:");
});
afterEach(() => shop.stop());

const operation = "call.transport";

async function connect({ url } = shop): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http:", "ws:")}/call/abc/transport`);
  socket.on("error", () => undefined);
  await once(socket, "open");
  return socket;
}

async function echoes(socket: WebSocket): Promise<void> {
  socket.send("hello");
  expect(await once(socket, "message")).toEqual([Buffer.from("hello"), false]);
}

async function closed(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = await once(socket, "close");
  return { code, reason: reason.toString() };
}

test("refuse_upgrade answers the upgrade with an armed status in the vendor's shape", async () => {
  await shop.arm({ effect: "refuse_upgrade", status: 503, retry_after: 2, operation, times: 1 });
  const socket = new WebSocket(`${base}/call/abc/transport`);
  socket.on("error", () => undefined);
  const [, response] = await once(socket, "unexpected-response");
  let body = "";
  for await (const chunk of response) body += chunk;
  expect([response.statusCode, response.headers["retry-after"], JSON.parse(body)]).toEqual([
    503,
    "2",
    { fault: "the shop is out of order: 503" },
  ]);
  expect((await shop.requests())[0]).toMatchObject({ status: 503, fault: "fault-1 refuse_upgrade" });
  await echoes(await connect());
});

describe("drop", () => {
  test("with a code: the socket is closed with it, so long after it was accepted", async () => {
    await shop.arm({ effect: "drop", after_ms: 150, code: 1011, operation, times: 1 });
    const socket = await connect();
    const openedAt = performance.now();
    await echoes(socket);
    expect((await closed(socket)).code).toBe(1011);
    expect(performance.now() - openedAt).toBeGreaterThan(100);
    expect((await shop.requests())[0]).toMatchObject({ status: 101, fault: "fault-1 drop" });
  });

  test("without a code: the connection ends without a close frame", async () => {
    await shop.arm({ effect: "drop", operation, times: 1 });
    expect((await closed(await connect())).code).toBe(1006);
    await echoes(await connect());
  });

  test("a fault that is removed before its time spares the socket", async () => {
    await shop.arm({ effect: "drop", after_ms: 200, operation });
    const spared = await connect();
    const { id } = await shop.only();
    await shop.control("DELETE", `/faults/${id}`);
    await shop.arm({ effect: "drop", after_ms: 250, operation });
    await closed(await connect());
    await echoes(spared);
  });
});

describe("freeze", () => {
  test("nothing comes and nothing goes while the socket stays open; removed, all that waited goes on", async () => {
    await shop.arm({ effect: "freeze", operation, times: 1 });
    const socket = await connect();
    const heard: string[] = [];
    socket.on("message", (data) => heard.push(data.toString()));
    await shop.arm({ effect: "drop", after_ms: 200, operation });
    socket.send("one");
    socket.send("two");
    await closed(await connect());
    expect(heard).toEqual([]);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    await shop.control("DELETE", "/faults");
    await expect.poll(() => heard).toEqual(["one", "two"]);
  });

  test.each([
    ["cuts the connection", (carrier: Duplex) => carrier.destroy()],
    ["ends its side of the connection", (carrier: Duplex) => carrier.end()],
  ])("notices a client that leaves: it %s, behind what it has sent", async (_name, leave) => {
    await shop.arm({ effect: "freeze", operation, times: 1 });
    const socket = new WebSocket(`${base}/call/abc/transport`);
    socket.on("error", () => undefined);
    const [[{ socket: carrier }]] = await Promise.all([once(socket, "upgrade"), once(socket, "open")]);
    const told = once(notes, "socket closed 1006");
    await new Promise((resolve) => socket.send("x".repeat(5000), resolve));
    leave(carrier);
    await told;
  });

  test("holds what it was sent, in order and unharmed, however much that is", async () => {
    await shop.arm({ effect: "freeze", operation, times: 1 });
    const socket = await connect();
    const heard: string[] = [];
    socket.on("message", (data) => heard.push(data.toString()));
    const sent = Array.from({ length: 800 }, (_, index) => `${index} ${"x".repeat(9000)}`);
    for (const text of sent) socket.send(text);
    await echoes(await connect());
    expect(heard).toEqual([]);
    await shop.control("DELETE", "/faults");
    await expect.poll(() => heard.length).toBe(sent.length);
    expect(heard).toEqual(sent);
  });

  test("does not keep the twins from stopping", async () => {
    const other = await startFaultyShop();
    await other.arm({ effect: "freeze", operation, times: 1 });
    await other.arm({ effect: "drop", operation, after_ms: 50 });
    const frozen = await connect(other);
    const gone = closed(frozen);
    await closed(await connect(other));
    await other.stop();
    expect((await gone).code).toBe(1006);
  });
});
