/** Serves one request, whichever tier it belongs to: match, read, record, handle, answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_SYSTEM_NAME,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_ROUTE,
} from "@opentelemetry/semantic-conventions";
import type { Faults } from "../faults/faults.ts";
import { answerWithFault } from "../faults/request-effects.ts";
import { unavailableResponse } from "../http/errors.ts";
import {
  ArrivedRequest,
  type BodySpooling,
  readBody,
  readSmallBody,
  refuseEarly,
  sendResponse,
  spoolBody,
  whenClientLeaves,
} from "../http/http.ts";
import type {
  Method,
  Operation,
  PlatformRefusal,
  RefusedRequest,
  VendorRequest,
  VendorResponse,
} from "../http/operation.ts";
import type { RouteMatch, Router } from "../http/router.ts";
import type { Tier } from "../journal/journal.ts";
import type { SpanDescription } from "../telemetry/request-spans.ts";
import { WorldUnavailable } from "../world/world.ts";
import type { HostedTwin } from "./sandbox.ts";

/** Operations with their target. */
export interface Service<Target> {
  tier: Tier;
  operations: Router<Operation<Target>>;
  target: Target;
  /** Whose journal and log to use. */
  twin: Pick<HostedTwin, "journal" | "log">;
  /** Armed faults; absent for services that never fail on purpose. */
  faults?: Faults;
  /** Body limit of operations that set none. */
  defaultBodyBytes: number;
  /** Limit of bodies that spill to disk; for services with such operations. */
  spoolBytes?: number;
  /** The `db.system.name` of a twin that is a database. */
  database?: string | undefined;
  /** Words a refusal. */
  refusal(refusal: PlatformRefusal, request: RefusedRequest): VendorResponse;
}

/** A path below the service's address, and the raw query after its question mark. */
export interface Local {
  path: string;
  query: string;
}

/** The requested address before the local path, as the client wrote it. */
export function originOf(req: IncomingMessage, { path }: Local): string {
  const target = (req.url ?? "/").split("?", 1)[0] ?? "/";
  const scheme = "encrypted" in req.socket && req.socket.encrypted === true ? "https" : "http";
  const host = req.headers.host ?? `${req.socket.localAddress ?? "localhost"}:${req.socket.localPort ?? 80}`;
  const before = target.startsWith("/") && target.endsWith(path) ? target.slice(0, -path.length) : "";
  return `${scheme}://${host}${before}`;
}

export async function serveOperation<Target>(
  req: IncomingMessage,
  res: ServerResponse,
  local: Local,
  service: Service<Target>,
): Promise<void> {
  const startedAt = performance.now();
  const method = req.method ?? "GET";
  const match = service.operations.match(method, local.path);
  const record = (body: Buffer, streamedBytes?: number) =>
    service.twin.journal.record({
      tier: service.tier,
      operation: match.kind === "found" ? match.route.id : null,
      method,
      path: local.path,
      query: new URLSearchParams(local.query),
      headers: req.headers,
      body,
      streamedBytes,
      startedAt,
      secretBody: match.kind === "found" && match.route.secretBody,
      span:
        match.kind === "found" && service.tier === "vendor"
          ? () => describeRequest(match.route, match.params, service.database)
          : undefined,
    });
  const refuse = async (refusal: PlatformRefusal, body: Buffer = nothing): Promise<void> => {
    const complete = record(nothing);
    const request = { query: new URLSearchParams(local.query), headers: req.headers, body };
    complete(await refuseEarly(req, res, service.refusal(refusal, request)));
  };

  if (match.kind !== "found") {
    const reading = await readSmallBody(req);
    if (reading.kind === "gone") return;
    return refuse(refusalOf(match, method, local.path), reading.kind === "body" ? reading.body : nothing);
  }
  const { spoolsBody } = match.route;
  const limitBytes = spoolsBody
    ? (service.spoolBytes ?? 0)
    : (match.route.maxBodyBytes ?? service.defaultBodyBytes);
  const reading = await (spoolsBody ? spoolBodyOrRefuse(req, limitBytes) : readBody(req, limitBytes));
  switch (reading.kind) {
    case "gone":
      return;
    case "too-large":
      return refuse({ kind: "body-too-large", limitBytes, operation: match.route.id });
    case "malformed":
      return refuse({ kind: "malformed-request", message: reading.message, operation: match.route.id });
    case "no-room": {
      const complete = record(nothing);
      // Only control plane operations spool to disk, so the answer has their error shape.
      complete(await refuseEarly(req, res, unavailableResponse(reading.reason)));
      return;
    }
    case "body":
    case "spooled":
  }
  const spooled = reading.kind === "spooled" ? reading.body : undefined;
  const body =
    reading.kind === "spooled" ? await reading.body.beginning(SPOOL_BEGINNING_BYTES) : reading.body;
  const complete = record(body, spooled?.bytes);
  const request = new ArrivedRequest(
    {
      method: match.route.method,
      path: local.path,
      origin: originOf(req, local),
      params: match.params,
      headers: req.headers,
      body,
      spooled,
      queryText: local.query,
    },
    (abort) => whenClientLeaves(res, abort),
  );
  let notes: object | undefined;
  const perform = async () => {
    const response = await handle(match.route, request, service);
    await spooled?.clear();
    notes = response.notes;
    return response;
  };
  const subject = {
    operation: match.route.id,
    method,
    path: local.path,
    headers: req.headers,
    body,
  };
  const fault = service.faults?.forRequest(subject);
  if (!fault) {
    const sent = await sendResponse(req, res, await perform());
    complete({ ...sent, notes });
    return;
  }
  const refusal = (status: number) =>
    service.refusal({ kind: "fault", status, operation: match.route.id }, request);
  const sent = await answerWithFault(fault, { req, res, perform, refusal });
  complete({ ...(sent ?? unanswered), notes, fault: fault.label });
}

/** The span of a request, without its path, whose parts may be secret. */
function describeRequest(
  { id, method, path }: Pick<Operation<never>, "id" | "method" | "path">,
  params: Record<string, string>,
  database: string | undefined,
): SpanDescription {
  const http = { [ATTR_HTTP_REQUEST_METHOD]: method, [ATTR_HTTP_ROUTE]: path };
  const attributes =
    database === undefined
      ? http
      : {
          ...http,
          [ATTR_DB_SYSTEM_NAME]: database,
          [ATTR_DB_OPERATION_NAME]: id,
          ...(params.index === undefined ? {} : { [ATTR_DB_COLLECTION_NAME]: params.index }),
        };
  return { name: `${method} ${path}`, attributes };
}

const nothing = Buffer.alloc(0);
/** How much of a body on disk the journal receives. */
const SPOOL_BEGINNING_BYTES = 64 * 1024;

/** `no-room`: the disk is full, or too many bodies are spooled already. */
async function spoolBodyOrRefuse(
  req: IncomingMessage,
  limitBytes: number,
): Promise<BodySpooling | { kind: "no-room"; reason: WorldUnavailable }> {
  try {
    return await spoolBody(req, limitBytes);
  } catch (error) {
    if (error instanceof WorldUnavailable) return { kind: "no-room", reason: error };
    throw error;
  }
}

const unanswered = { status: null, headers: {}, body: nothing };

/** Runs the operation; logs a thrown error and answers without its reason. */
async function handle<Target>(
  operation: Operation<Target>,
  request: VendorRequest,
  service: Service<Target>,
): Promise<VendorResponse> {
  try {
    return await operation.handle(request, service.target);
  } catch (error) {
    service.twin.log.error(
      { err: error, tier: service.tier, operation: operation.id },
      "an operation failed",
    );
    const message = "the twin failed; its log says why";
    return service.refusal({ kind: "internal", message, operation: operation.id }, request);
  }
}

/** The refusal for a failed route match. */
function refusalOf(
  match: Exclude<RouteMatch<unknown>, { kind: "found" }>,
  method: string,
  path: string,
): PlatformRefusal {
  switch (match.kind) {
    case "malformed":
      return { kind: "malformed-request", message: match.message };
    case "wrong-method":
      return { kind: "unknown-path", method, path, allowed: match.allowed as Method[] };
    case "unknown":
      return { kind: "unknown-path", method, path, allowed: [] };
  }
}
