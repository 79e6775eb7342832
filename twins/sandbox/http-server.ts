/** An HTTP server with the limits that every one of ours has. */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";

/** Longest a request may take to arrive, and its headers. */
const REQUEST_MS = 60_000;
const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

/** Connections open at a time, sockets included; more are turned away. */
const MAX_CONNECTIONS = 10_000;

export interface HttpHandlers {
  serve(req: IncomingMessage, res: ServerResponse): Promise<void>;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/** A request or an upgrade whose handler fails is logged, and its connection cut. */
export function createHttpServer(handlers: HttpHandlers, log: Logger): http.Server {
  const server = http.createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: HEADERS_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 5000,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("request", (req, res) => {
    handlers.serve(req, res).catch((error: unknown) => {
      log.error({ err: error }, "a request could not be answered");
      res.destroy();
    });
  });
  server.on("upgrade", (req, socket, head) => {
    socket.on("error", () => socket.destroy());
    handlers.upgrade(req, socket, head).catch((error: unknown) => {
      log.error({ err: error }, "an upgrade could not be answered");
      socket.destroy();
    });
  });
  return server;
}
