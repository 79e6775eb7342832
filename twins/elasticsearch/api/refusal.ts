/** The platform's refusals in the vendor's words. */
import { STATUS_CODES } from "node:http";
import type { PlatformRefusal, VendorResponse } from "@offhook/platform/http/operation";
import { noSuchIndex } from "../indices/errors.ts";
import { type ErrorCause, VendorError, vendorErrorResponse } from "../vendor/error.ts";

const headers = { "x-elastic-product": "Elasticsearch", "content-type": "application/json" };

export function refusal(refused: PlatformRefusal): VendorResponse {
  // The vendor's HTTP layer answers with the bare status.
  if (refused.kind === "body-too-large") return { status: 413 };
  const { status, body, headers: more } = wordRefusal(refused);
  return { status, headers: { ...headers, ...more }, body: JSON.stringify(body) };
}

function wordRefusal(refused: Exclude<PlatformRefusal, { kind: "body-too-large" }>): VendorResponse {
  switch (refused.kind) {
    case "unknown-path":
      return unknownPath(refused);
    case "malformed-request":
      return error(400, "illegal_argument_exception", refused.message);
    case "forbidden":
      return error(403, "security_exception", refused.message);
    case "fault":
      return fault(refused.status, refused.operation);
    case "internal":
      return error(500, "exception", refused.message);
  }
}

function unknownPath({
  method,
  path,
  allowed,
}: Extract<PlatformRefusal, { kind: "unknown-path" }>): VendorResponse {
  if (allowed.length > 0) {
    const names = allowed.join(", ");
    const message = `Incorrect HTTP method for uri [${path}] and method [${method}], allowed: [${names}]`;
    return { status: 405, headers: { allow: allowed.join(",") }, body: { error: message, status: 405 } };
  }
  const [, first = "", ...rest] = path.split("/");
  // A path of one segment is an index name; this includes `/sim`, the control plane's prefix, which the vendor
  // API does not have.
  if (first === "sim" || rest.length === 0) return vendorErrorResponse(noSuchIndex(first));
  return { status: 400, body: { error: `no handler found for uri [${path}] and method [${method}]` } };
}

const faultTypes: Record<number, [type: string, reason: string]> = {
  400: ["illegal_argument_exception", "request is not valid"],
  401: ["security_exception", "missing authentication credentials for REST request"],
  403: ["security_exception", "action is unauthorized for this user"],
  404: ["resource_not_found_exception", "resource was not found"],
  408: ["process_cluster_event_timeout_exception", "failed to process cluster event within 30s"],
  409: [
    "version_conflict_engine_exception",
    "version conflict, current version is different from the one provided",
  ],
  413: ["content_too_long_exception", "entity content is too long"],
  429: ["es_rejected_execution_exception", "rejected execution of TimedRunnable on TaskExecutor"],
  500: ["exception", "internal server error"],
  502: ["node_disconnected_exception", "disconnected"],
  503: ["cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];"],
  504: ["timeout_exception", "timed out waiting for a response"],
};

/** Statuses that an injected fault may have. */
export const faultStatuses = Object.keys(faultTypes).map(Number);

/** Operations of the write thread pool; all others belong to the search pool. */
const writes: ReadonlySet<string> = new Set([
  "bulk",
  "document.index",
  "document.create",
  "document.update",
  "document.delete",
]);

/**
 * The full thread pool of a rejected request, with its capacity. Source:
 * https://www.elastic.co/guide/en/elasticsearch/reference/8.15/modules-threadpool.html
 */
function executorOf(operation: string): string {
  return writes.has(operation)
    ? "[name = write, queue capacity = 10000]"
    : "[name = search, queue capacity = 1000]";
}

function fault(status: number, operation: string): VendorResponse {
  const [type, reason] = faultTypes[status] ?? ["exception", STATUS_CODES[status] ?? "a fault"];
  const response = error(status, type, status === 429 ? `${reason}${executorOf(operation)}` : reason);
  const challenge = { "www-authenticate": 'Basic realm="security", charset="UTF-8"' };
  return status === 401 ? { ...response, headers: challenge } : response;
}

function error(status: number, type: string, reason: string): VendorResponse {
  const cause: ErrorCause = { type, reason };
  return vendorErrorResponse(new VendorError(status, cause));
}
