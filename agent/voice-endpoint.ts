/** The upgrade of `/voice`: who may call, in which framing, and whether there is room. */
import { createHash, timingSafeEqual } from "node:crypto";
import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { WebSocketServer } from "ws";
import type { CallRegister } from "./call/call-register.ts";
import { CallerChannel, type Framing, framings } from "./call/caller-channel.ts";
import { type Config, simulationIdSchema } from "./config.ts";
import { parseUrl } from "./host-names.ts";
import { refuseUpgrade, type Upgrades } from "./http-server.ts";
import type { AgentMetrics } from "./metrics.ts";
import type { Refusal, RequestGuard } from "./request-guard.ts";
import type { HandedUpgrade, Primary, Room } from "./workers/messages.ts";

/** A minute of audio in one frame is a mistake. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

/** Base for parsing a request's target. */
const BASE_URL = "http://agent";

/** A caller who was let in. */
export interface VoiceConnection {
  caller: CallerChannel;
  /** From `X-Simulation-Id` or `?simulation=`. */
  simulationId: string | undefined;
  /** Of the caller's request. */
  headers: IncomingHttpHeaders;
}

interface Admission {
  framing: Framing;
  simulationId: string | undefined;
}

export interface VoiceEndpointParts {
  config: Pick<Config, "voiceToken" | "maxCalls">;
  guard: RequestGuard;
  calls: CallRegister;
  metrics: AgentMetrics;
  log: Logger;
  /** Of several workers, the primary decides which of them has a call; alone, this process takes all. */
  primary: Primary | undefined;
  /** Runs a call to its end. */
  take(connection: VoiceConnection): Promise<void>;
}

export interface VoiceEndpoint extends Upgrades {
  /** Serves an upgrade that another worker has handed over, and for which room is reserved. */
  serveHanded(upgrade: HandedUpgrade, socket: Socket): void;
}

/** Serves the WebSocket upgrades of `/voice`, and no others. */
export function voiceEndpoint(parts: VoiceEndpointParts): VoiceEndpoint {
  const { primary } = parts;
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    // A client that offers subprotocols wants one of them chosen.
    handleProtocols: (offered) => framings.find((framing) => offered.has(framing)) ?? false,
  });

  function refuse(socket: Duplex, refusal: Refusal): void {
    parts.metrics.refused.add(1, { reason: refusal.reason });
    parts.log.warn({ status: refusal.status, reason: refusal.reason }, "a caller was refused");
    refuseUpgrade(socket, refusal);
  }

  /** Runs the call of an upgrade. Resolves at its end, or at once when the upgrade failed. */
  async function connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const admission = admit(request, parts);
    if ("status" in admission) {
      refuse(socket, admission);
      return;
    }
    let over: Promise<void> | undefined;
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const caller = new CallerChannel(webSocket, admission.framing);
      over = parts.take({ caller, simulationId: admission.simulationId, headers: request.headers });
    });
    await over;
  }

  /** Serves the upgrade where the primary finds room. */
  async function place(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { reserve, release, handOver }: Primary,
  ): Promise<void> {
    // Before there is room reserved, whoever may not get in is refused.
    const admission = admit(request, parts);
    const room: Room | Refusal = "status" in admission ? admission : await reserve().catch(noAnswer);
    if ("status" in room) refuse(socket, room);
    else if (room.place === "nowhere") refuse(socket, full(parts.config.maxCalls));
    else if (room.place === "here") await connect(request, socket, head).finally(release);
    else if (socket instanceof Socket) handOver(room.worker, handedUpgrade(request, socket, head), socket);
  }

  return {
    isServed: (request) =>
      request.method === "GET" &&
      isWebSocket(request) &&
      parseUrl(request.url ?? "/", BASE_URL)?.pathname === "/voice",
    serve(request, socket, head) {
      socket.on("error", () => socket.destroy());
      void (primary === undefined ? connect(request, socket, head) : place(request, socket, head, primary));
    },
    serveHanded({ url, headers, head }, socket) {
      socket.on("error", () => socket.destroy());
      const request = Object.assign(new IncomingMessage(socket), { method: "GET", url, headers });
      void connect(request, socket, Buffer.from(head, "base64")).finally(() => primary?.release());
    },
  };
}

/** What another worker needs to serve an upgrade. */
function handedUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): HandedUpgrade {
  const early: unknown = socket.read();
  const all = Buffer.isBuffer(early) ? Buffer.concat([head, early]) : head;
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { url: request.url ?? "/", headers: Object.fromEntries(headers), head: all.toString("base64") };
}

function full(maxCalls: number): Refusal {
  return { status: 503, reason: "full", message: `there are ${maxCalls} calls already` };
}

function noAnswer(): Refusal {
  const message = "the processes of the agent do not answer one another; try again";
  return { status: 503, reason: "no_answer", message };
}

/** Whether a request wants to become a WebSocket. */
export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

function admit(request: IncomingMessage, { config, guard, calls }: VoiceEndpointParts): Admission | Refusal {
  const refusal = guard.refusalOf(request);
  if (refusal !== undefined) return refusal;
  const url = new URL(request.url ?? "/", BASE_URL);
  if (calls.refusing) return { status: 503, reason: "draining", message: "the agent is shutting down" };
  if (config.voiceToken !== undefined && !isToken(tokenOf(request, url), config.voiceToken)) {
    const message = "send the token as `Authorization: Bearer …` or as ?token=…";
    return { status: 401, reason: "unauthorised", message };
  }
  if (calls.size >= config.maxCalls) return full(config.maxCalls);
  const framing = framingOf(request, url);
  if (framing === undefined) {
    return { status: 400, reason: "bad_request", message: "protocol must be binary or json" };
  }
  const simulation = simulationOf(request, url);
  return "status" in simulation ? simulation : { framing, ...simulation };
}

/** The simulation a caller names; browsers set no headers on WebSockets, so the address may name it too. Empty is none. */
function simulationOf(
  { headers }: IncomingMessage,
  { searchParams }: URL,
): Pick<Admission, "simulationId"> | Refusal {
  const places = [
    { place: "X-Simulation-Id", values: [headers["x-simulation-id"] ?? []].flat() },
    { place: "?simulation=", values: searchParams.getAll("simulation") },
  ];
  const ids = new Set<string>();
  for (const { place, values } of places) {
    for (const value of values.filter((text) => text !== "")) {
      const id = simulationIdSchema.safeParse(value);
      if (!id.success) {
        const problem = id.error.issues.map((issue) => issue.message).join("; ");
        return { status: 400, reason: "bad_request", message: `${place} ${problem}` };
      }
      ids.add(id.data);
    }
  }
  const [simulationId, ...others] = ids;
  if (others.length === 0) return { simulationId };
  const message = `a call has one simulation, but X-Simulation-Id and ?simulation= name ${[...ids].join(" and ")}: send one of them`;
  return { status: 400, reason: "bad_request", message };
}

/** `?protocol=` wins over the subprotocols offered. */
function framingOf(request: IncomingMessage, url: URL): Framing | undefined {
  const asked = url.searchParams.get("protocol");
  if (asked !== null) return framings.find((framing) => framing === asked);
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  return framings.find((framing) => offered.includes(framing)) ?? "binary";
}

function tokenOf(request: IncomingMessage, url: URL): string {
  const [scheme, token] = (request.headers.authorization ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && token !== undefined
    ? token
    : (url.searchParams.get("token") ?? "");
}

function isToken(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
