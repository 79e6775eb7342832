/**
 * Terminates TLS for the listed host names, each with its own certificate, and hands the decrypted connections to the
 * gateway. A client that asks for another name, or for none, gets a TLS alert.
 */
import type { Socket } from "node:net";
import { createSecureContext, createServer, type SecureContext, type TLSSocket } from "node:tls";
import type { Logger } from "pino";
import { wallTime } from "../base/clock.ts";
import { hostName } from "../http/address.ts";
import { listen, portOf } from "../http/listen.ts";
import type { Authority } from "./authority.ts";

export interface TlsListenerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  authority: Authority;
  /** Whether a name, in lower case, is listed. */
  knows(host: string): boolean;
  accept(connection: TLSSocket): void;
  log: Logger;
}

export interface TlsListener {
  port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Open connections; further ones are refused. */
const MAX_CONNECTIONS = 10_000;
const HANDSHAKE_MS = 10_000;
/** Cached certificates; the least recently used is evicted. */
const MAX_CONTEXTS = 200;

/** Well below a certificate's validity. */
const RENEW_MS = 24 * 3_600_000;

/** @throws Error naming the port and the way out. */
export async function startTlsListener(options: TlsListenerOptions): Promise<TlsListener> {
  const contextFor = createContexts(options.authority);
  const server = createServer({
    ALPNProtocols: ["http/1.1"],
    minVersion: "TLSv1.2",
    handshakeTimeout: HANDSHAKE_MS,
    noDelay: true,
    SNICallback(serverName, done) {
      const host = hostName(serverName);
      // Without a certificate the handshake ends with an alert.
      if (!options.knows(host) || host.includes("*")) done(null);
      else contextFor(host).then((context) => done(null, context), done);
    },
  });
  server.maxConnections = MAX_CONNECTIONS;
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("secureConnection", (socket) => {
    socket.on("error", () => socket.destroy());
    options.accept(socket);
  });
  server.on("tlsClientError", (error, socket) => {
    options.log.debug({ err: error }, "a TLS handshake failed");
    socket.destroy();
  });
  const url = await listen(server, options.host, options.port, "TWINS_TLS_PORT");
  return {
    port: portOf(url),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of connections) socket.destroy();
      }),
  };
}

/** Certificates by host name, issued on first use. */
function createContexts(authority: Authority): (host: string) => Promise<SecureContext> {
  const kept = new Map<string, { context: Promise<SecureContext>; madeAtMs: number }>();

  async function make(host: string): Promise<SecureContext> {
    const { certificate, key } = await authority.issue(host);
    return createSecureContext({ cert: certificate, key });
  }

  return (host) => {
    const found = kept.get(host);
    const fresh = found !== undefined && wallTime() - found.madeAtMs < RENEW_MS;
    const entry = fresh ? found : { context: make(host), madeAtMs: wallTime() };
    kept.delete(host);
    kept.set(host, entry);
    const [oldest] = kept.keys();
    if (kept.size > MAX_CONTEXTS && oldest !== undefined) kept.delete(oldest);
    return entry.context;
  };
}
