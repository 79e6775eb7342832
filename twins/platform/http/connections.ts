/** The open connections of one sandbox, so that its end closes all of them and none of another sandbox. */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

/** How long a socket may take to answer a close before it is cut. */
const CLOSE_MS = 1000;

export class Connections {
  readonly #answers = new Set<ServerResponse>();
  readonly #sockets = new Set<WebSocket>();
  readonly #upgrades = new Set<Duplex>();
  #refusing = false;

  /** Whether the sandbox still takes requests and sockets. */
  get open(): boolean {
    return !this.#refusing;
  }

  /** Tracks an answer while it is being made. */
  async answering(answer: ServerResponse, work: Promise<void>): Promise<void> {
    this.#answers.add(answer);
    try {
      await work;
    } finally {
      this.#answers.delete(answer);
    }
  }

  /** Tracks a connection whose upgrade is being answered, until it closes. */
  addUpgrade(connection: Duplex): void {
    this.#upgrades.add(connection);
    connection.once("close", () => this.#upgrades.delete(connection));
  }

  /** Tracks a socket until it closes. */
  addSocket(socket: WebSocket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** Marks the sandbox as ending: `open` is false from here on. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Closes the sockets with 1001, waits for them, then cuts incomplete answers and upgrades. */
  async end(): Promise<void> {
    this.refuse();
    await Promise.all([...this.#sockets].map(closeSocket));
    for (const answer of this.#answers) answer.destroy();
    for (const connection of this.#upgrades) connection.destroy();
  }
}

function closeSocket(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.once("close", () => {
      clearTimeout(cut);
      resolve();
    });
    socket.close(1001, "the twins are stopping");
  });
}
