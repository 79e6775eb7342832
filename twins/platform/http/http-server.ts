/** An HTTP server with the limits that all of ours share, WebSocket upgrades, and a close that always completes. */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { listen } from "./listen.ts";

/** Time limits for receiving a whole request, and its headers. */
const REQUEST_MS = 60_000;
const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

/** Open connections, sockets included; further ones are refused. */
const MAX_CONNECTIONS = 10_000;

/** Upgrades a connection to a WebSocket, or refuses to. `head` holds the bytes the client sent after its request. */
export type TakeUpgrade = (socket: Duplex, head: Buffer) => Promise<void>;

export interface HttpHandlers {
  serve(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Finds the handler of a WebSocket upgrade. `undefined`: none, and the request is served as an ordinary one. */
  findUpgrade(req: IncomingMessage): TakeUpgrade | undefined;
}

export interface HttpServer {
  /** Answers the address as a URL without a slash at the end. @throws Error naming the port and the way out */
  listen(host: string, port: number, portVariable?: string): Promise<string>;
  /** Serves a connection that another listener accepted. */
  accept(connection: Duplex): void;
  /** Stops accepting connections; open ones stay. Resolves when the last has closed. */
  refuse(): Promise<void>;
  /** Cuts every connection, upgraded ones included, and waits until the port is free. */
  close(): Promise<void>;
}

/** Creates a server. When the handler of a request or an upgrade fails, the server logs the error and cuts the connection. */
export function createHttpServer(handlers: HttpHandlers, log: Logger): HttpServer {
  const server = http.createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: HEADERS_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 5000,
  });
  server.maxConnections = MAX_CONNECTIONS;
  /** Upgraded connections, which Node no longer tracks. */
  const connections = new Set<Duplex>();
  const newestAnswers = new WeakMap<Duplex, ServerResponse>();

  server.on("connection", (socket: Duplex) => {
    if (connections.has(socket)) return;
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (req, res) => {
    newestAnswers.set(req.socket, res);
    handlers.serve(req, res).catch((error: unknown) => {
      log.error({ err: error }, "a request could not be answered");
      res.destroy();
    });
  });
  server.on("upgrade", (req, socket, head) => {
    const cut = () => socket.destroy();
    const upgrade = async () => {
      if (socket.destroyed) return;
      const take = offersWebSocket(req) ? handlers.findUpgrade(req) : undefined;
      if (take) await take(socket, head);
      else {
        socket.removeListener("error", cut);
        serveWithoutUpgrade(server, req, socket, head);
      }
    };
    socket.on("error", cut);
    afterAnswer(newestAnswers.get(socket), () => {
      upgrade().catch((error: unknown) => {
        log.error({ err: error }, "an upgrade could not be answered");
        cut();
      });
    });
  });

  let closed: Promise<void> | undefined;
  const refuse = () => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    return closed;
  };
  return {
    listen: (host, port, portVariable) => listen(server, host, port, portVariable),
    accept: (connection) => server.emit("connection", connection),
    refuse,
    async close() {
      const gone = refuse();
      for (const connection of connections) connection.destroy();
      await gone;
    },
  };
}

function offersWebSocket(req: IncomingMessage): boolean {
  return req.method === "GET" && req.headers.upgrade?.trim().toLowerCase() === "websocket";
}

/** Answers on a connection in order: Node leaves that to us once a request asks for an upgrade. */
function afterAnswer(earlier: ServerResponse | undefined, proceed: () => void): void {
  if (earlier && !earlier.closed) earlier.once("close", proceed);
  else proceed();
}

/**
 * Serves a request but ignores its upgrade, as RFC 9110, 7.8 allows (clients that prefer HTTP/2 send `Upgrade: h2c`).
 * Node has detached the connection, so it is fed the request again without the `upgrade` token and parses on from there:
 * body, keep-alive and pipelined requests work as usual. The `shouldUpgradeCallback` of newer versions drops the bytes
 * that came in the same packet as the request.
 */
function serveWithoutUpgrade(server: http.Server, req: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  for (let index = 0; index + 1 < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index] ?? "";
    const value = req.rawHeaders[index + 1] ?? "";
    const shown = name.toLowerCase() === "connection" ? withoutUpgradeToken(value) : value;
    if (shown !== undefined) lines.push(`${name}: ${shown}`);
  }
  // The previous answer may have left its keep-alive timeout on the socket.
  req.socket.setTimeout(0);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

/** @returns `undefined` when no other token is left */
function withoutUpgradeToken(connection: string): string | undefined {
  const tokens = connection.split(",").map((token) => token.trim());
  const others = tokens.filter((token) => token !== "" && token.toLowerCase() !== "upgrade");
  return others.length > 0 ? others.join(", ") : undefined;
}
