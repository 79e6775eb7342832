/**
 * Bodies that are meant to fill the memory, sent in full as far as anybody takes them.
 * Proves a part of twins/SECURITY.md.
 */
import { once } from "node:events";
import net from "node:net";
import engine from "@offhook/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningTwins } from "../server/start.ts";
import { heldBytes, usedBytes } from "../testing/held-memory.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { startEnvironment } from "../testing/twins.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

let twins: RunningTwins;
beforeAll(async () => {
  const services = "version: 1\nservices: [{ name: shop, config: { stock: [lamp] } }]\n";
  twins = await startEnvironment(services, { twins: [engine, createShop()] });
});
afterAll(() => twins.stop());

interface Flood {
  answer: string;
  sentBytes: number;
  /** Most memory held at any moment beyond what was before. */
  peakBytes: number;
}

/** Sends a head and then the same piece again and again, as fast as it is taken, until a gigabyte or the connection's end. */
async function flood(head: string, piece: Buffer): Promise<Flood> {
  const { hostname, port } = new URL(twins.baseUrl);
  const before = await heldBytes();
  const socket = net.connect(Number(port), hostname);
  let answer = "";
  let peakBytes = 0;
  let sentBytes = 0;
  socket.on("data", (data) => {
    answer += data.toString("latin1");
  });
  // A refusal may come before all was sent.
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  socket.write(head);
  while (sentBytes < GIB && !socket.destroyed && socket.writable) {
    const room = socket.write(piece);
    sentBytes += piece.length;
    peakBytes = Math.max(peakBytes, usedBytes() - before);
    if (!room) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
  }
  socket.end();
  await closed;
  return { answer, sentBytes, peakBytes };
}

const key = () => `X-API-Key: ${twins.apiKey}\r\n`;
const targets: [string, number, () => string, number][] = [
  ["a vendor operation", 413, () => "POST /s/dev/shop/echo HTTP/1.1\r\n", 1],
  ["a path that the vendor does not serve", 404, () => "POST /s/dev/shop/nothing HTTP/1.1\r\n", 0],
  ["a sandbox there is not", 404, () => "POST /s/none/shop/echo HTTP/1.1\r\n", 0],
  ["the engine at the root", 413, () => "POST /simulations HTTP/1.1\r\n", 1],
  ["the sandbox routes", 413, () => `POST /sandboxes HTTP/1.1\r\n${key()}`, 1],
  ["a write of the control plane", 413, () => `POST /c/dev/shop/sim/data HTTP/1.1\r\n${key()}`, 64],
  ["an upload", 413, () => `POST /c/dev/shop/sim/files?name=big HTTP/1.1\r\n${key()}`, 16],
  ["the control plane without a key", 401, () => "POST /c/dev/shop/sim/data HTTP/1.1\r\n", 0],
];
const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000, "x"), Buffer.from("\r\n")]);
const framings: [string, string, Buffer][] = [
  ["without a declared length", "Transfer-Encoding: chunked", chunk],
  ["of a declared length", `Content-Length: ${GIB}`, Buffer.alloc(0x10000, "x")],
];

test.each(
  targets.flatMap(([name, status, head, limitMib]) =>
    framings.map(([framing, header, piece]) => ({ name, framing, status, head, limitMib, header, piece })),
  ),
)(
  "a gigabyte, $framing, to $name is refused, cut off, and never held",
  async ({ status, head, limitMib, header, piece }) => {
    const sent = await flood(`${head()}Host: localhost\r\n${header}\r\n\r\n`, piece);
    // Whoever sends on after the refusal is cut off, and may lose it.
    expect(sent.answer).toMatch(new RegExp(`^(HTTP/1\\.1 ${status} |$)`));
    expect(sent.sentBytes).toBeLessThan((limitMib + 32) * MIB);
    expect(sent.peakBytes).toBeLessThan((limitMib * 2 + 32) * MIB);
    expect((await request("GET", `${twins.baseUrl}/s/dev/shop/things/lamp`)).status).toBe(200);
  },
);

test("a body that comes byte by byte costs what it holds, not a hundred times that", async () => {
  const { hostname, port } = new URL(twins.baseUrl);
  const socket = net.connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const before = await heldBytes();
  socket.write("POST /simulations HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  const text = JSON.stringify({ id: "slow", metadata: { text: "y".repeat(200_000) } });
  const bytes = [...text].map((character) => `1\r\n${character}\r\n`);
  const body = Buffer.from(bytes.join(""));
  bytes.length = 0;
  const own = body.length;
  for (let at = 0; at < own; at += 0x10000) {
    if (!socket.write(body.subarray(at, at + 0x10000))) await once(socket, "drain");
  }
  // What is still on its way gets there; what is held stays held.
  await expect.poll(async () => (await heldBytes()) - before - own).toBeLessThan(8 * MIB);
  socket.write("0\r\n\r\n");
  const [answer] = await once(socket, "data");
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 201 /);
  socket.destroy();
  const kept = await request("GET", `${twins.baseUrl}/simulations/slow`);
  expect(kept.body.metadata.text).toBe("y".repeat(200_000));
});
