/**
 * A small programmable voice runtime: `POST /call`, the call socket, `GET` and `DELETE /call/{id}`. It does what a test
 * tells it, faults included, and notes what the agent did. It has no ear, no brain and no voice; the voice runtime twin
 * has. It is strict about ends: a call it created is open until it has read `end-call` or a DELETE, or ended it itself.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Watched } from "@offhook/platform/testing/watched";
import { type WebSocket, WebSocketServer } from "ws";

/** What `POST /call` does. */
export type CreateBehaviour =
  | { kind: "create" }
  /** Creates the call and leaves a member out of the answer. */
  | { kind: "create-without"; member: "id" | "transport" }
  | { kind: "answer"; status: number; body: string; contentType?: string }
  /** Creates the call and then answers nothing until `release` is called. */
  | { kind: "hold" }
  /** Cuts the connection without an answer. */
  | { kind: "cut" }
  /** Creates the call, and cuts the connection without an answer. */
  | { kind: "create-and-cut" };

/** What the upgrade of a call socket does. */
export type UpgradeBehaviour =
  | { kind: "accept" }
  | { kind: "refuse"; status: number }
  /** Answers nothing. */
  | { kind: "hang" };

/** What `DELETE /call/{id}` does instead of ending the call. */
export type DeleteFault =
  | { kind: "answer"; status: number }
  | { kind: "cut" }
  /** Answers nothing. */
  | { kind: "hang" };

/** What befalls one call; what is absent is as the runtime's own behaviour says. */
export interface CallPlan {
  create?: CreateBehaviour;
  /** What its first upgrades do. */
  upgrades?: UpgradeBehaviour[];
  /** What its first DELETE requests do. */
  deletes?: DeleteFault[];
}

/** The body of `POST /call`, as far as tests look at it. */
export interface CallRequest {
  assistant: {
    metadata?: Record<string, string>;
    model: {
      tools: { function: { name: string }; server: { url: string; headers: Record<string, string> } }[];
    };
    [member: string]: unknown;
  };
  transport: unknown;
}

/** One call at the runtime. */
export class StandInCall {
  readonly id: string;
  readonly request: CallRequest;
  readonly headers: IncomingHttpHeaders;
  /** Text frames from the agent. */
  readonly messages: string[] = [];
  /** Set by `DELETE /call/{id}`. */
  deleted = false;
  /** DELETE requests, those that failed included. */
  deleteRequests = 0;
  /** Faults that are still to come. */
  readonly plan: { upgrades: UpgradeBehaviour[]; deletes: DeleteFault[] };
  /** How the agent's side closed the socket. */
  closed: { code: number; reason: string } | undefined;
  readonly #watched: Watched;
  readonly #chunks: Buffer[] = [];
  /** Whether the runtime has ended the call of itself. */
  isOver = false;
  #audioBytes = 0;
  #socket: WebSocket | undefined;
  #connection: Duplex | undefined;

  constructor(
    id: string,
    request: CallRequest,
    headers: IncomingHttpHeaders,
    watched: Watched,
    plan: CallPlan,
  ) {
    this.id = id;
    this.plan = { upgrades: [...(plan.upgrades ?? [])], deletes: [...(plan.deletes ?? [])] };
    this.request = request;
    this.headers = headers;
    this.#watched = watched;
  }

  /** Whether there is, or was, a call socket. */
  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  /** The open call socket. @throws when there is none */
  get socket(): WebSocket {
    if (this.#socket === undefined) throw new Error(`the call ${this.id} has no socket`);
    return this.#socket;
  }

  /** The connection below the call socket. */
  get rawSocket(): Duplex {
    if (this.#connection === undefined) throw new Error(`the call ${this.id} has no connection`);
    return this.#connection;
  }

  /** Whether the call goes on, and is billed. */
  get isOpen(): boolean {
    return !this.isOver && !this.deleted && !this.messages.includes('{"type":"end-call"}');
  }

  get audioBytes(): number {
    return this.#audioBytes;
  }

  /** All audio received, in one piece. */
  audio(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** The headers by which the agent recognises this call's tool webhooks. */
  get webhook(): { url: string; headers: Record<string, string> } {
    const [tool] = this.request.assistant.model.tools;
    if (tool === undefined) throw new Error("the assistant has no tools");
    return tool.server;
  }

  attach(socket: WebSocket, connection: Duplex): void {
    this.#socket = socket;
    this.#connection = connection;
    socket.on("message", (data, isBinary) => {
      if (!Buffer.isBuffer(data)) throw new TypeError("expected a Buffer");
      if (isBinary) {
        this.#chunks.push(data);
        this.#audioBytes += data.length;
      } else {
        this.messages.push(data.toString());
      }
      this.#watched.changed();
    });
    socket.on("error", () => {});
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.#watched.changed();
    });
    this.#watched.changed();
  }

  sendAudio(audio: Buffer): void {
    this.socket.send(audio);
  }

  /** Sends a message; one that says that the call has ended makes it so. */
  send(message: object): void {
    if ("status" in message && (message.status === "ended" || message.status === "completed")) {
      this.isOver = true;
    }
    this.socket.send(JSON.stringify(message));
  }

  /** Ends the call as `DELETE` does. */
  end(): void {
    this.deleted = true;
    this.#socket?.close(1000);
  }

  /** Says that the assistant's turn is over. */
  assistantStopped(): void {
    this.send({ type: "speech-update", status: "stopped", role: "assistant", turn: 0 });
  }

  connected(): Promise<void> {
    return this.#watched.until(() => this.#socket !== undefined, "the call socket");
  }

  received(audioBytes: number): Promise<void> {
    return this.#watched.until(() => this.#audioBytes >= audioBytes, `${audioBytes} bytes of caller audio`);
  }

  gone(): Promise<void> {
    return this.#watched.until(() => this.closed !== undefined, "the end of the call socket");
  }

  wasDeleted(): Promise<void> {
    return this.#watched.until(() => this.deleted, "DELETE /call");
  }
}

export class StandInRuntime {
  readonly url: string;
  readonly calls: StandInCall[] = [];
  /** Requests of `POST /call`, refused ones included. */
  createRequests = 0;
  /** Requests of `POST /call` the agent gave up before there was an answer. */
  abortedRequests = 0;
  create: CreateBehaviour = { kind: "create" };
  upgrade: UpgradeBehaviour = { kind: "accept" };
  /** What befalls the call of a request; by default what `create` and `upgrade` say. */
  planOf: (request: CallRequest) => CallPlan = () => ({});
  /** Runs in the very turn a call socket opens. */
  onOpen: (call: StandInCall) => void = () => {};
  readonly #server = createServer((request, response) => this.#serve(request, response));
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  readonly #watched = new Watched();
  readonly #connections = new Set<Socket>();
  readonly #held: (() => void)[] = [];

  static async start(): Promise<StandInRuntime> {
    const runtime = new StandInRuntime();
    await new Promise<void>((resolve) => runtime.#server.listen(0, "127.0.0.1", resolve));
    const { port } = runtime.#server.address() as AddressInfo;
    Object.assign(runtime, { url: `http://127.0.0.1:${port}` });
    return runtime;
  }

  private constructor() {
    this.url = "";
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on("connection", (socket: Socket) => {
      this.#connections.add(socket);
      // The agent may cut it, while its upgrade hangs too.
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#connections.delete(socket);
        this.#watched.changed();
      });
    });
  }

  /** Open call sockets. */
  get openSockets(): number {
    return this.#sockets.clients.size;
  }

  /** Calls that were created and have not ended. */
  get openCalls(): StandInCall[] {
    return this.calls.filter((call) => call.isOpen);
  }

  /** The call with the given place in the order of creation, once it is there. */
  async call(index = 0): Promise<StandInCall> {
    await this.#watched.until(() => this.calls.length > index, `call ${index} at the runtime`);
    const call = this.calls[index];
    if (call === undefined) throw new Error(`no call ${index}`);
    return call;
  }

  /** Waits for a condition over what the runtime notes. */
  until(condition: () => boolean, what: string): Promise<void> {
    return this.#watched.until(condition, what);
  }

  /** Requests that end calls, of calls nobody knows included. */
  deleteRequests = 0;
  /** Connections reset by `resetNextReused`. */
  resets = 0;

  /** Resets the connections that are kept, each when the next byte of a request comes: as a server that has just closed them. */
  resetNextReused(): void {
    for (const connection of this.#connections) {
      connection.removeAllListeners("data");
      connection.once("data", () => {
        this.resets += 1;
        connection.resetAndDestroy();
      });
    }
  }

  /** Answers the held creations. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  async stop(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    for (const connection of this.#connections) connection.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === "POST" && request.url === "/call") void this.#createCall(request, response);
    else if (request.method === "DELETE") this.#deleteCall(request, response);
    else if (request.method === "GET") this.#getCall(request, response);
    else response.writeHead(404).end();
  }

  async #createCall(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.createRequests += 1;
    response.on("close", () => {
      if (!response.writableEnded) this.abortedRequests += 1;
      this.#watched.changed();
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    this.#watched.changed();
    const body: CallRequest = JSON.parse(Buffer.concat(chunks).toString());
    const plan = this.planOf(body);
    const behaviour = plan.create ?? this.create;
    switch (behaviour.kind) {
      case "cut":
        request.socket.destroy();
        return;
      case "answer":
        response
          .writeHead(behaviour.status, { "content-type": behaviour.contentType ?? "application/json" })
          .end(behaviour.body);
        return;
      case "create-and-cut":
        this.#newCall(body, request.headers, plan);
        request.socket.destroy();
        return;
      case "create-without":
      case "hold":
      case "create": {
        const call = this.#newCall(body, request.headers, plan);
        const left = behaviour.kind === "create-without" ? { [behaviour.member]: undefined } : {};
        const answer = () =>
          response
            .writeHead(201, { "content-type": "application/json" })
            .end(JSON.stringify({ ...call, ...left }));
        if (behaviour.kind === "hold") this.#held.push(answer);
        else answer();
      }
    }
  }

  #newCall(body: CallRequest, headers: IncomingHttpHeaders, plan: CallPlan): object {
    const id = crypto.randomUUID();
    this.calls.push(new StandInCall(id, body, headers, this.#watched, plan));
    this.#watched.changed();
    const websocketCallUrl = `${this.url.replace("http", "ws")}/${id}/transport`;
    return { id, status: "queued", transport: { provider: "vapi.websocket", websocketCallUrl } };
  }

  #deleteCall(request: IncomingMessage, response: ServerResponse): void {
    const call = this.calls.find(({ id }) => request.url === `/call/${id}`);
    this.deleteRequests += 1;
    const fault = call?.plan.deletes.shift();
    if (call !== undefined) call.deleteRequests += 1;
    if (fault?.kind === "cut") request.socket.destroy();
    else if (fault?.kind === "answer") response.writeHead(fault.status).end();
    else if (fault === undefined) {
      call?.end();
      response.writeHead(call === undefined ? 404 : 200, { "content-type": "application/json" }).end("{}");
    }
    this.#watched.changed();
  }

  #getCall(request: IncomingMessage, response: ServerResponse): void {
    const call = this.calls.find(({ id }) => request.url === `/call/${id}`);
    response.writeHead(call === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: call?.id, status: call?.isOpen ? "in-progress" : "ended" }));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const call = this.calls.find(({ id }) => request.url === `/${id}/transport`);
    const upgrade = call?.plan.upgrades.shift() ?? this.upgrade;
    // From here on nobody else listens, and the agent may cut the connection.
    socket.on("error", () => {});
    if (upgrade.kind === "hang") return;
    if (call === undefined || upgrade.kind === "refuse") {
      const status = upgrade.kind === "refuse" ? upgrade.status : 404;
      socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      call.attach(webSocket, socket);
      this.onOpen(call);
    });
  }
}
