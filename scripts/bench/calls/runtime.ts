/** A stand-in for the voice runtime that creates calls at once and has no ear, brain or voice. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

export interface RuntimeCall {
  socket: WebSocket;
  /** Time the runtime itself took for the creation and the upgrade. */
  ownMs: number;
}

export class StandInRuntime {
  readonly #creationMs = new Map<string, number>();
  readonly #arrived: RuntimeCall[] = [];
  #waiting: ((call: RuntimeCall) => void)[] = [];
  #nextId = 0;

  /** The next call that is connected. Callers are connected one after another, so it is that of the caller who connects. */
  nextCall(): Promise<RuntimeCall> {
    const call = this.#arrived.shift();
    return call ? Promise.resolve(call) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  async listen(): Promise<string> {
    let port = 0;
    const server = createServer((request, response) => {
      const startedAt = performance.now();
      request.resume().on("end", () => {
        const id = String(this.#nextId++);
        const body = { id, transport: { websocketCallUrl: `ws://127.0.0.1:${port}/call/${id}/transport` } };
        response.setHeader("content-type", "application/json");
        response.statusCode = request.method === "POST" ? 201 : 200;
        response.end(JSON.stringify(request.method === "POST" ? body : {}));
        if (request.method === "POST") this.#creationMs.set(id, performance.now() - startedAt);
      });
    });
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    server.on("upgrade", (request, socket, head) => {
      const startedAt = performance.now();
      sockets.handleUpgrade(request, socket, head, (accepted) => {
        const id = request.url?.split("/")[2] ?? "";
        const ownMs = (this.#creationMs.get(id) ?? 0) + performance.now() - startedAt;
        this.#creationMs.delete(id);
        this.#connected({ socket: accepted, ownMs });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
    port = (server.address() as AddressInfo).port;
    return `http://127.0.0.1:${port}`;
  }

  #connected(call: RuntimeCall): void {
    call.socket.on("error", () => {});
    const next = this.#waiting.shift();
    if (next) next(call);
    else this.#arrived.push(call);
  }
}
