/** The upgrade of `/voice`: who may call, in which framing, and whether there is room. */
import { createHash, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { WebSocketServer } from "ws";
import type { CallRegister } from "./call/call-register.ts";
import { CallerChannel, type Framing, framings } from "./call/caller-channel.ts";
import { type Config, simulationIdSchema } from "./config.ts";
import type { AgentMetrics } from "./metrics.ts";

/** A minute of audio in one frame is a mistake. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

/** A caller who was let in. */
export interface VoiceConnection {
  caller: CallerChannel;
  /** From `X-Simulation-Id`. */
  simulationId: string | undefined;
}

interface Refusal {
  status: number;
  reason: string;
  message: string;
}

interface Admission {
  framing: Framing;
  simulationId: string | undefined;
}

export interface VoiceEndpointParts {
  config: Pick<Config, "voiceToken" | "maxCalls">;
  calls: CallRegister;
  metrics: AgentMetrics;
  log: Logger;
  take(connection: VoiceConnection): void;
}

/** The handler of the server's `upgrade` event. */
export function voiceEndpoint(parts: VoiceEndpointParts) {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    // A client that offers subprotocols wants one of them chosen.
    handleProtocols: (offered) => framings.find((framing) => offered.has(framing)) ?? false,
  });
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on("error", () => socket.destroy());
    const answer = admit(request, parts);
    if ("status" in answer) {
      parts.metrics.refused.add(1, { reason: answer.reason });
      parts.log.warn({ status: answer.status, reason: answer.reason }, "a caller was refused");
      refuse(socket, answer);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const caller = new CallerChannel(webSocket, answer.framing);
      parts.take({ caller, simulationId: answer.simulationId });
    });
  };
}

function admit(request: IncomingMessage, { config, calls }: VoiceEndpointParts): Admission | Refusal {
  const url = requestUrl(request);
  if (url?.pathname !== "/voice") {
    return { status: 404, reason: "unknown_path", message: "callers connect to /voice" };
  }
  if (calls.refusing) return { status: 503, reason: "draining", message: "the agent is shutting down" };
  if (config.voiceToken !== undefined && !isToken(tokenOf(request, url), config.voiceToken)) {
    const message = "send the token as `Authorization: Bearer …` or as ?token=…";
    return { status: 401, reason: "unauthorised", message };
  }
  if (calls.size >= config.maxCalls) {
    return { status: 503, reason: "full", message: `there are ${config.maxCalls} calls already` };
  }
  const framing = framingOf(request, url);
  if (framing === undefined) {
    return { status: 400, reason: "bad_request", message: "protocol must be binary or json" };
  }
  const header = request.headers["x-simulation-id"];
  const simulationId = simulationIdSchema.optional().safeParse(header === "" ? undefined : header);
  if (!simulationId.success) {
    const problem = simulationId.error.issues.map((issue) => issue.message).join("; ");
    return { status: 400, reason: "bad_request", message: `X-Simulation-Id ${problem}` };
  }
  return { framing, simulationId: simulationId.data };
}

function requestUrl(request: IncomingMessage): URL | undefined {
  try {
    return new URL(request.url ?? "/", "http://agent");
  } catch {
    return undefined;
  }
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

function refuse(socket: Duplex, { status, message }: Refusal): void {
  const body = `${JSON.stringify({ error: message })}\n`;
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Connection: close",
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(status === 401 ? ["WWW-Authenticate: Bearer"] : []),
      "",
      body,
    ].join("\r\n"),
  );
}
