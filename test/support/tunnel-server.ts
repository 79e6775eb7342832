/**
 * A tunnel server on loopback that speaks localtunnel's protocol: `GET /?new` or `GET /<name>` gives a tunnel with a TCP
 * port of its own; the client keeps connections to it, and a request for the tunnel's host name goes down one of them.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Watched } from "@offhook/platform/testing/watched";

const MAX_CONNECTIONS = 3;

interface Refusal {
  status: number;
  retryAfter?: string;
  body?: string;
  /** So many requests are refused; all when absent. */
  times?: number;
  /** There is no answer at all. */
  hangs?: boolean;
}

interface OpenTunnel {
  name: string;
  server: Server;
  /** Connections of the client that no request uses. */
  idle: Socket[];
}

export class TunnelServer {
  url = "";
  /** Tunnels handed out, in their order. */
  readonly handedOut: string[] = [];
  /** Requests for a tunnel. */
  asked = 0;
  /** What requests for a tunnel are answered instead of one. */
  refusal: Refusal | undefined;
  /** Takes the client's connections and closes them. */
  closesConnections = false;
  readonly watched = new Watched();
  readonly #tunnels = new Map<string, OpenTunnel>();
  readonly #sockets = new Set<Socket>();
  readonly #http = createHttpServer((incoming, response) => void this.#serve(incoming, response));

  static async start(): Promise<TunnelServer> {
    const server = new TunnelServer();
    server.#http.on("connection", (socket: Socket) => server.#track(socket));
    server.url = `http://localhost:${await listening(server.#http)}`;
    return server;
  }

  /** Sends a request to a tunnel's public address, as anyone outside would. */
  visit(
    publicUrl: string,
    init: { method: string; headers: Record<string, string>; body: string },
  ): Promise<Visit> {
    const { host, pathname, port } = new URL(publicUrl);
    return new Promise((resolve, reject) => {
      const visitor = request(
        { host: "127.0.0.1", port, path: pathname, method: init.method, headers: { ...init.headers, host } },
        (response) =>
          void textOf(response).then((body) => resolve({ status: response.statusCode ?? 0, body })),
      );
      visitor.on("error", reject);
      visitor.end(init.body);
    });
  }

  /** Ends a tunnel from the server's side: its port is closed, its connections are cut. */
  kill(name: string): void {
    const tunnel = this.#tunnels.get(name);
    if (tunnel === undefined) throw new Error(`no tunnel ${name}`);
    this.#tunnels.delete(name);
    tunnel.server.close();
    for (const socket of tunnel.idle) socket.destroy();
  }

  async stop(): Promise<void> {
    for (const name of [...this.#tunnels.keys()]) this.kill(name);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [name = ""] = (incoming.headers.host ?? "").split(".");
    const tunnel = this.#tunnels.get(name);
    if (tunnel !== undefined) await this.#forward(tunnel, incoming, response);
    else if (this.#refuses()) this.#refuse(response);
    else await this.#open(incoming.url ?? "/", response);
  }

  #refuses(): boolean {
    this.asked += 1;
    this.watched.changed();
    if (this.refusal === undefined) return false;
    return this.refusal.times === undefined || this.asked <= this.refusal.times;
  }

  #refuse(response: ServerResponse): void {
    const { status = 500, retryAfter, body = "busy", hangs } = this.refusal ?? {};
    if (hangs) return;
    response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end(body);
  }

  async #open(path: string, response: ServerResponse): Promise<void> {
    const asked = path.startsWith("/?new") ? undefined : path.slice(1);
    const name = asked !== undefined && !this.#tunnels.has(asked) ? asked : `t${this.handedOut.length}`;
    const server = createServer((socket) => this.#keep(name, socket));
    const port = await listening(server);
    this.#tunnels.set(name, { name, server, idle: [] });
    this.handedOut.push(name);
    const { port: publicPort } = new URL(this.url);
    json(response, 200, {
      id: name,
      port,
      max_conn_count: MAX_CONNECTIONS,
      url: `http://${name}.localhost:${publicPort}`,
    });
    this.watched.changed();
  }

  #keep(name: string, socket: Socket): void {
    this.#track(socket);
    const tunnel = this.#tunnels.get(name);
    if (tunnel === undefined || this.closesConnections) {
      socket.destroy();
      return;
    }
    tunnel.idle.push(socket);
    socket.on("close", () => {
      tunnel.idle = tunnel.idle.filter((one) => one !== socket);
    });
    this.watched.changed();
  }

  /** One request, one connection: the client opens another when this one closes. */
  async #forward(tunnel: OpenTunnel, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.watched.until(() => tunnel.idle.length > 0, "a connection of the tunnel client");
    const socket = tunnel.idle.shift();
    if (socket === undefined) throw new Error("no connection");
    const onward = request(
      {
        createConnection: () => socket,
        method: incoming.method,
        path: incoming.url,
        headers: { ...incoming.headers, connection: "close" },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    incoming.pipe(onward);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

export interface Visit {
  status: number;
  body: string;
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
