/** Applies a fault to one HTTP request. The effects on the wire were chosen so that Node's own clients notice them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeBody, mayHaveBody, type SentResponse, sendResponse } from "../http/http.ts";
import type { VendorResponse } from "../http/operation.ts";
import type { ArmedFault } from "./armed-fault.ts";
import type { RequestFault } from "./fault.ts";
import { resetConnection } from "./reset.ts";
import { pause, waitUntilRemoved } from "./wait.ts";

/** A request that has arrived and has not been answered. */
export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  /** Carries the operation out. */
  perform(): Promise<VendorResponse>;
  /** The vendor's words for an armed status. */
  refusal(status: number): VendorResponse;
}

/** @returns what was sent; `undefined` when the connection ended without an answer */
export async function answerWithFault(
  fault: ArmedFault<RequestFault>,
  exchange: Exchange,
): Promise<SentResponse | undefined> {
  const { req, res } = exchange;
  const { spec } = fault;
  if (!(await pause(spec.delay_ms ?? 0, fault, res))) return undefined;
  switch (spec.effect) {
    case "status":
      return sendResponse(req, res, withRetryAfter(exchange.refusal(spec.status), spec.retry_after));
    case "hang":
      if (!(await waitUntilRemoved(fault, res))) return undefined;
      return sendResponse(req, res, await exchange.perform());
    case "slow":
      return sendSlowly(exchange, await exchange.perform(), spec.bytes_per_second);
    case "truncate":
      return sendPart(exchange, await exchange.perform(), endConnection, spec.bytes);
    case "reset":
      if (spec.at === "request") {
        resetConnection(req.socket);
        return undefined;
      }
      return spec.at === "response"
        ? sendNothing(exchange, await exchange.perform(), resetConnection)
        : sendPart(exchange, await exchange.perform(), resetConnection);
  }
}

/** Adds a `Retry-After` header, if the fault asks for one. */
export function withRetryAfter(response: VendorResponse, seconds: number | undefined): VendorResponse {
  if (seconds === undefined) return response;
  return { ...response, headers: { ...response.headers, "retry-after": String(seconds) } };
}

type Cut = (socket: Socket) => void;

const endConnection: Cut = (socket) => {
  socket.end(() => socket.destroy());
};

/** Cuts the connection after the work is done, without an answer. */
function sendNothing({ req }: Exchange, response: VendorResponse, cut: Cut): undefined {
  if (response.body instanceof Readable) response.body.destroy();
  cut(req.socket);
}

/** Announces the whole body and sends its first `bytes`, by default half; an answer without a body is not sent at all. */
async function sendPart(
  exchange: Exchange,
  response: VendorResponse,
  cut: Cut,
  bytes?: number,
): Promise<SentResponse | undefined> {
  const { req, res } = exchange;
  const headers: Record<string, string> = { ...response.headers };
  const streamed = response.body instanceof Readable;
  const body =
    response.body instanceof Readable ? await firstOf(response.body) : encodeBody(response.body, headers);
  if (body.length === 0 || req.method === "HEAD" || !mayHaveBody(response.status)) {
    return sendNothing(exchange, response, cut);
  }
  if (!streamed) headers["content-length"] = String(body.length);
  const maxBytes = streamed ? body.length : body.length - 1;
  const part = body.subarray(0, Math.min(bytes ?? Math.floor(body.length / 2), maxBytes));
  res.writeHead(response.status, headers);
  res.flushHeaders();
  if (part.length > 0) await new Promise<void>((resolve) => res.write(part, () => resolve()));
  cut(req.socket);
  return { status: response.status, headers, body: part };
}

/** The first chunk of a stream; the rest is abandoned. */
async function firstOf(stream: Readable): Promise<Buffer> {
  for await (const chunk of stream) return Buffer.from(chunk);
  return Buffer.alloc(0);
}

async function sendSlowly(
  { req, res }: Exchange,
  response: VendorResponse,
  bytesPerSecond: number | undefined,
): Promise<SentResponse> {
  if (bytesPerSecond === undefined) return sendResponse(req, res, response);
  const headers: Record<string, string> = { ...response.headers };
  if (response.body instanceof Readable) {
    return sendResponse(req, res, { ...response, body: dribble(response.body, bytesPerSecond) });
  }
  const body = encodeBody(response.body, headers);
  if (body.length === 0) return sendResponse(req, res, response);
  headers["content-length"] = String(body.length);
  const sent = await sendResponse(req, res, { ...response, headers, body: dribble([body], bytesPerSecond) });
  return { ...sent, body };
}

/** Minimum interval between the pieces of a slow answer. */
const PIECE_MS = 50;

function dribble(
  source: Iterable<Buffer> | AsyncIterable<Buffer | string>,
  bytesPerSecond: number,
): Readable {
  const pieceBytes = Math.max(1, Math.round((bytesPerSecond * PIECE_MS) / 1000));
  const pieceMs = (pieceBytes / bytesPerSecond) * 1000;
  async function* pieces() {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk);
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        yield bytes.subarray(at, at + pieceBytes);
        await sleep(pieceMs);
      }
    }
  }
  return Readable.from(pieces(), { objectMode: false });
}
