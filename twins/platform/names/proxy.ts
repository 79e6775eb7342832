/**
 * The HTTP proxy of `exec`, for programs that honour `HTTPS_PROXY` and `HTTP_PROXY`. It connects the vendors' names to the
 * twins and other names to their real hosts. It listens on loopback and requires the password in its address.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import net from "node:net";
import { type Duplex, pipeline } from "node:stream";
import tls from "node:tls";
import { hostName } from "../http/address.ts";
import { listen } from "../http/listen.ts";
import { createHostNames } from "../sandboxes/host-names.ts";
import type { Names } from "./names.ts";
import type { Outside } from "./outside.ts";

export interface ProxyOptions {
  names: Names;
  /** Connects to hosts that are not twins; absent: they are refused. */
  outside?: Outside;
  /** Called when a host is refused, once per host and reason. */
  onRefused(message: string): void;
}

export interface NameProxy {
  /** Value for `HTTPS_PROXY`, with user and password. */
  url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const USER = "exec";
/** Open connections; further ones are refused. */
const MAX_CONNECTIONS = 1000;
/** A tunnel whose client sends nothing is closed after this time. */
const FIRST_BYTE_MS = 60_000;
/** Allowed ports of other hosts: an open proxy can be abused, for mail spam for instance. */
const OUTSIDE_PORTS = new Set([443, 80]);
/** The first byte of a TLS connection (RFC 8446, 5.1: a handshake record). */
const TLS_HANDSHAKE = 22;
/** Remembered refusals, so that each is reported once. */
const MAX_TOLD = 1000;
/** Headers about the connection and not the request (RFC 9110, 7.6.1), including those for the proxy itself. */
const HOP_BY_HOP_HEADERS = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "upgrade",
];

interface Place {
  host: string;
  port: number;
}

/** A refused request. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Starts to listen on a free port. */
export async function startProxy({ names, outside, onRefused }: ProxyOptions): Promise<NameProxy> {
  const password = randomBytes(16).toString("hex");
  const expected = Buffer.from(`Basic ${Buffer.from(`${USER}:${password}`).toString("base64")}`);
  const findTwin = createTwinFinder(names);
  const told = new Set<string>();

  function checkCaller(req: IncomingMessage): void {
    const given = Buffer.from(req.headers["proxy-authorization"] ?? "");
    if (given.length === expected.length && timingSafeEqual(given, expected)) return;
    throw new Refusal(
      407,
      "this proxy serves the program under exec alone: use HTTPS_PROXY as it is set there",
    );
  }

  /** Connects to a host. For a twin behind the gateway, the client's `first` byte decides between TLS and HTTP. */
  async function reach(host: string, port: number, first: () => Promise<number>): Promise<Duplex> {
    const twin = findTwin(host);
    if (twin) {
      const { address, tls_port, http_port } = names;
      const place = twin.place ?? {
        host: address,
        port: (await first()) === TLS_HANDSHAKE ? tls_port : http_port,
      };
      return net.connect({ ...place, noDelay: true });
    }
    if (!outside) {
      throw new Refusal(
        403,
        `TWINS_STRICT=1: ${host}:${port} is no twin's name. Name it under dns_aliases in the environment file, or run without TWINS_STRICT.`,
      );
    }
    if (!OUTSIDE_PORTS.has(port)) {
      throw new Refusal(
        403,
        `${host}:${port} is no twin's name, and other hosts are reached at ports 443 and 80 alone. Add ${host} to NO_PROXY before exec to reach it directly.`,
      );
    }
    return outside.connect(host.replace(/^\[|\]$/g, ""), port).catch((error: Error) => {
      throw new Refusal(502, error.message);
    });
  }

  async function tunnel(req: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    checkCaller(req);
    const { host, port } = readAuthority(req.url ?? "");
    const established = () => client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    let answered = false;
    const target = await reach(host, port, async () => {
      established();
      answered = true;
      return head[0] ?? firstByte(client);
    });
    if (!answered) established();
    if (head.length > 0) target.write(head);
    join(client, target);
  }

  /** Serves a request in absolute form (RFC 9112, 3.2.2), which programs send to a proxy for `http:`, and some for `https:`. */
  async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    checkCaller(req);
    const url = readUrl(req.url ?? "");
    const secure = url.protocol === "https:";
    const host = hostName(url.host);
    const socket = await reach(host, Number(url.port || (secure ? 443 : 80)), async () => 0);
    // The gateway finds a twin by `Host`, so TLS is not needed.
    const wrapped = secure && !findTwin(host) ? tls.connect({ socket, servername: host }) : socket;
    await pass(req, res, url, wrapped);
  }

  /** Turns a failure into an answer. Reports it, unless the caller is a stranger without the password. */
  function refusalOf(error: unknown): Refusal {
    const refusal = error instanceof Refusal ? error : new Refusal(502, String(error));
    const { status, message } = refusal;
    if (status !== 407 && !told.has(message) && told.size < MAX_TOLD) {
      told.add(message);
      onRefused(message);
    }
    return refusal;
  }

  const server = http.createServer((req, res) => {
    forward(req, res).catch((error: unknown) => {
      const { status, message } = refusalOf(error);
      if (res.headersSent) res.destroy();
      else res.writeHead(status, answerHeaders(status)).end(`${message}\n`);
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  const connections = new Set<Duplex>();
  server.on("connection", (socket: Duplex) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("connect", (req, socket, head) => {
    socket.on("error", () => socket.destroy());
    tunnel(req, socket, head).catch((error: unknown) => {
      // Only what is refused has not been answered yet.
      if (error instanceof Refusal) refuseTunnel(socket, refusalOf(error));
      else socket.destroy();
    });
  });

  const address = new URL(await listen(server, HOST, 0));
  return {
    url: `http://${USER}:${password}@${address.host}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const connection of connections) connection.destroy();
      }),
  };
}

function answerHeaders(status: number): Record<string, string> {
  const challenge = status === 407 ? { "proxy-authenticate": 'Basic realm="exec"' } : {};
  return { "content-type": "text/plain; charset=utf-8", ...challenge };
}

function refuseTunnel(socket: Duplex, { status, message }: Refusal): void {
  const body = `${message}\n`;
  const headers = {
    ...answerHeaders(status),
    "content-length": `${Buffer.byteLength(body)}`,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`, ...lines, "", body].join("\r\n"));
}

/** Finds the twin of a host name; `place` is the address of one that is not behind the gateway. */
function createTwinFinder({ hosts }: Names): (host: string) => { place?: Place | undefined } | undefined {
  const known = createHostNames();
  for (const { name, sandbox, twin } of hosts) known.add(name, { sandbox, twin });
  return (host) => {
    const found = known.find(host);
    return found && hosts.find(({ sandbox, twin }) => sandbox === found.sandbox && twin === found.twin);
  };
}

/** Parses the `host:port` of a `CONNECT`. */
function readAuthority(text: string): Place {
  const colon = text.lastIndexOf(":");
  const port = Number(text.slice(colon + 1));
  const host = hostName(text.slice(0, Math.max(colon, 0)));
  if (host !== "" && Number.isInteger(port) && port > 0 && port < 65_536) return { host, port };
  throw new Refusal(400, "CONNECT takes host:port");
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new Refusal(400, "this is a proxy: it takes CONNECT host:port, or a request for a whole URL");
}

/** Peeks at the first byte that a client sends. */
function firstByte(client: Duplex): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(), FIRST_BYTE_MS);
    const look = () => {
      const chunk: Buffer | null = client.read();
      if (chunk === null) return;
      client.unshift(chunk);
      finish(chunk[0]);
    };
    const gone = () => finish();
    const finish = (byte?: number) => {
      clearTimeout(timer);
      client.off("readable", look).off("close", gone).off("end", gone);
      if (byte === undefined) reject(new Error("the client said nothing"));
      else resolve(byte);
    };
    client.on("readable", look).on("close", gone).on("end", gone);
  });
}

/** Pipes two connections into each other; the end or failure of either ends both. */
function join(client: Duplex, target: Duplex): void {
  pipeline(client, target, () => target.destroy());
  pipeline(target, client, () => client.destroy());
}

/** Forwards a request over a new connection, and its answer back. */
function pass(req: IncomingMessage, res: ServerResponse, url: URL, socket: Duplex): Promise<void> {
  return new Promise((resolve, reject) => {
    const onward = http.request({
      method: req.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      headers: ["host", url.host, ...removeHopByHopHeaders(req, ["host"]), "connection", "close"],
      createConnection: () => socket,
    });
    onward.once("response", (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.statusMessage, removeHopByHopHeaders(answer));
      pipeline(answer, res, () => resolve());
    });
    onward.once("error", (error) => {
      reject(new Refusal(502, `${url.host} cannot be reached: ${error.message}`));
    });
    res.once("close", () => socket.destroy());
    pipeline(req, onward, () => undefined);
  });
}

/** The raw headers without those of the connection. */
function removeHopByHopHeaders(
  { rawHeaders, headers }: IncomingMessage,
  more: readonly string[] = [],
): string[] {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const removed = new Set([...HOP_BY_HOP_HEADERS, ...named, ...more]);
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (!removed.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
