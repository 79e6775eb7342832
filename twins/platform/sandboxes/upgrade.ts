/** WebSocket upgrades: routed to a twin's `socketOperation`, recorded like any request, bounded like any body. */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import { performance } from "node:perf_hooks";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { withRetryAfter } from "../faults/request-effects.ts";
import { strikeSocket } from "../faults/socket-effects.ts";
import { pause } from "../faults/wait.ts";
import { ArrivedRequest, encodeBody } from "../http/http.ts";
import type { TakeUpgrade } from "../http/http-server.ts";
import type { SocketOperation, UpgradeAnswer, VendorResponse } from "../http/operation.ts";
import type { RunningTwin } from "../twin/twin.ts";
import type { HostedTwin } from "./sandbox.ts";
import { type Local, originOf } from "./serve.ts";

const DEFAULT_PAYLOAD_BYTES = 1024 * 1024;
/** Limits of a message's fragments, and of chunks waiting to be assembled. */
const MAX_FRAGMENTS = 1024;
const MAX_BUFFERED_CHUNKS = 16_384;

/** How long a refused client may stay connected, and how much it may still send. */
const LINGER_MS = 2000;
const LINGER_BYTES = 1024 * 1024;

export interface Upgrader {
  /** Finds the handler of an upgrade at this address; `undefined`: the twin has no socket there. */
  find(req: IncomingMessage, twin: HostedTwin, target: Local): TakeUpgrade | undefined;
}

type Socket = SocketOperation<RunningTwin>;

/** An upgrade request with its operation. */
interface Offer {
  req: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  twin: HostedTwin;
  target: Local;
  route: Socket;
  params: Record<string, string>;
}

export function createUpgrader(): Upgrader {
  /** One server per payload limit, which is an option of the server. */
  const servers = new Map<number, WebSocketServer>();
  const subprotocols = new WeakMap<IncomingMessage, string>();
  /** Answers upgrades whose handshake violates RFC 6455. */
  const badHandshakes = new WeakMap<IncomingMessage, (message: string) => void>();

  function serverFor(operation: Socket): WebSocketServer {
    const maxPayload = operation.maxPayloadBytes ?? DEFAULT_PAYLOAD_BYTES;
    let server = servers.get(maxPayload);
    if (!server) {
      const handleProtocols = (_offered: Set<string>, req: IncomingMessage) => subprotocols.get(req) ?? false;
      server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        maxPayload,
        maxFragments: MAX_FRAGMENTS,
        maxBufferedChunks: MAX_BUFFERED_CHUNKS,
        handleProtocols,
      });
      server.on("wsClientError", (error, _socket, req) => badHandshakes.get(req)?.(error.message));
      servers.set(maxPayload, server);
    }
    return server;
  }

  async function upgrade({ req, socket, head, twin, target, route, params }: Offer): Promise<void> {
    const startedAt = performance.now();
    const complete = twin.journal.record({
      tier: "vendor",
      operation: route.id,
      method: "GET",
      path: target.path,
      query: new URLSearchParams(target.query),
      headers: req.headers,
      body: nothing,
      startedAt,
    });
    const refuse = (response: VendorResponse, fault?: string) =>
      complete({ ...refuseUpgrade(socket, response), fault });
    const request = new ArrivedRequest(
      {
        method: "GET",
        path: target.path,
        origin: originOf(req, target),
        params,
        headers: req.headers,
        body: nothing,
        queryText: target.query,
      },
      (abort) => socket.once("close", abort),
    );
    const subject = {
      operation: route.id,
      method: "GET",
      path: target.path,
      headers: req.headers,
      body: nothing,
    };
    const fault = twin.faults.forUpgrade(subject);
    const abandon = () => complete({ status: null, headers: {}, body: nothing, fault: fault?.label });
    if (fault && !(await pause(fault.spec.delay_ms ?? 0, fault, socket))) return abandon();
    if (fault?.spec.effect === "refuse_upgrade") {
      const { status, retry_after } = fault.spec;
      const refusal = twin.type.definition.refusal({ kind: "fault", status, operation: route.id });
      return refuse(withRetryAfter(refusal, retry_after), fault.label);
    }
    const answer = await askTwin(twin, route, request);
    if ("refuse" in answer) return refuse(answer.refuse);
    if (socket.destroyed) return abandon();
    if (!twin.connections.open) {
      socket.destroy();
      return abandon();
    }
    badHandshakes.set(req, (message) =>
      refuse(
        twin.type.definition.refusal({ kind: "malformed-request", message, operation: route.id }),
        fault?.label,
      ),
    );
    if (answer.subprotocol !== undefined) subprotocols.set(req, answer.subprotocol);
    serverFor(route).handleUpgrade(req, socket, head, (ws) => {
      complete({ status: 101, headers: {}, body: nothing, fault: fault?.label });
      if (fault) strikeSocket(fault, ws, socket);
      twin.connections.addSocket(ws);
      ws.on("error", (error) => twin.log.warn({ err: error, operation: route.id }, "a socket failed"));
      answer.accept(ws);
    });
  }

  return {
    find(req, twin, target) {
      const match = twin.type.sockets.match("GET", target.path);
      if (match.kind !== "found") return undefined;
      const { route, params } = match;
      return (socket, head) => {
        twin.connections.addUpgrade(socket);
        return upgrade({ req, socket, head, twin, target, route, params });
      };
    },
  };
}

const nothing = Buffer.alloc(0);

async function askTwin(twin: HostedTwin, operation: Socket, request: ArrivedRequest): Promise<UpgradeAnswer> {
  try {
    return await operation.upgrade(request, twin.running);
  } catch (error) {
    twin.log.error({ err: error, operation: operation.id }, "the twin failed to answer an upgrade");
    return {
      refuse: twin.type.definition.refusal({
        kind: "internal",
        message: "the twin failed; its log says why",
      }),
    };
  }
}

/** Answers an upgrade with plain HTTP and ends the connection within a limit, even if the client keeps sending or stays. */
function refuseUpgrade(socket: Duplex, response: VendorResponse) {
  const headers: Record<string, string> = { ...response.headers };
  const body = encodeBody(response.body, headers);
  headers["content-length"] = String(body.length);
  headers.connection = "close";
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const status = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}\r\n`;
  socket.end(Buffer.concat([Buffer.from(`${status}${lines.join("")}\r\n`), body]));
  // Read and discard: closing with unread bytes sends a TCP reset, which can discard the answer, and an unread connection
  // never notices its client's end.
  if (!socket.destroyed) {
    const cut = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(cut));
    let discarded = 0;
    socket.on("data", (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > LINGER_BYTES) socket.destroy();
    });
  }
  return { status: response.status, headers, body };
}
