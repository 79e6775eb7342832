/** Serves one request to a vendor API: match, read, record, handle, answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import {
  ArrivedRequest,
  DEFAULT_BODY_BYTES,
  readBody,
  refuseEarly,
  sendResponse,
  whenClientLeaves,
} from "./http.ts";
import type { CompleteEntry } from "./journal.ts";
import type { Method, Operation, VendorRequest, VendorResponse } from "./operation.ts";
import type { RouteMatch } from "./router.ts";
import type { HostedTwin } from "./sandbox.ts";
import type { PlatformRefusal, RunningTwin } from "./twin.ts";

export interface Target {
  path: string;
  query: string;
}

type Served = { operation: Operation<RunningTwin>; params: Record<string, string> };

export async function serveVendor(
  req: IncomingMessage,
  res: ServerResponse,
  twin: HostedTwin,
  target: Target,
): Promise<void> {
  const startedAt = performance.now();
  const method = req.method ?? "GET";
  const found = findOperation(twin, method, target.path);
  const operation = "refusal" in found ? null : found.operation.id;
  const record = (body: Buffer): CompleteEntry =>
    twin.journal.record({
      tier: "vendor",
      operation,
      method,
      path: target.path,
      query: new URLSearchParams(target.query),
      headers: req.headers,
      body,
      startedAt,
    });
  const refuse = async (refusal: PlatformRefusal): Promise<void> => {
    const complete = record(nothing);
    const response = twin.type.definition.refusal(refusal);
    complete(await refuseEarly(req, res, response));
  };

  if ("refusal" in found) return refuse(found.refusal);
  const limitBytes = found.operation.maxBodyBytes ?? DEFAULT_BODY_BYTES;
  const reading = await readBody(req, limitBytes);
  switch (reading.kind) {
    case "gone":
      return;
    case "too-large":
      return refuse({ kind: "body-too-large", limitBytes });
    case "malformed":
      return refuse({ kind: "malformed-request", message: reading.message });
    case "body":
  }
  const complete = record(reading.body);
  const request = new ArrivedRequest(
    {
      method: found.operation.method,
      path: target.path,
      params: found.params,
      headers: req.headers,
      body: reading.body,
      queryText: target.query,
    },
    (abort) => whenClientLeaves(res, abort),
  );
  complete(await sendResponse(req, res, await handle(twin, found.operation, request)));
}

const nothing = Buffer.alloc(0);

/** Runs the operation; what it throws is logged and answered as the vendor's own internal error. */
async function handle(
  twin: HostedTwin,
  operation: Operation<RunningTwin>,
  request: VendorRequest,
): Promise<VendorResponse> {
  try {
    return await operation.handle(request, twin.running);
  } catch (error) {
    twin.log.error({ err: error, operation: operation.id }, "the twin failed to answer");
    return twin.type.definition.refusal({ kind: "internal", message: "the twin failed; its log says why" });
  }
}

function findOperation(
  twin: HostedTwin,
  method: string,
  path: string,
): Served | { refusal: PlatformRefusal } {
  if (isReserved(path)) return { refusal: { kind: "unknown-path", method, path, allowed: [] } };
  const match = twin.type.operations.match(method, path);
  return match.kind === "found"
    ? { operation: match.route, params: match.params }
    : { refusal: refusalOf(match, method, path) };
}

/** Why nothing is served, as the twin is asked to word it. */
export function refusalOf(
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

/** Addresses that no vendor API answers: the control plane's, and those of a server's own documentation. */
export function isReserved(path: string): boolean {
  const bare = path.endsWith("/") ? path.slice(0, -1) : path;
  return (
    bare === "/sim" ||
    path.startsWith("/sim/") ||
    bare === "/openapi.json" ||
    bare === "/docs" ||
    bare === "/redoc"
  );
}
