/**
 * A small load balancer: passes TCP connections to the ready agents in turns, and asks each for `/readyz` now and then.
 * Like one of the fourth layer it repeats nothing: what an agent refuses is refused.
 */

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { Watched } from "@offhook/platform/testing/watched";

/** So rarely that an agent which is told to stop gets more calls meanwhile. */
const WATCH_MS = 750;
const WATCH_TIMEOUT_MS = 2_000;

export class Backend {
  readonly url: string;
  isReady = false;
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
  #turn = 0;
  #rounds = 0;
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

  /** Resolves when all agents have just been asked whether they are ready. */
  async nextRound(): Promise<void> {
    const round = this.#rounds + 1;
    await this.#watched.until(() => this.#rounds >= round, "the next round of /readyz");
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  async #watch(): Promise<void> {
    await Promise.all([...this.#backends].map(watch));
    this.#rounds += 1;
    this.#watched.changed();
  }

  #pass(socket: Socket): void {
    const ready = [...this.#backends].filter(({ isReady }) => isReady);
    this.#turn += 1;
    const backend = ready[this.#turn % ready.length];
    if (backend === undefined) {
      this.failed += 1;
      socket.destroy();
      return;
    }
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
      if (!isConnected) this.failed += 1;
    });
  }
}

async function watch(backend: Backend): Promise<void> {
  try {
    const response = await fetch(`${backend.url}/readyz`, { signal: AbortSignal.timeout(WATCH_TIMEOUT_MS) });
    await response.text();
    backend.isReady = response.ok;
  } catch {
    backend.isReady = false;
  }
}
