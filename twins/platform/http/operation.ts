/**
 * The operations of a twin, one declaration each. The router, `GET /sim/operations` and the request journal all read the
 * same declaration, so they cannot disagree.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { WebSocket } from "ws";
import type { Spool } from "../world/spool.ts";

/** The kind of API an operation belongs to; `GET /sim/operations?surface=` narrows by it. */
type Surface = "rest" | "graphql" | "mcp";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A request as a twin sees it: without the address prefix, its body read and within the limit. */
export interface VendorRequest {
  method: Method;
  /** Path below the twin's `url`, still percent-encoded, always starting with `/`. */
  path: string;
  /** The requested address before `path`: scheme, host and prefix, without a final slash. */
  origin: string;
  /** Values of the `:name` segments of the operation's path, percent-decoded. */
  params: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** The whole body, decompressed (gzip or deflate). Empty for a WebSocket upgrade. */
  body: Buffer;
  /** The whole body of an operation with `spoolsBody`, until the answer is sent; `body` then holds its beginning. */
  spooled?: Spool | undefined;
  /** Aborted when the client disconnects before the answer is complete. */
  signal: AbortSignal;
}

/**
 * An answer in the vendor's own shape. `undefined` sends no body; strings and buffers are sent unchanged; a `Readable` is
 * streamed until it ends or the client disconnects; anything else is sent as JSON.
 */
export interface VendorResponse {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer | Readable | object | number | boolean | null | undefined;
  /** Notes for the tester about this answer, as JSON: shown by `GET /sim/requests`, never sent to the client. */
  notes?: object;
}

export interface Operation<Twin> {
  /** Stable name, `noun.verb` (`call.create`): faults and journal filters refer to it. Addresses of one vendor operation share it. */
  id: string;
  method: Method;
  /** Path below the twin's `url`; `:name` stands for one segment. */
  path: string;
  surface: Surface;
  /** One sentence, in plain language. */
  summary: string;
  /** Body limit; default 1 MiB. A larger body is answered with the vendor's 413. */
  maxBodyBytes?: number;
  /** The body may be larger than memory and spills to disk; the service's spool limit replaces `maxBodyBytes`. */
  spoolsBody?: true;
  /** Both bodies are secret: the journal keeps neither. */
  secretBody?: boolean;
  handle(request: VendorRequest, twin: Twin): VendorResponse | Promise<VendorResponse>;
}

/** What a twin says to a WebSocket upgrade: take it, or refuse it with an HTTP answer. */
export type UpgradeAnswer =
  | { accept: (socket: WebSocket) => void; subprotocol?: string }
  | { refuse: VendorResponse };

export interface SocketOperation<Twin> {
  id: string;
  path: string;
  surface: Surface;
  summary: string;
  /** Message limit of the socket; default 1 MiB. */
  maxPayloadBytes?: number;
  upgrade(request: VendorRequest, twin: Twin): UpgradeAnswer | Promise<UpgradeAnswer>;
}

/** Declares one HTTP operation of a twin. Identity at run time; it exists so that types are inferred. */
export function operation<Twin>(declaration: Operation<Twin>): Operation<Twin> {
  return declaration;
}

/** Declares one WebSocket operation of a twin. */
export function socketOperation<Twin>(declaration: SocketOperation<Twin>): SocketOperation<Twin> {
  return declaration;
}

/** A refusal the platform makes in the twin's name; the twin words it as its vendor would. */
export type PlatformRefusal =
  /** No operation at this path, or none with this method; `allowed` are the methods served there. */
  | { kind: "unknown-path"; method: string; path: string; allowed: readonly Method[] }
  /** A path or body that cannot be decoded. `operation` is absent when the path is at fault. */
  | { kind: "malformed-request"; message: string; operation?: string }
  /** A forbidden caller: a page of another site, or a request to an unknown host name. */
  | { kind: "forbidden"; message: string }
  | { kind: "body-too-large"; limitBytes: number; operation?: string }
  /** An armed fault; the status is one of `faultStatuses`. */
  | { kind: "fault"; status: number; operation: string }
  | { kind: "internal"; message: string; operation?: string };

/** The known parts of a refused request. */
export interface RefusedRequest {
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Empty when it was refused before its body was read. */
  body: Buffer;
}
