/** Reads requests and sends answers: bounded bodies, and the request object that a handler sees. */
import { setMaxListeners } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Readable, Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGunzip, createInflate, gunzip, inflate } from "node:zlib";
import { Spool, SpoolFull } from "../world/spool.ts";
import { WorldUnavailable } from "../world/world.ts";
import type { Method, VendorRequest, VendorResponse } from "./operation.ts";

/** Largest body of an operation that sets no limit of its own. */
export const DEFAULT_BODY_BYTES = 1024 * 1024;

export type BodyReading =
  | { kind: "body"; body: Buffer }
  | { kind: "too-large" }
  | { kind: "malformed"; message: string }
  /** The client disconnected before the body was complete. */
  | { kind: "gone" };

/** Reads a whole body of at most `limitBytes`, before and after decoding. */
export async function readBody(req: IncomingMessage, limitBytes: number): Promise<BodyReading> {
  const declared = Number(req.headers["content-length"] ?? 0);
  if (declared > limitBytes) return { kind: "too-large" };
  if (!announcesBody(req)) return { kind: "body", body: empty };
  const parts = new BodyParts();
  try {
    // Stopping early must leave the socket alone: the refusal has yet to be sent on it.
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      parts.add(chunk);
      if (parts.bytes > limitBytes) return { kind: "too-large" };
    }
  } catch {
    return { kind: "gone" };
  }
  return decodeBody(parts.joined(), req.headers["content-encoding"], limitBytes);
}

export type BodySpooling = { kind: "spooled"; body: Spool } | Exclude<BodyReading, { kind: "body" }>;

/** Reads a whole body of at most `limitBytes`, before and after decoding; large ones spill to disk. @throws WorldUnavailable */
export async function spoolBody(req: IncomingMessage, limitBytes: number): Promise<BodySpooling> {
  if (Number(req.headers["content-length"] ?? 0) > limitBytes) return { kind: "too-large" };
  const body = new Spool(limitBytes);
  if (!announcesBody(req)) return { kind: "spooled", body };
  const coding = codingOf(req.headers["content-encoding"]);
  const decoder = coding === "gzip" ? createGunzip() : coding === "deflate" ? createInflate() : undefined;
  if (coding !== "identity" && !decoder) return unknownCoding(coding);
  try {
    // Stopping early must leave the socket alone: the refusal has yet to be sent on it.
    const chunks = req.iterator({ destroyOnReturn: false });
    if (!decoder) for await (const chunk of chunks) await body.write(chunk);
    else {
      await pipeline(chunks, decoder, async (decoded: AsyncIterable<Buffer>) => {
        for await (const chunk of decoded) await body.write(chunk);
      });
    }
    return { kind: "spooled", body };
  } catch (error) {
    await body.clear();
    if (error instanceof SpoolFull) return { kind: "too-large" };
    if (error instanceof WorldUnavailable) throw error;
    if (req.errored || req.destroyed) return { kind: "gone" };
    const isCoding = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
    if (isCoding) return { kind: "malformed", message: `the body is not valid ${coding}` };
    throw error;
  }
}

/** Limit of bodies that are read even for refused requests: the client may name its answer format in the body. */
const SMALL_BODY_BYTES = 16 * 1024;

/** Reads a body whose announced length is small; others are treated as empty. */
export async function readSmallBody(req: IncomingMessage): Promise<BodyReading> {
  const declared = Number(req.headers["content-length"] ?? 0);
  if (declared === 0 || declared > SMALL_BODY_BYTES) return { kind: "body", body: empty };
  return readBody(req, SMALL_BODY_BYTES);
}

/** Small chunks are merged in groups: a body may come byte by byte, and each `Buffer` costs about a hundred bytes. */
const LOOSE_CHUNKS = 256;
const LOOSE_BYTES = 64 * 1024;

/** A body that is arriving. */
class BodyParts {
  bytes = 0;
  readonly #parts: Buffer[] = [];
  #loose: Buffer[] = [];
  #looseBytes = 0;

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.#loose.push(chunk);
    this.#looseBytes += chunk.length;
    if (this.#looseBytes >= LOOSE_BYTES) this.#keep(this.#loose);
    else if (this.#loose.length >= LOOSE_CHUNKS) this.#keep([Buffer.concat(this.#loose)]);
  }

  joined(): Buffer {
    this.#keep(this.#loose);
    const [only] = this.#parts;
    return this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts, this.bytes);
  }

  #keep(parts: readonly Buffer[]): void {
    this.#parts.push(...parts);
    this.#loose = [];
    this.#looseBytes = 0;
  }
}

function announcesBody(req: IncomingMessage): boolean {
  return Number(req.headers["content-length"] ?? 0) > 0 || req.headers["transfer-encoding"] !== undefined;
}

const empty = Buffer.alloc(0);
const unzip = promisify(gunzip);
const undeflate = promisify(inflate);

function codingOf(encoding: string | undefined): string {
  const coding = encoding?.trim().toLowerCase() ?? "";
  if (coding === "") return "identity";
  return coding === "x-gzip" ? "gzip" : coding;
}

function unknownCoding(coding: string): Extract<BodyReading, { kind: "malformed" }> {
  return {
    kind: "malformed",
    message: `content-encoding ${coding} is not understood; use gzip or deflate`,
  };
}

async function decodeBody(
  raw: Buffer,
  encoding: string | undefined,
  limitBytes: number,
): Promise<BodyReading> {
  const coding = codingOf(encoding);
  if (coding === "identity") return { kind: "body", body: raw };
  const decode = coding === "gzip" ? unzip : coding === "deflate" ? undeflate : undefined;
  if (!decode) return unknownCoding(coding);
  try {
    return { kind: "body", body: await decode(raw, { maxOutputLength: limitBytes }) };
  } catch (error) {
    if (error instanceof RangeError) return { kind: "too-large" };
    return { kind: "malformed", message: `the body is not valid ${coding}` };
  }
}

/** How much of a refused body is read and discarded, so that the client can read the refusal. */
const DISCARD_BYTES = 4 * 1024 * 1024;
const DISCARD_MS = 2000;

/**
 * Answers before the whole body is read, and closes the connection afterwards. The answer ends only after the body does:
 * closing a connection with unread bytes sends a TCP reset, which can discard the answer.
 */
export async function refuseEarly(
  req: IncomingMessage,
  res: ServerResponse,
  response: VendorResponse,
): Promise<SentResponse> {
  if (!announcesBody(req)) return sendResponse(req, res, response);
  res.setHeader("connection", "close");
  if (response.body instanceof Readable || req.readableEnded) return sendResponse(req, res, response);
  const headers: Record<string, string> = { ...response.headers };
  const body = encodeBody(response.body, headers);
  if (mayHaveBody(response.status)) headers["content-length"] = String(body.length);
  res.writeHead(response.status, headers);
  if (req.method === "HEAD" || body.length === 0) res.flushHeaders();
  else res.write(body);
  req.once("end", () => res.end());
  let discarded = 0;
  const drop = () => req.socket.destroy();
  const timer = setTimeout(drop, DISCARD_MS);
  req.socket.once("close", () => clearTimeout(timer));
  req.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES) drop();
  });
  req.resume();
  return { status: response.status, headers, body };
}

/** What was sent, as the journal keeps it. */
export interface SentResponse {
  status: number;
  headers: Record<string, string>;
  /** The body, or of a streamed one its beginning. */
  body: Buffer;
  /** How long a streamed body was. */
  streamedBytes?: number;
}

/** Sends an answer. A HEAD request gets the headers alone. */
export async function sendResponse(
  req: IncomingMessage,
  res: ServerResponse,
  response: VendorResponse,
): Promise<SentResponse> {
  const headers: Record<string, string> = { ...response.headers };
  if (response.body instanceof Readable) {
    res.writeHead(response.status, headers);
    if (req.method === "HEAD") {
      response.body.destroy();
      res.end();
      return { status: response.status, headers, body: empty };
    }
    const sent = new BeginningKept();
    await stream(response.body, sent, res);
    return { status: response.status, headers, body: sent.beginning(), streamedBytes: sent.bytes };
  }
  const body = encodeBody(response.body, headers);
  if (mayHaveBody(response.status)) headers["content-length"] = String(body.length);
  res.writeHead(response.status, headers);
  res.end(req.method === "HEAD" ? undefined : body);
  return { status: response.status, headers, body };
}

/** How much of a streamed answer the journal keeps. */
const KEPT_BYTES = 64 * 1024;

/** Passes bytes through and records the first of them. */
class BeginningKept extends Transform {
  bytes = 0;
  readonly #chunks: Buffer[] = [];

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    const room = KEPT_BYTES - this.bytes;
    // A copy, so that a small part never keeps a large buffer alive.
    if (room > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, room)));
    this.bytes += chunk.length;
    done(null, chunk);
  }

  beginning(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

/** Streams until the end, or until the client disconnects. @throws the stream's own error */
async function stream(source: Readable, through: Transform, res: ServerResponse): Promise<void> {
  try {
    await pipeline(source, through, res);
  } catch (error) {
    if (source.errored !== null && source.errored !== undefined && !isPrematureClose(source.errored))
      throw error;
  }
}

function isPrematureClose(error: Error): boolean {
  return "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** The bytes of an answer; JSON gets its content type unless the handler has set one. */
export function encodeBody(body: VendorResponse["body"], headers: Record<string, string>): Buffer {
  if (body === undefined || body instanceof Readable) return empty;
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === "string") return Buffer.from(body);
  if (!Object.keys(headers).some((name) => name.toLowerCase() === "content-type")) {
    headers["content-type"] = "application/json; charset=utf-8";
  }
  return Buffer.from(JSON.stringify(body));
}

export function mayHaveBody(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 304;
}

/** A request whose body has arrived. Query and signal are created on first use. */
export class ArrivedRequest implements VendorRequest {
  readonly method: Method;
  readonly path: string;
  readonly origin: string;
  readonly params: Record<string, string>;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly spooled: Spool | undefined;
  readonly #queryText: string;
  readonly #gone: (abort: () => void) => void;
  #query: URLSearchParams | undefined;
  #signal: AbortSignal | undefined;

  /** @param gone calls its argument when the client disconnects before the answer is complete. */
  constructor(
    request: Pick<VendorRequest, "method" | "path" | "origin" | "params" | "headers" | "body" | "spooled"> & {
      queryText: string;
    },
    gone: (abort: () => void) => void,
  ) {
    this.method = request.method;
    this.path = request.path;
    this.origin = request.origin;
    this.params = request.params;
    this.headers = request.headers;
    this.body = request.body;
    this.spooled = request.spooled;
    this.#queryText = request.queryText;
    this.#gone = gone;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#queryText);
    return this.#query;
  }

  get signal(): AbortSignal {
    if (!this.#signal) {
      const controller = new AbortController();
      // Each running statement of a request adds a listener, and a request may run many.
      setMaxListeners(0, controller.signal);
      this.#gone(() => controller.abort());
      this.#signal = controller.signal;
    }
    return this.#signal;
  }
}

/** Calls `abort` when the client disconnects before `res` is complete, or at once if it already has. */
export function whenClientLeaves(res: ServerResponse, abort: () => void): void {
  if (res.destroyed && !res.writableFinished) abort();
  else {
    res.once("close", () => {
      if (!res.writableFinished) abort();
    });
  }
}
