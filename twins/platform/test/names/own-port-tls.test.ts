/** A port of a twin's own takes TLS by the local authority, and plain HTTP as ever. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { issueLocal, openAuthority } from "../../names/authority.ts";
import type { RunningTwins } from "../../server/start.ts";
import { request } from "../../testing/http.ts";
import { createShop } from "../../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../../testing/twins.ts";

let folder: string;
let ca: string;
let twins: RunningTwins;
let url: string;
let issued = 0;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "own-port-"));
  ca = (await openAuthority(folder)).certificate;
  const service = "{ name: shop, port: 0, config: { stock: [lamp] } }";
  twins = await startEnvironment(`version: 1\nservices: [${service}]\n`, {
    twins: [createShop()],
    certificate() {
      issued++;
      return issueLocal("127.0.0.1", folder);
    },
  });
  url = addressesOf(twins, "shop").port_url ?? "";
});
afterAll(async () => {
  await twins.stop();
  await rm(folder, { recursive: true });
});

function getSecurely(host: string, options: https.RequestOptions = {}): Promise<string> {
  const address = `https://${host}:${new URL(url).port}/things/lamp`;
  return new Promise((resolve, reject) => {
    const asked = https.get(address, { ca, agent: false, ...options }, (response) =>
      text(response).then(resolve, reject),
    );
    asked.on("error", reject);
  });
}

test("both schemes answer alike, for every name of this machine, with one certificate", async () => {
  const plain = (await request("GET", `${url}/things/lamp`)).text;
  expect(issued).toBe(0);
  expect(await getSecurely("127.0.0.1")).toBe(plain);
  expect(await getSecurely("127.0.0.1", { servername: "localhost", headers: { host: "localhost" } })).toBe(
    plain,
  );
  expect((await request("GET", `${url}/things/lamp`)).text).toBe(plain);
  expect(issued).toBe(1);
});

test("who does not trust the authority is told by TLS", async () => {
  await expect(getSecurely("127.0.0.1", { ca: [] })).rejects.toThrow(/certificate/);
});

test("sockets are upgraded over TLS", async () => {
  const socket = new WebSocket(`${url.replace("http:", "wss:")}/call/x/transport`, { ca });
  await once(socket, "open");
  socket.send("hello");
  expect(String((await once(socket, "message"))[0])).toBe("hello");
  socket.terminate();
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["a handshake that is none", Buffer.from([0x16, 3, 1, 0, 2, 1, 2])],
  ["neither of both", Buffer.from([0, 1, 2, 3])],
])("%s harms nobody", async (_what, bytes) => {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const closed = once(socket, "close");
  socket.end(bytes);
  socket.resume();
  await closed;
  expect((await request("GET", `${url}/things/lamp`)).status).toBe(200);
});
