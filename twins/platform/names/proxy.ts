/**
 * The HTTP proxy of `exec`, for programs that go by `HTTPS_PROXY` and `HTTP_PROXY`: the vendors' names lead to the twins,
 * other names to where they always did. It listens on loopback and serves nobody without the password of its address.
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
  /** The way to names that are no twins'; absent: they are refused. */
  outside?: Outside;
  /** A program wanted a host that it does not get; once a host and reason. */
  onRefused(message: string): void;
}

export interface NameProxy {
  /** With user and password: what `HTTPS_PROXY` is set to. */
  url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const USER = "exec";
/** Connections open at a time; more are turned away. */
const MAX_CONNECTIONS = 1000;
/** A tunnel in which the client says nothing at first is closed. */
const FIRST_BYTE_MS = 60_000;
/** Ports of other hosts that are led to: a proxy that leads everywhere is misused for mail and the like. */
const OUTSIDE_PORTS = new Set([443, 80]);
/** The first byte of a TLS connection (RFC 8446, 5.1: a handshake record). */
const TLS_HANDSHAKE = 22;
/** Refusals that are remembered, so that each is told once. */
const MAX_TOLD = 1000;
/** Headers about a connection and not about the request (RFC 9110, 7.6.1); what a program says to the proxy alone. */
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

/** A request that is not served. */
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

  /** Where connections of a host lead: of a twin behind the gateway, `first` byte of the client's decides. */
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

  /** A request for a whole URL (RFC 9112, 3.2.2), as programs send it to a proxy for `http:`, and some for `https:`. */
  async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    checkCaller(req);
    const url = readUrl(req.url ?? "");
    const secure = url.protocol === "https:";
    const host = hostName(url.host);
    const socket = await reach(host, Number(url.port || (secure ? 443 : 80)), async () => 0);
    // A twin is told by `Host`: to it TLS adds nothing.
    const wrapped = secure && !findTwin(host) ? tls.connect({ socket, servername: host }) : socket;
    await pass(req, res, url, wrapped);
  }

  /** What a failure is answered with; tells of it, unless the caller is none of ours. */
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

/** Finds the twin of a host name; `place` is where one listens that is not behind the gateway. */
function createTwinFinder({ hosts }: Names): (host: string) => { place?: Place | undefined } | undefined {
  const known = createHostNames();
  for (const { name, sandbox, twin } of hosts) known.add(name, { sandbox, twin });
  return (host) => {
    const found = known.find(host);
    return found && hosts.find(({ sandbox, twin }) => sandbox === found.sandbox && twin === found.twin);
  };
}

/** `host:port` of a `CONNECT`. */
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

/** The first byte a client sends, which stays to be read. */
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

/** The end or failure of either ends both. */
function join(client: Duplex, target: Duplex): void {
  pipeline(client, target, () => target.destroy());
  pipeline(target, client, () => client.destroy());
}

/** Sends a request on over a connection of its own, and its answer back. */
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

/** Names and values as they came, without those of the connection. */
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
