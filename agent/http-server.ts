/** An HTTP server with a time limit on everything: reading a request, idle connections, refused upgrades, closing. */
import { createServer, IncomingMessage, type RequestListener, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Refusal } from "./request-guard.ts";

export interface HttpServerLimits {
  /** Longest wait for the headers of a request. */
  headersTimeoutMs: number;
  /** Longest wait for a whole request, however slowly it drips in. */
  requestTimeoutMs: number;
  /** Longest time in which neither side sends anything: a tool that runs, an answer that is not read. */
  idleTimeoutMs: number;
  /** Maximum connections; further ones are closed at once. */
  maxConnections: number;
}

export const DEFAULT_LIMITS: HttpServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  idleTimeoutMs: 120_000,
  maxConnections: 1_000,
};

/** How often the limits are checked, as a share of the shortest. */
const CHECKS_PER_TIMEOUT = 5;
const REFUSED_UPGRADE_TIMEOUT_MS = 2_000;

/** The upgrades a server serves. It ignores others, as RFC 9110 allows, and answers their requests without upgrading. */
export interface Upgrades {
  isServed(request: IncomingMessage): boolean;
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface HttpServerParts {
  handle: RequestListener;
  /** Every upgrade is ignored when absent. */
  upgrades?: Upgrades;
  limits: HttpServerLimits;
  /** A connection beyond the limit was closed. */
  onDropped(): void;
}

export class HttpServer {
  readonly #server;
  readonly #sockets = new Set<Duplex>();

  constructor({ handle, upgrades, limits, onDropped }: HttpServerParts) {
    const { headersTimeoutMs, requestTimeoutMs, idleTimeoutMs, maxConnections } = limits;
    this.#server = createServer(
      {
        IncomingMessage: requestClass((request) => upgrades?.isServed(request) ?? false),
        headersTimeout: headersTimeoutMs,
        requestTimeout: requestTimeoutMs,
        connectionsCheckingInterval: Math.ceil(headersTimeoutMs / CHECKS_PER_TIMEOUT),
      },
      handle,
    );
    this.#server.timeout = idleTimeoutMs;
    this.#server.maxConnections = maxConnections;
    this.#server.on("drop", onDropped);
    // The server itself forgets a connection once it is upgraded.
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    if (upgrades !== undefined) {
      this.#server.on("upgrade", (request, socket, head) => upgrades.serve(request, socket, head));
    }
  }

  /** Connections at the moment, upgraded ones included. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** @throws when the address is taken */
  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  /** Where it listens, as this machine reaches it, without a slash at the end. */
  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo;
    // An address bound to all interfaces is reached over loopback.
    if (address === "0.0.0.0" || address === "::") return `http://127.0.0.1:${port}`;
    return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  /** Stops listening; connections that are open go on. */
  stopListening(): void {
    this.#server.close();
  }

  /** Stops listening, waits for requests in progress up to the time limit, and closes the remaining connections. */
  async close(timeoutMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, timeoutMs);
    await closed;
    clearTimeout(timer);
  }
}

const OFFERED = Symbol("offered");

/**
 * The class of a server's requests. Once there is an `upgrade` listener, Node treats every request with an `Upgrade`
 * header as an upgrade, including HTTP/2 over plain HTTP (`h2c`). It reads the request's `upgrade` property, which this
 * class overrides to accept only what is served. Node 24.9 has `shouldUpgradeCallback` for this.
 */
function requestClass(isServed: (request: IncomingMessage) => boolean): typeof IncomingMessage {
  return class extends IncomingMessage {
    // Not a field: the constructor of the base class assigns `upgrade` before fields exist.
    declare [OFFERED]: boolean;

    get upgrade(): boolean {
      return this[OFFERED] && (this.method === "CONNECT" || isServed(this));
    }

    set upgrade(offered: boolean) {
      this[OFFERED] = offered;
    }
  };
}

/** Refuses an upgrade on its bare socket, and closes that soon afterwards whatever the client does. */
export function refuseUpgrade(socket: Duplex, { status, message }: Refusal): void {
  const body = `${JSON.stringify({ error: message })}\n`;
  // A fixed time limit: a socket timeout would restart with every byte.
  const timer = setTimeout(() => socket.destroy(), REFUSED_UPGRADE_TIMEOUT_MS);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
  // Discard what the client sends: unread data would hide the end of the connection.
  socket.resume();
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Connection: close",
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(status === 401 ? ["WWW-Authenticate: Bearer"] : []),
      "",
      body,
    ].join("\r\n"),
  );
}
