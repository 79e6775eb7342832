/**
 * The proxy of `exec`: the vendors' names lead to the twins, others to where they always did, and nobody else uses it.
 * Proves a part of twins/SECURITY.md.
 */
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http, { createServer } from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import tls, { rootCertificates } from "node:tls";
import engine from "@offhook/engine";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { listen } from "../../http/listen.ts";
import { childEnvironment } from "../../names/child-environment.ts";
import { type Outside, readOutside } from "../../names/outside.ts";
import { type NameProxy, type ProxyOptions, startProxy } from "../../names/proxy.ts";
import { type RunningNames, startNames } from "../../names/start.ts";
import type { RunningTwins } from "../../server/start.ts";
import { createShop } from "../../testing/shop-twin.ts";
import { startEnvironment } from "../../testing/twins.ts";

let folder: string;
let twins: RunningTwins;
let running: RunningNames;
let ca: string;
let proxy: NameProxy;
/** What answers for every other host. */
const world = createServer((req, res) => res.end(`the world, ${req.headers.host}${req.url}`));
let outside: Outside;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "proxy-"));
  const shop = { ...createShop(), cloudHosts: ["*.shop.test"] };
  const text = "version: 1\nservices:\n  - name: shop\n    dns_aliases: [shop.internal]\n";
  twins = await startEnvironment(text, { twins: [shop, engine] });
  running = await startNames({ twins, folder, log: pino({ level: "silent" }) });
  ca = await readFile(running.names.ca_file, "utf8");
  const worldPort = Number(new URL(await listen(world, "127.0.0.1", 0)).port);
  outside = {
    async connect(host) {
      if (host === "unknown.test") throw new Error("unknown.test:443 cannot be reached: ENOTFOUND");
      return net.connect(worldPort, "127.0.0.1");
    },
  };
  proxy = await open({ outside });
});
afterAll(async () => {
  await proxy.close();
  await running.stop();
  await twins.stop();
  world.close();
  await rm(folder, { recursive: true });
});

const refusals: string[] = [];
function open(options: Partial<ProxyOptions>): Promise<NameProxy> {
  return startProxy({ names: running.names, onRefused: (message) => refusals.push(message), ...options });
}

interface Answer {
  status: number | undefined;
  body: string;
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === "") return {};
  return { "proxy-authorization": `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

/** Opens a tunnel; answers its socket, or what was said instead. */
async function tunnel(target: string, url = proxy.url): Promise<net.Socket | Answer> {
  const at = new URL(url);
  const request = http.request({
    method: "CONNECT",
    host: at.hostname,
    port: at.port,
    path: target,
    headers: credentials(at),
    agent: false,
  });
  request.end();
  const [response, socket, head] = await once(request, "connect");
  socket.unshift(head);
  if (response.statusCode === 200) return socket;
  let body = "";
  for await (const chunk of socket) body += chunk;
  return { status: response.statusCode, body };
}

async function opened(target: string, url = proxy.url): Promise<net.Socket> {
  const socket = await tunnel(target, url);
  if (!(socket instanceof net.Socket)) throw new Error(JSON.stringify(socket));
  return socket;
}

/** What is answered in a tunnel to a request for `/things`. */
async function askInside(socket: net.Socket | tls.TLSSocket, host: string): Promise<string> {
  socket.write(`GET /things HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

/** A request for a whole URL. */
function ask(url: string, options: http.RequestOptions = {}, body = ""): Promise<Answer> {
  const at = new URL(proxy.url);
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: at.hostname, port: at.port, path: url, headers: credentials(at), agent: false, ...options },
      (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode, body: text }));
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

describe("a tunnel to a twin's name", () => {
  test.each(["shop.internal:443", "API.shop.test:443", "api.shop.test.:8443", "a.b.shop.test:80"])(
    "%s carries TLS to the twin, with a certificate for the name, whatever the port",
    async (target) => {
      const socket = await opened(target);
      const servername = target.slice(0, target.indexOf(":")).toLowerCase().replace(/\.$/, "");
      const secure = tls.connect({ socket, servername, ca });
      await once(secure, "secureConnect");
      expect(await askInside(secure, servername)).toMatch(/^HTTP\/1\.1 200 (.*\r\n)+\r\n\[\]/);
    },
  );

  test("carries plain HTTP to the twin", async () => {
    const socket = await opened("shop.internal:80");
    expect(await askInside(socket, "shop.internal")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("leads to a twin that listens by itself before the client says anything", async () => {
    const server = net.createServer((socket) => socket.end("I speak first"));
    const port = Number(new URL(await listen(server, "127.0.0.1", 0)).port);
    const place = { host: "127.0.0.1", port };
    const hosts = [{ name: "db.internal", sandbox: "dev", twin: "db", place }];
    const own = await open({ names: { ...running.names, hosts } });
    onTestFinished(async () => {
      await own.close();
      server.close();
    });
    const socket = await opened("db.internal:5432", own.url);
    const [text] = await once(socket, "data");
    expect(`${text}`).toBe("I speak first");
  });

  test("ends when the proxy closes", async () => {
    const own = await open({ outside });
    const socket = await opened("shop.internal:443", own.url);
    const closed = once(socket, "close");
    await own.close();
    await closed;
  });
});

describe("a request for a whole URL", () => {
  test("of a twin reaches it, with its body and status", async () => {
    const answer = await ask(
      "http://shop.internal/echo",
      { method: "POST", headers: credentials(new URL(proxy.url)) },
      "kettle",
    );
    expect(JSON.parse(answer.body)).toMatchObject({ text: "kettle" });
    expect(answer.body).not.toMatch(/proxy-authorization/i);
    expect(await ask("https://api.shop.test/things?x=1")).toEqual({ status: 200, body: "[]" });
  });

  test("of another host reaches that, with the host's name and not the proxy's password", async () => {
    expect(await ask("http://elsewhere.test/a?b=c")).toEqual({
      status: 200,
      body: "the world, elsewhere.test/a?b=c",
    });
  });
});

test("other names are tunnelled unchanged", async () => {
  const socket = await opened("elsewhere.test:443");
  expect(await askInside(socket, "elsewhere.test")).toContain("the world, elsewhere.test/things");
});

test("other names are reached through the proxy that the environment named, and NO_PROXY is followed", async () => {
  const first = await open({ outside });
  const env = { HTTPS_PROXY: first.url, HTTP_PROXY: first.url, NO_PROXY: "localhost" };
  const second = await open({ names: { ...running.names, hosts: [] }, outside: readOutside(env) });
  onTestFinished(async () => {
    await second.close();
    await first.close();
  });
  for (const port of [443, 80]) {
    const socket = await opened(`elsewhere.test:${port}`, second.url);
    expect(await askInside(socket, "elsewhere.test")).toContain("the world");
  }
  expect(await tunnel("unknown.test:443", second.url)).toEqual({
    status: 502,
    body: expect.stringMatching(/unknown\.test:443 cannot be reached through the proxy .*: it answered 502/),
  });
  const direct = await tunnel("localhost:443", second.url);
  if (direct instanceof net.Socket) direct.destroy();
  else expect(direct.body).toMatch(/localhost:443 cannot be reached: /);
});

test("an environment whose proxy is none of HTTP is refused with what to do", () => {
  expect(() => readOutside({ ALL_PROXY: "socks5://127.0.0.1:1080" })).toThrow(
    /ALL_PROXY is no address.*env -u ALL_PROXY/,
  );
  expect(() => readOutside({ HTTPS_PROXY: "proxy.corp:3128" })).not.toThrow();
});

describe("what is refused says what to do, and is told once", () => {
  test.each([
    ["another port of another host", "mail.test:25", 403, /ports 443 and 80 alone.*NO_PROXY/],
    ["a host that cannot be reached", "unknown.test:443", 502, /cannot be reached: ENOTFOUND/],
    ["no port", "shop.internal", 400, /host:port/],
    ["a port that is none", "shop.internal:65536", 400, /host:port/],
  ])("%s", async (_rule, target, status, message) => {
    const before = refusals.length;
    expect(await tunnel(target)).toEqual({ status, body: expect.stringMatching(message) });
    await tunnel(target);
    expect(refusals.slice(before).filter((text) => message.test(text)).length).toBeLessThanOrEqual(1);
  });

  test("any other name when TWINS_STRICT=1", async () => {
    const strict = await open({});
    onTestFinished(strict.close);
    expect(await tunnel("elsewhere.test:443", strict.url)).toEqual({
      status: 403,
      body: expect.stringMatching(/TWINS_STRICT=1.*elsewhere\.test:443.*dns_aliases/),
    });
    (await opened("shop.internal:443", strict.url)).destroy();
  });

  test.each([
    ["no password", ""],
    ["a wrong password", "exec:wrong@"],
    ["another user", "root:root@"],
  ])("%s", async (_rule, user) => {
    const url = `http://${user}${new URL(proxy.url).host}`;
    expect(await tunnel("shop.internal:443", url)).toMatchObject({ status: 407 });
    expect(await ask("http://shop.internal/things", { headers: credentials(new URL(url)) })).toMatchObject({
      status: 407,
      body: expect.stringContaining("HTTPS_PROXY"),
    });
  });

  test("a request that is meant for no proxy", async () => {
    expect(await ask("/things")).toMatchObject({ status: 400, body: expect.stringContaining("proxy") });
  });
});

describe("a program's environment", () => {
  const others = (name: string) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
  const environment = (own: NodeJS.ProcessEnv) =>
    childEnvironment(own, { sandboxes: [], names: running.names }, proxy.url);

  test("names the proxy in both cases, and this machine without it", async () => {
    const { names } = running;
    const found = await environment({ HTTPS_PROXY: "http://corp:3128", NO_PROXY: "a.test" });
    for (const name of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]) {
      expect(found[name]).toBe(proxy.url);
    }
    for (const name of ["NO_PROXY", "no_proxy"]) {
      expect(found[name]).toBe(`localhost,127.0.0.1,::1,a.test`);
    }
    expect(names.address).toBe("127.0.0.1");
  });

  test.each([
    ["*", ""],
    ["shop.test", ""],
    [".shop.test, other.test", "other.test"],
    ["api.shop.test internal myshop.test", "myshop.test"],
    ["SHOP.INTERNAL", ""],
  ])("keeps no twin's name from the proxy with NO_PROXY=%s", async (given, kept) => {
    const { NO_PROXY } = await environment({ NO_PROXY: given });
    expect(NO_PROXY).toBe(["localhost,127.0.0.1,::1", kept].filter(Boolean).join(","));
  });

  test("trusts the system's roots and ours, or those that a variable named and ours", async () => {
    const file = path.join(folder, "others.pem");
    await writeFile(file, others("of the company"));
    const found = await environment({ CURL_CA_BUNDLE: file });
    const read = async (name: string) => readFile(found[name] ?? "", "utf8");
    const system = await read("SSL_CERT_FILE");
    expect(system.split("BEGIN CERTIFICATE").length).toBeGreaterThan(rootCertificates.length / 2);
    expect(system).toContain(ca.trim());
    for (const name of ["CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"]) {
      expect(await read(name)).toBe(`${others("of the company")}${ca}`);
    }
    expect(found.NODE_EXTRA_CA_CERTS).toBe(running.names.ca_file);
  });

  test("is the same within an exec", async () => {
    const first = await environment({});
    const second = await environment(first);
    expect(await readFile(second.SSL_CERT_FILE ?? "", "utf8")).toBe(
      await readFile(first.SSL_CERT_FILE ?? "", "utf8"),
    );
  });

  test("names the variable whose certificates are not there", async () => {
    await expect(environment({ SSL_CERT_FILE: "/no/such/file.pem" })).rejects.toThrow(
      /^SSL_CERT_FILE names no certificates.*unset it/,
    );
  });
});
