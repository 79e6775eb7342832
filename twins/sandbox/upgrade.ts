/** WebSocket upgrades: routed to a twin's `socketOperation`, recorded like any request, bounded like any body. */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import { performance } from "node:perf_hooks";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { retryingAfter } from "./faults/request-effects.ts";
import { strikeSocket } from "./faults/socket-effects.ts";
import { pause } from "./faults/wait.ts";
import { ArrivedRequest, encodeBody } from "./http.ts";
import type { SocketOperation, UpgradeAnswer, VendorResponse } from "./operation.ts";
import type { HostedTwin } from "./sandbox.ts";
import { type Local, refusalOf } from "./serve.ts";
import type { RunningTwin } from "./twin.ts";

const DEFAULT_PAYLOAD_BYTES = 1024 * 1024;
/** A message may come in at most this many fragments, and this many pieces may wait to be put together. */
const MAX_FRAGMENTS = 1024;
const MAX_BUFFERED_CHUNKS = 16_384;

export interface Upgrader {
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer, twin: HostedTwin, target: Local): Promise<void>;
}

type Socket = SocketOperation<RunningTwin>;

export function createUpgrader(): Upgrader {
  /** One per payload limit, since that is an option of the server. */
  const servers = new Map<number, WebSocketServer>();
  const subprotocols = new WeakMap<IncomingMessage, string>();

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
      servers.set(maxPayload, server);
    }
    return server;
  }

  return {
    async upgrade(req, socket, head, twin, target) {
      const startedAt = performance.now();
      const match = twin.type.sockets.match("GET", target.path);
      const complete = twin.journal.record({
        tier: "vendor",
        operation: match.kind === "found" ? match.route.id : null,
        method: "GET",
        path: target.path,
        query: new URLSearchParams(target.query),
        headers: req.headers,
        body: nothing,
        startedAt,
      });
      const refuse = (response: VendorResponse, fault?: string) =>
        complete({ ...refuseUpgrade(socket, response), fault });
      if (match.kind !== "found") {
        return refuse(twin.type.definition.refusal(refusalOf(match, "GET", target.path)));
      }
      const request = new ArrivedRequest(
        {
          method: "GET",
          path: target.path,
          params: match.params,
          headers: req.headers,
          body: nothing,
          queryText: target.query,
        },
        (abort) => socket.once("close", abort),
      );
      const subject = {
        operation: match.route.id,
        method: "GET",
        path: target.path,
        headers: req.headers,
        body: nothing,
      };
      const fault = twin.faults.forUpgrade(subject);
      if (fault && !(await pause(fault.spec.delay_ms ?? 0, fault, socket))) {
        return complete({ status: null, headers: {}, body: nothing, fault: fault.label });
      }
      if (fault?.spec.effect === "refuse_upgrade") {
        const { status, retry_after } = fault.spec;
        const refusal = twin.type.definition.refusal({ kind: "fault", status, operation: match.route.id });
        return refuse(retryingAfter(refusal, retry_after), fault.label);
      }
      const answer = await askTwin(twin, match.route, request);
      if ("refuse" in answer) return refuse(answer.refuse);
      if (socket.destroyed) return;
      if (!twin.connections.open) {
        socket.destroy();
        return;
      }
      if (answer.subprotocol !== undefined) subprotocols.set(req, answer.subprotocol);
      serverFor(match.route).handleUpgrade(req, socket, head, (ws) => {
        complete({ status: 101, headers: {}, body: nothing, fault: fault?.label });
        if (fault) strikeSocket(fault, ws, socket);
        twin.connections.addSocket(ws);
        ws.on("error", (error) =>
          twin.log.warn({ err: error, operation: match.route.id }, "a socket failed"),
        );
        answer.accept(ws);
      });
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

/** Answers an upgrade with plain HTTP and ends the connection. */
export function refuseUpgrade(socket: Duplex, response: VendorResponse) {
  const headers: Record<string, string> = { ...response.headers };
  const body = encodeBody(response.body, headers);
  headers["content-length"] = String(body.length);
  headers.connection = "close";
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const status = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}\r\n`;
  socket.end(Buffer.concat([Buffer.from(`${status}${lines.join("")}\r\n`), body]));
  return { status: response.status, headers, body };
}
