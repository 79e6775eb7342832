/**
 * A small load balancer: passes each TCP connection to the ready agent with the fewest, and asks each for `/readyz`. Like
 * one of the fourth layer it repeats nothing: what an agent refuses is refused.
 */

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { Watched } from "@offhook/platform/testing/watched";

const WATCH_MS = 200;
const WATCH_TIMEOUT_MS = 2_000;

export class Backend {
  readonly url: string;
  isReady = false;
  /** Connections at the moment. */
  connections = 0;
  /** Connections that were passed to it since it was told to stop. */
  sinceStopped: number | undefined;

  constructor(url: string) {
    this.url = url;
  }
}

export class Balancer {
  readonly #backends = new Set<Backend>();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#pass(socket));
  readonly #watched = new Watched();
  readonly #timer = setInterval(() => this.#watch(), WATCH_MS);
  /** Connections for which no agent was ready, or that an agent did not accept. */
  failed = 0;

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    await new Promise<void>((resolve) => balancer.#server.listen(0, "127.0.0.1", resolve));
    return balancer;
  }

  private constructor() {}

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds an agent; resolves once it is ready. */
  async add(url: string): Promise<Backend> {
    const backend = new Backend(url);
    this.#backends.add(backend);
    await this.#watched.until(() => backend.isReady, `${url} to be ready`);
    return backend;
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #watch(): void {
    for (const backend of this.#backends) {
      fetch(`${backend.url}/readyz`, { signal: AbortSignal.timeout(WATCH_TIMEOUT_MS) })
        .then(async (response) => {
          await response.text();
          backend.isReady = response.ok;
        })
        .catch(() => {
          backend.isReady = false;
        })
        .finally(() => this.#watched.changed());
    }
  }

  #pass(socket: Socket): void {
    const ready = [...this.#backends].filter(({ isReady }) => isReady);
    const [backend] = ready.sort((a, b) => a.connections - b.connections);
    if (backend === undefined) {
      this.failed += 1;
      socket.destroy();
      return;
    }
    backend.connections += 1;
    if (backend.sinceStopped !== undefined) backend.sinceStopped += 1;
    const { hostname, port } = new URL(backend.url);
    const upstream = connect(Number(port), hostname);
    let isConnected = false;
    upstream.once("connect", () => {
      isConnected = true;
    });
    socket.setNoDelay(true);
    upstream.setNoDelay(true);
    socket.pipe(upstream);
    upstream.pipe(socket);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.end();
      });
    }
    upstream.on("close", () => {
      backend.connections -= 1;
      if (!isConnected) this.failed += 1;
    });
  }
}
