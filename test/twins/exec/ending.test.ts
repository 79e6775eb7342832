/** The twins end within their limit, whatever hangs; a second signal ends them at once. */
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import tls from "node:tls";
import engine from "@offhook/engine";
import { request } from "@offhook/platform/testing/http";
import { sandboxRoutes } from "@offhook/platform/testing/sandboxes";
import { createShop } from "@offhook/platform/testing/shop-twin";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { websocketCall } from "@offhook/vapi/testing/voice-runtime";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Command } from "../../support/command.ts";

let folder: string;
let environmentFile: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ending-"));
  environmentFile = path.join(folder, "environment.yaml");
  await writeFile(
    environmentFile,
    "version: 1\nservices: [{ name: vapi, port: 0 }, { name: elasticsearch }]\n",
  );
});
afterAll(() => rm(folder, { recursive: true }));

const sockets: net.Socket[] = [];
const programs: Command[] = [];
afterAll(() => {
  // A test that fails leaves nothing running.
  for (const program of programs) program.interrupt("SIGKILL");
  for (const socket of sockets) socket.destroy();
});

/** Connects, sends what is given and from there on does nothing: it neither reads nor leaves. */
async function hangOn(address: { host: string; port: number }, bytes = ""): Promise<void> {
  const socket = net.connect(address).on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  if (bytes !== "") await new Promise((resolve) => socket.write(bytes, resolve));
}

test("SIGTERM ends them with status 0, whatever clients hang on to them", async () => {
  const program = new Command("../twins/main.ts", ["--environment", environmentFile, "--json"], {
    TWINS_PORT: "0",
    LOG_LEVEL: "warn",
  });
  programs.push(program);
  const { base_url, api_key, sandboxes, names } = JSON.parse(await program.output(/\n/));
  const [vapi] = sandboxes[0].twins.filter(({ name }: { name: string }) => name === "vapi");
  const authorization = `Bearer ${vapi.environment.VAPI_API_KEY}`;
  const keyed = { "x-api-key": api_key };
  const addressOf = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });
  const gateway = addressOf(base_url);
  const created = await request("POST", `${vapi.url}/call`, {
    headers: { authorization },
    body: websocketCall(),
  });
  const call = new URL(created.body.transport.websocketCallUrl);
  const fault = { effect: "hang", operation: "search" };
  const armed = `${base_url}/c/dev/elasticsearch/sim/faults`;
  expect((await request("POST", armed, { headers: keyed, body: fault })).status).toBe(201);

  const host = "Host: localhost\r\n";
  const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
  for (const place of [gateway, addressOf(vapi.port_url)]) {
    await hangOn(place);
    await hangOn(place, "GET / HTTP/1.1\r\nHost: loc");
    await hangOn(place, `POST /call HTTP/1.1\r\n${host}Content-Length: 1000\r\n\r\nhalf`);
    await hangOn(place, `POST /call HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n5\r\nhal`);
    await hangOn(place, `GET /nope HTTP/1.1\r\n${host}${upgrade}\r\ntrailing`);
    await hangOn(place, `GET /nope HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`);
    await hangOn(place, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    await hangOn(place, `GET /call HTTP/1.1\r\n${host}Authorization: ${authorization}\r\n\r\n`.repeat(200));
  }
  await hangOn(gateway, `GET ${call.pathname} HTTP/1.1\r\n${host}${upgrade}\r\n`);
  await hangOn(gateway, `GET /c/dev/vapi/sim/watch HTTP/1.1\r\n${host}X-API-Key: ${api_key}\r\n\r\n`);
  await hangOn(gateway, `GET /s/dev/elasticsearch/_search HTTP/1.1\r\n${host}\r\n`);
  const upload = "POST /environments/other/datasets/elasticsearch?format=ndjson HTTP/1.1";
  await hangOn(
    gateway,
    `${upload}\r\n${host}X-API-Key: ${api_key}\r\nContent-Length: 100000\r\n\r\n{"a":1}\n`,
  );
  const named = { host: names.address, port: names.tls_port };
  await hangOn(named);
  await hangOn(named, "\x16\x03\x01\x02");
  await hangOn({ host: names.address, port: names.dns_port }, "\x00\x40half");
  const inside = tls.connect({ ...named, servername: "api.vapi.ai", rejectUnauthorized: false });
  sockets.push(inside.on("error", () => undefined));
  await once(inside, "secureConnect");
  inside.write(`GET /nope HTTP/1.1\r\nHost: api.vapi.ai\r\n${upgrade}\r\ntrailing`);
  // All of it has arrived when the twins answer what was sent after it.
  expect((await request("GET", `${base_url}/sandboxes`, { headers: keyed })).status).toBe(200);

  program.interrupt("SIGTERM");
  const { exitCode, stderr } = await program.finished();
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  // What compiles the program for Node ends a moment after it.
  await expect.poll(() => program.leftSomethingRunning).toBe(false);
});

test("a second signal ends them at once, one that is passed on twice does not", async () => {
  const program = new Command("../test/support/never-ending.ts", []);
  programs.push(program);
  await program.output(/ready/);
  program.interrupt("SIGINT");
  const again = setInterval(() => program.interrupt("SIGTERM"), 50);
  const { exitCode, stderr } = await program.finished();
  clearInterval(again);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "SIGTERM again: ended without waiting\n" });
});

test("an end that hangs is over at its limit, and says so", async () => {
  const program = new Command("../test/support/never-ending.ts", []);
  programs.push(program);
  await program.output(/ready/);
  program.interrupt("SIGTERM");
  const { exitCode, stderr } = await program.finished();
  expect(exitCode).toBe(1);
  expect(stderr).toContain("not everything ended within 7500 ms");
});

test.each([
  ["stop", "the twin did not stop cleanly"],
  ["reset", "a sandbox did not end"],
])("a twin whose %s hangs keeps nobody: it is logged, all else ends", async (what, logged) => {
  const hanging = new EventEmitter();
  const begun = once(hanging, "begun");
  const hang = () => {
    hanging.emit("begun");
    return new Promise<void>(() => undefined);
  };
  const lines: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => lines.push(line) });
  const shop = createShop();
  const twin = {
    ...shop,
    start: async (...given: Parameters<typeof shop.start>) => ({
      ...(await shop.start(...given)),
      [what]: hang,
    }),
  };
  const text = "version: 1\nservices: [{ name: shop }]\n";
  const twins = await startEnvironment(text, { twins: [engine, twin], log });
  const resetting = sandboxRoutes(twins)("POST", "/dev/reset").then(
    ({ status }) => status,
    () => "cut",
  );
  const headers = { "x-api-key": twins.apiKey };
  await fetch(`${addressesOf(twins, "shop").control_url}/sim/watch`, { headers });
  if (what === "reset") await begun;
  else expect(await resetting).toBe(200);
  await twins.stop();
  if (what === "reset") expect(await resetting).toBe("cut");
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([logged]);
});
