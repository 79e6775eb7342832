import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Watched } from "@offhook/platform/testing/watched";
import { afterEach, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, HttpServer, refuseUpgrade, type Upgrades } from "../../agent/http-server.ts";
import { startAgentBench } from "../support/agent-bench.ts";
import { VoiceClient } from "../support/voice-client.ts";

const H2C =
  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";
const WEBSOCKET =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";

/** A connection of which a test sees each byte. */
class Wire {
  readonly socket: Socket;
  readonly #watched = new Watched();
  received = "";
  /** The other side has ended the connection. */
  closed = false;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    // Does not end because the other side does.
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    this.socket.on("data", (chunk: Buffer) => {
      this.received += chunk.toString("latin1");
      this.#watched.changed();
    });
    this.socket.on("error", () => {});
    for (const event of ["end", "close"]) {
      this.socket.on(event, () => {
        this.closed = true;
        this.#watched.changed();
      });
    }
  }

  send(text: string): void {
    this.socket.write(text);
  }

  async answer(pattern: RegExp): Promise<void> {
    await this.#watched.until(() => pattern.test(this.received), `an answer like ${pattern}`);
  }

  async gone(): Promise<void> {
    await this.#watched.until(() => this.closed, "the end of the connection");
  }
}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

let dropped = 0;
let refused = 0;

/** A server that says what it was asked; it refuses the WebSockets of /voice, and holds those of /held. */
async function start(limits: Partial<typeof DEFAULT_LIMITS> = {}): Promise<HttpServer> {
  dropped = 0;
  refused = 0;
  const upgrades: Upgrades = {
    isServed: ({ url, headers }) => url !== "/nope" && headers.upgrade === "websocket",
    serve: ({ url }, socket) => {
      if (url === "/held") return;
      refused += 1;
      refuseUpgrade(socket, { status: 401, reason: "x", message: "no" });
    },
  };
  const server = new HttpServer({
    async handle(request, response) {
      let body = "";
      try {
        for await (const chunk of request) body += chunk;
      } catch {
        return;
      }
      if (request.url !== "/silent") response.end(`${request.method} ${request.url} <${body}>`);
    },
    upgrades,
    limits: { ...DEFAULT_LIMITS, ...limits },
    onDropped: () => {
      dropped += 1;
    },
  });
  await server.listen(0, "127.0.0.1");
  ends.push(() => server.close(0));
  return server;
}

describe("an upgrade that is not served is ignored", () => {
  for (const offer of [H2C, WEBSOCKET, "Connection: Upgrade\r\nUpgrade: TLS/1.2, IRC/6.9\r\n"]) {
    test(`the request is answered and the connection kept: ${offer.split("\r\n")[1]}`, async () => {
      const wire = new Wire((await start()).url);
      wire.send(`GET /nope HTTP/1.1\r\nHost: x\r\n${offer}\r\n`);
      await wire.answer(/^HTTP\/1\.1 200 OK[\s\S]*GET \/nope <>/);
      wire.send(`POST /nope HTTP/1.1\r\nHost: x\r\n${offer}Content-Length: 5\r\n\r\nhe`);
      wire.send("llo");
      await wire.answer(/POST \/nope <hello>/);
      wire.send(`PUT /nope HTTP/1.1\r\nHost: x\r\n${offer}Transfer-Encoding: chunked\r\n\r\n`);
      wire.send("3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n");
      await wire.answer(/PUT \/nope <hello>/);
      wire.send("GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      await wire.answer(/GET \/last <>/);
      await wire.gone();
    });
  }
});

describe("nothing lasts for ever", () => {
  test("a request that drips in, in its head or in its body, is ended, however often it drips", async () => {
    const server = await start({ headersTimeoutMs: 300, requestTimeoutMs: 600 });
    const head = new Wire(server.url);
    const body = new Wire(server.url);
    const nothing = new Wire(server.url);
    head.send("POST / HTTP/1.1\r\nHost: x\r\nX: ");
    body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    const drip = setInterval(() => {
      head.send("a");
      body.send("a");
    }, 20);
    await Promise.all([head.gone(), body.gone(), nothing.gone()]);
    clearInterval(drip);
    expect(head.received).toMatch(/^HTTP\/1\.1 408 /);
    expect(body.received).toMatch(/^HTTP\/1\.1 408 /);
    await expect.poll(() => server.connections).toBe(0);
  });

  test("a connection on which nothing goes on is ended", async () => {
    const server = await start({ idleTimeoutMs: 200 });
    const wire = new Wire(server.url);
    wire.send("GET /silent HTTP/1.1\r\nHost: x\r\n\r\n");
    await wire.gone();
    await expect.poll(() => server.connections).toBe(0);
  });

  test("connections beyond the limit are closed at once, and there is room again after one", async () => {
    const server = await start({ maxConnections: 2 });
    const first = new Wire(server.url);
    const second = new Wire(server.url);
    await Promise.all([first, second].map(({ socket }) => once(socket, "connect")));
    await new Wire(server.url).gone();
    expect(dropped).toBe(1);
    first.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await first.gone();
    second.send("GET /still HTTP/1.1\r\nHost: x\r\n\r\n");
    await second.answer(/GET \/still/);
  });

  test("a refused upgrade whose client neither reads, nor ends, nor stops sending leaves no socket", async () => {
    const server = await start();
    const wires = Array.from({ length: 50 }, () => {
      const wire = new Wire(server.url);
      wire.socket.pause();
      wire.send(`GET /voice HTTP/1.1\r\nHost: x\r\n${WEBSOCKET}\r\n${"x".repeat(70_000)}`);
      return wire;
    });
    await expect.poll(() => refused).toBe(wires.length);
    const drip = setInterval(() => {
      for (const wire of wires) if (!wire.closed) wire.send("x");
    }, 100);
    await expect.poll(() => server.connections).toBe(0);
    clearInterval(drip);
    for (const { socket } of wires) socket.destroy();
  });

  test("its end cuts what does not end: a request under way, an upgraded connection", async () => {
    const server = await start();
    const requests = [
      "GET /silent HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /",
      `GET /held HTTP/1.1\r\nHost: x\r\n${WEBSOCKET}\r\ntrailing bytes`,
    ];
    const wires = requests.map((text) => {
      const wire = new Wire(server.url);
      wire.send(text);
      return wire;
    });
    await expect.poll(() => server.connections).toBe(requests.length);
    await server.close(50);
    await Promise.all(wires.map((wire) => wire.gone()));
  });
});

/** What a client may do with its connection after its upgrade was refused. */
const DEPARTURES = [
  { trailing: "trailing bytes", leave: (wire: Wire) => wire.socket.destroy() },
  { trailing: "x".repeat(70_000), leave: (wire: Wire) => wire.socket.destroy() },
  { trailing: "trailing bytes", leave: (wire: Wire) => wire.socket.end() },
  { trailing: "", leave: (wire: Wire) => wire.socket.end("more") },
  // Stays, and holds its side open.
  { trailing: "trailing bytes", leave: () => {} },
];

test("hundreds of refused upgrades, however their clients leave, leave no socket, and the agent ends", async () => {
  const bench = await startAgentBench({ env: { VOICE_TOKEN: "open-sesame" } });
  const client = await VoiceClient.connect(bench.agent.url, { query: "token=open-sesame" });
  const paths = ["/nope", "/voice", "/voice?token=wrong", "/voice?protocol=odd&token=open-sesame", "/%"];
  for (const path of paths) {
    for (const { trailing, leave } of DEPARTURES) {
      const wires = Array.from({ length: 20 }, () => {
        const wire = new Wire(bench.agent.url);
        wire.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${WEBSOCKET}\r\n${trailing}`);
        return wire;
      });
      await Promise.all(wires.map((wire) => wire.answer(/^HTTP\/1\.1 4\d\d /)));
      for (const wire of wires) leave(wire);
    }
  }
  // The one that is left is the call's.
  await expect.poll(() => bench.agent.connections).toBe(1);
  client.hangUp();
  await bench.stop();
  await expect.poll(() => bench.agent.connections).toBe(0);
});
