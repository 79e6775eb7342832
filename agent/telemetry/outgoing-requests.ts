/**
 * Client spans and `traceparent` for the HTTP requests that tools make with whatever client they like, through Node's
 * diagnostics channels: nothing is patched, and a tool need not know of it. Requests outside a span, such as the agent's
 * own, are left alone.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import http, { type Agent, ClientRequest, IncomingMessage } from "node:http";
import https from "node:https";
import {
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { isTracingSuppressed } from "@opentelemetry/core";
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_PATH,
} from "@opentelemetry/semantic-conventions";

/** The part of undici's request, of Node's or of any other version, that is used. */
interface UndiciRequest {
  method: string;
  origin: string | URL;
  path: string;
  addHeader(name: string, value: string): unknown;
}

/** Where a request goes. Of an address neither query nor credentials are told, which may hold keys. */
interface Target {
  method: string;
  host: string;
  port: number | undefined;
  path: string;
}

/** The options of Node's own global agents. */
const KEPT_ALIVE = { keepAlive: true, scheduling: "lifo", timeout: 5_000 } as const;

/** Starts spans for requests made inside a span. @returns ends that */
export function traceOutgoingRequests(
  tracer: Tracer,
  inject: (context: Context) => Record<string, string>,
): () => void {
  const spans = new WeakMap<object, Span>();

  /** @param setHeader adds a header to the request */
  function begin(request: object, target: Target, setHeader: (name: string, value: string) => void): void {
    const active = context.active();
    if (spans.has(request) || trace.getSpan(active) === undefined || isTracingSuppressed(active)) return;
    const span = tracer.startSpan(
      target.method,
      { kind: SpanKind.CLIENT, attributes: describe(target) },
      active,
    );
    spans.set(request, span);
    for (const [name, value] of Object.entries(inject(trace.setSpan(active, span)))) setHeader(name, value);
  }

  function noteStatus(request: object, status: number): void {
    const span = spans.get(request);
    span?.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
    if (status >= 400) span?.setStatus({ code: SpanStatusCode.ERROR });
  }

  /** @param error what ended it, if it failed */
  function end(request: object, error?: unknown): void {
    const span = spans.get(request);
    if (error !== undefined) {
      span?.setAttribute(ATTR_ERROR_TYPE, error instanceof Error ? error.name : "error");
      span?.setStatus({ code: SpanStatusCode.ERROR });
    }
    span?.end();
  }

  function beginHttp(request: ClientRequest): void {
    const { method, host, path, protocol } = request;
    const header = request.getHeader("host");
    const address = typeof header === "string" ? header : host;
    begin(request, { method, ...hostAndPort(`${protocol}//${address}`), path }, (name, value) => {
      if (!request.headersSent) request.setHeader(name, value);
    });
    if (spans.has(request)) request.once("close", () => end(request));
  }

  const listeners: Record<string, (message: unknown) => void> = {
    "http.client.request.created": (message) => {
      const request = member(message, "request");
      if (request instanceof ClientRequest) beginHttp(request);
    },
    "http.client.response.finish": (message) => {
      const [request, response] = [member(message, "request"), member(message, "response")];
      if (request instanceof ClientRequest && response instanceof IncomingMessage)
        noteStatus(request, response.statusCode ?? 0);
    },
    "http.client.request.error": (message) => {
      const request = member(message, "request");
      if (request instanceof ClientRequest) end(request, member(message, "error"));
    },
    "undici:request:create": (message) => {
      const request = member(message, "request");
      if (!isUndiciRequest(request)) return;
      const { method, origin, path } = request;
      begin(request, { method, ...hostAndPort(String(origin)), path }, (name, value) =>
        request.addHeader(name, value),
      );
    },
    "undici:request:headers": (message) => {
      const request = member(message, "request");
      const status = member(member(message, "response"), "statusCode");
      if (isUndiciRequest(request) && typeof status === "number") noteStatus(request, status);
    },
    "undici:request:trailers": (message) => {
      const request = member(message, "request");
      if (isUndiciRequest(request)) end(request);
    },
    "undici:request:error": (message) => {
      const request = member(message, "request");
      if (isUndiciRequest(request)) end(request, member(message, "error"));
    },
  };
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener);
  const restoreAgents = useTracingAgents(beginHttp);
  return () => {
    for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener);
    restoreAgents();
  };
}

/**
 * Node 20 tells of a request when it is too late for a header, so there the agents of all requests that name no agent of
 * their own are replaced. Requests with an agent of their own get a header from Node 22.12 on.
 * @returns puts the agents back
 */
function useTracingAgents(begin: (request: ClientRequest) => void): () => void {
  if (Number.parseInt(process.versions.node, 10) >= 22) return () => undefined;
  const before = { http: http.globalAgent, https: https.globalAgent };
  http.globalAgent = new (class extends http.Agent {
    override addRequest(request: ClientRequest, options: object): void {
      begin(request);
      super.addRequest(request, options);
    }
  })(KEPT_ALIVE);
  https.globalAgent = new (class extends https.Agent {
    override addRequest(request: ClientRequest, options: object): void {
      begin(request);
      super.addRequest(request, options);
    }
  })(KEPT_ALIVE);
  return () => {
    for (const agent of [http.globalAgent, https.globalAgent] satisfies Agent[]) agent.destroy();
    http.globalAgent = before.http;
    https.globalAgent = before.https;
  };
}

function describe({ method, host, port, path }: Target) {
  return {
    [ATTR_HTTP_REQUEST_METHOD]: method,
    [ATTR_SERVER_ADDRESS]: host,
    ...(port === undefined ? {} : { [ATTR_SERVER_PORT]: port }),
    [ATTR_URL_PATH]: path.split("?", 1)[0] ?? "",
  };
}

function hostAndPort(address: string): { host: string; port: number | undefined } {
  if (!URL.canParse(address)) return { host: "unknown", port: undefined };
  const { hostname, port } = new URL(address);
  return { host: hostname, port: port === "" ? undefined : Number(port) };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function isUndiciRequest(value: unknown): value is UndiciRequest {
  return (
    typeof member(value, "method") === "string" &&
    typeof member(value, "path") === "string" &&
    typeof member(value, "addHeader") === "function"
  );
}
