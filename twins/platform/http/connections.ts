/** What clients hold open to one sandbox, so that its end ends all of it and nothing of another sandbox. */
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

  /** Keeps an answer for as long as it is being made. */
  async answering(answer: ServerResponse, work: Promise<void>): Promise<void> {
    this.#answers.add(answer);
    try {
      await work;
    } finally {
      this.#answers.delete(answer);
    }
  }

  /** Keeps a connection whose upgrade is being answered, until it is closed. */
  addUpgrade(connection: Duplex): void {
    this.#upgrades.add(connection);
    connection.once("close", () => this.#upgrades.delete(connection));
  }

  /** Keeps a socket until it is closed. */
  addSocket(socket: WebSocket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** From here on nothing is to be added. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Closes the sockets with 1001, cuts the answers that are not complete, and waits until all are gone. */
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
