/**
 * TLS by server name, with certificates of the local authority, in front of the gateway.
 * Proves a part of twins/SECURITY.md.
 */
import { X509Certificate } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import tls from "node:tls";
import engine from "@offhook/engine";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { openAuthority } from "../../names/authority.ts";
import { type RunningNames, startNames } from "../../names/start.ts";
import type { RunningTwins } from "../../server/start.ts";
import { createShop } from "../../testing/shop-twin.ts";
import { startEnvironment } from "../../testing/twins.ts";

const log = pino({ level: "silent" });
const HOST = "127.0.0.1";

let folder: string;
let twins: RunningTwins;
let running: RunningNames;
let ca: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "names-"));
  const shop = { ...createShop(), cloudHosts: ["*.shop.test"] };
  const text =
    "version: 1\nservices:\n  - name: shop\n    dns_aliases: [shop.internal]\n  - name: engine\n    dns_aliases: [engine.shop.test]\n";
  twins = await startEnvironment(text, { twins: [shop, engine] });
  running = await startNames({ twins, folder, log });
  ca = await readFile(running.names.ca_file, "utf8");
});
afterAll(async () => {
  await running.stop();
  await twins.stop();
  await rm(folder, { recursive: true });
});

interface Answer {
  status: number | undefined;
  body: string;
}

/** A request to the TLS listener with this server name. */
function ask(servername: string, options: https.RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const where = { host: HOST, port: running.names.tls_port, servername, ca, agent: false };
    const request = https.get(
      { ...where, headers: { host: servername }, path: "/things", ...options },
      (response) => {
        let body = "";
        response.on("data", (chunk) => {
          body += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode, body }));
      },
    );
    request.on("error", reject);
  });
}

describe("the TLS listener", () => {
  test.each(["shop.internal", "api.shop.test", "a.b.shop.test"])(
    "serves %s with a certificate of its own",
    async (host) => {
      expect(await ask(host)).toEqual({ status: 200, body: "[]" });
    },
  );

  test("is believed by nobody who has not been given the root", async () => {
    await expect(ask("api.shop.test", { ca: undefined })).rejects.toMatchObject({
      code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    });
    const other = await openAuthority(path.join(folder, "other"));
    await expect(ask("api.shop.test", { ca: other.certificate })).rejects.toThrow(/certificate/);
  });

  test.each([
    ["a name outside the list", "other.test"],
    ["the name above a pattern", "shop.test"],
    ["a wildcard", "*.shop.test"],
    ["no name", ""],
  ])("answers %s with a TLS alert", async (_rule, servername) => {
    const socket = tls.connect({
      host: HOST,
      port: running.names.tls_port,
      servername,
      rejectUnauthorized: false,
    });
    const [error] = await once(socket, "error");
    expect(error.code).toContain("ALERT_HANDSHAKE_FAILURE");
  });

  test.each([
    ["h2 and http/1.1", ["h2", "http/1.1"], "http/1.1"],
    ["http/1.1 alone", ["http/1.1"], "http/1.1"],
    ["nothing", undefined, false],
  ])("speaks HTTP/1.1 to a client that offers %s", async (_offer, ALPNProtocols, agreed) => {
    const socket = tls.connect({
      host: HOST,
      port: running.names.tls_port,
      servername: "api.shop.test",
      ca,
      ...(ALPNProtocols ? { ALPNProtocols } : {}),
    });
    await once(socket, "secureConnect");
    expect(socket.alpnProtocol).toBe(agreed);
    socket.end("GET /things HTTP/1.1\r\nHost: api.shop.test\r\nConnection: close\r\n\r\n");
    const [answer] = await once(socket, "data");
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  test("tells a client that speaks HTTP/2 alone so, with the TLS alert for it", async () => {
    const session = http2.connect(`https://api.shop.test:${running.names.tls_port}`, {
      createConnection: () =>
        tls.connect({
          host: HOST,
          port: running.names.tls_port,
          servername: "api.shop.test",
          ca,
          ALPNProtocols: ["h2"],
        }),
    });
    const [error] = await once(session, "error");
    expect(error.code).toBe("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
  });

  test("goes by the server name when Host names no twin, and by Host when it does", async () => {
    expect(await ask("api.shop.test", { headers: { host: "localhost" } })).toEqual({
      status: 200,
      body: "[]",
    });
    const engines = await ask("api.shop.test", { headers: { host: "engine.shop.test" } });
    expect(engines).toMatchObject({ status: 404, body: expect.stringContaining('"error"') });
  });

  test("leads an alias of the environment file to its twin, though a vendor's pattern has the name too", async () => {
    expect((await ask("engine.shop.test")).status).toBe(404);
    expect((await ask("engine.shop.test", { path: "/simulations/none" })).body).toContain(
      "no simulation none",
    );
  });

  test("lets an armed reset through to the connection itself", async () => {
    const shop = twins.sandboxes[0]?.twins.find(({ name }) => name === "shop");
    const faults = `${shop?.control_url}/sim/faults`;
    const headers = { "x-api-key": twins.apiKey };
    const body = JSON.stringify({ effect: "reset", operation: "thing.list", times: 1 });
    expect((await fetch(faults, { method: "POST", headers, body })).status).toBe(201);
    const where = { host: HOST, port: running.names.tls_port, servername: "api.shop.test", ca };
    const socket = tls.connect(where);
    await once(socket, "secureConnect");
    socket.write("GET /things HTTP/1.1\r\nHost: api.shop.test\r\n\r\n");
    const [error] = await once(socket, "error");
    expect(error.code).toBe("ECONNRESET");
    expect(error.syscall).toBe("read");
    expect((await ask("api.shop.test")).status).toBe(200);
  });

  test("answers a request whose upgrade is not served as one that offers none", async () => {
    const connect = { host: HOST, port: running.names.tls_port, servername: "api.shop.test", ca };
    const socket = tls.connect(connect);
    const get = "GET /things HTTP/1.1\r\nHost: api.shop.test\r\n";
    socket.write(`${get}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n${get}Connection: close\r\n\r\n`);
    let answers = "";
    for await (const chunk of socket) answers += chunk;
    expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  });

  test("passes WebSocket upgrades on", async () => {
    const socket = new WebSocket(
      `wss://${HOST}:${running.names.tls_port}/call/secret-1/transport`,
      ["shop"],
      {
        agent: new https.Agent({ ca, servername: "api.shop.test" }),
        headers: { host: "api.shop.test" },
      },
    );
    await once(socket, "open");
    socket.close();
    await once(socket, "close");
  });

  test("has its sockets closed by their twins when all stops", async () => {
    const shop = { ...createShop(), cloudHosts: ["*.shop.test"] };
    const own = await startEnvironment("version: 1\nservices:\n  - name: shop\n", { twins: [shop] });
    const names = await startNames({ twins: own, folder, log });
    const agent = new https.Agent({ ca, servername: "api.shop.test" });
    const socket = new WebSocket(`wss://${HOST}:${names.names.tls_port}/call/secret-1/transport`, ["shop"], {
      agent,
    });
    await once(socket, "open");
    const closed = once(socket, "close");
    await own.stop();
    expect((await closed)[0]).toBe(1001);
    await names.stop();
  });

  test("resolves its names to the address that others reach it by", async () => {
    const own = await startNames({ twins, folder, log, answer: "192.0.2.9" });
    const resolver = new Resolver();
    resolver.setServers([`${HOST}:${own.names.dns_port}`]);
    expect(await resolver.resolve4("api.shop.test")).toEqual(["192.0.2.9"]);
    await own.stop();
  });

  test("tells the gateway's port even where an address leaves it out", async () => {
    const own = await startNames({ twins: { ...twins, baseUrl: "http://127.0.0.1:80" }, folder, log });
    await own.stop();
    expect(own.names.http_port).toBe(80);
  });

  test("ends bytes that are no TLS, and goes on", async () => {
    const socket = net.connect(running.names.tls_port, HOST);
    socket.write("GET / HTTP/1.1\r\n\r\n");
    socket.resume();
    await once(socket, "close");
    expect((await ask("shop.internal")).status).toBe(200);
  });

  test("gives its port back when it stops, with handshakes and requests under way", async () => {
    const own = await startNames({ twins, folder, log });
    const silent = net.connect(own.names.tls_port, HOST);
    await once(silent, "connect");
    const open = tls.connect({ host: HOST, port: own.names.tls_port, servername: "shop.internal", ca });
    open.on("error", () => undefined);
    await once(open, "secureConnect");
    const ends = Promise.all([once(silent, "close"), once(open, "close")]);
    await own.stop();
    silent.resume();
    open.resume();
    await ends;
    await (await startNames({ twins, folder, log, tlsPort: own.names.tls_port })).stop();
  });
});

describe("the authority", () => {
  test("keeps key and root where their owner alone can read them, and uses them again", async () => {
    const place = path.join(folder, "kept");
    const first = await openAuthority(place);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    for (const file of await readdir(place))
      expect((await stat(path.join(place, file))).mode & 0o777).toBe(0o600);
    expect((await openAuthority(place)).certificate).toBe(first.certificate);
  });

  test("made by two at once is one", async () => {
    const place = path.join(folder, "race");
    const all = await Promise.all([1, 2, 3, 4].map(() => openAuthority(place)));
    expect(new Set(all.map(({ certificate }) => certificate)).size).toBe(1);
    expect((await readdir(place)).sort()).toEqual(["authority.pem", "ca.pem"]);
  });

  test("issues certificates for one name, signed by a root that may sign nothing but those", async () => {
    const authority = await openAuthority(folder);
    const root = new X509Certificate(authority.certificate);
    const leaf = new X509Certificate((await authority.issue("api.shop.test")).certificate);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.subjectAltName).toBe("DNS:api.shop.test");
    expect([root.ca, leaf.ca]).toEqual([true, false]);
    expect(leaf.checkHost("other.shop.test")).toBeUndefined();
  });

  test("that cannot be read is an error that names the file and says what to do", async () => {
    const place = path.join(folder, "broken");
    await openAuthority(place);
    await writeFile(path.join(place, "authority.pem"), "not a key");
    await expect(openAuthority(place)).rejects.toThrow(/authority\.pem .*remove it/);
  });
});
