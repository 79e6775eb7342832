/** Words the platform's refusals like splunkd. */
import { STATUS_CODES } from "node:http";
import type { PlatformRefusal, RefusedRequest, VendorResponse } from "@offhook/platform/http/operation";
import { codeResponse, faultResponse, notFoundResponse } from "../collector/codes.ts";
import { MAX_RUNNING } from "../jobs/job-book.ts";
import { refusalMode } from "./arguments.ts";
import { messagesResponse } from "./messages.ts";
import type { OutputMode } from "./output-mode.ts";
import type { RestMessage } from "./rest-error.ts";
import { commonHeaders } from "./route.ts";

/** The response to a request that the platform refuses. */
export function refusal(refusal: PlatformRefusal, request?: RefusedRequest): VendorResponse {
  return collectorRefusal(refusal) ?? splunkdRefusal(refusal, refusalMode(request));
}

/** The refusal of a collector request, always in JSON; `undefined` for other requests. */
function collectorRefusal(refused: PlatformRefusal): VendorResponse | undefined {
  switch (refused.kind) {
    case "unknown-path": {
      if (!/^\/services\/collector(\/|$)/.test(refused.path)) return undefined;
      if (refused.allowed.length === 0) return notFoundResponse(404);
      const allow = [...refused.allowed, ...(refused.allowed.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
      const headers = { allow: allow.join(",") };
      if (refused.method === "OPTIONS") return { status: 200, headers, body: "" };
      const { headers: type, ...response } = notFoundResponse(405);
      return { ...response, headers: { ...type, ...headers } };
    }
    case "forbidden":
      return undefined;
    case "malformed-request":
      return isCollector(refused.operation) ? codeResponse("invalidFormat") : undefined;
    case "body-too-large":
      return isCollector(refused.operation)
        ? codeResponse("invalidFormat", { "invalid-event-number": 0 })
        : undefined;
    case "fault":
      return isCollector(refused.operation) ? faultResponse(refused.status) : undefined;
    case "internal":
      return isCollector(refused.operation) ? codeResponse("internalError") : undefined;
  }
}

function isCollector(operation: string | undefined): boolean {
  return operation?.startsWith("collector.") ?? false;
}

function splunkdRefusal(refusal: PlatformRefusal, mode: OutputMode): VendorResponse {
  const { status, message, headers = {} } = wordRefusal(refusal);
  const response = messagesResponse(status, [message], mode);
  return { ...response, headers: { ...commonHeaders, ...response.headers, ...headers } };
}

interface Worded {
  status: number;
  message: RestMessage;
  headers?: Record<string, string>;
}

function wordRefusal(refused: PlatformRefusal): Worded {
  switch (refused.kind) {
    case "unknown-path":
      return unknownPath(refused.method, refused.path, refused.allowed);
    case "malformed-request":
      return { status: 400, message: { type: "ERROR", text: refused.message } };
    case "forbidden":
      return { status: 403, message: { type: "ERROR", text: refused.message } };
    case "body-too-large":
      return { status: 413, message: { type: "ERROR", text: "Content-Length is too large" } };
    case "fault":
      return fault(refused.status);
    case "internal":
      return { status: 500, message: { type: "ERROR", text: refused.message } };
  }
}

/** Words an unknown path or method; jobs, the search service and the server each have their own text. */
function unknownPath(method: string, path: string, allowed: readonly string[]): Worded {
  const action = /\/(saved\/searches|data\/indexes)\/[^/]+\/([^/]+)$/.exec(path);
  if (method === "DELETE" && action !== null) {
    const handler = action[1] === "saved/searches" ? "savedsearch" : "indexes";
    const text = `Invalid custom action for this internal handler (handler: ${handler}, custom action: ${action[2]}, eai action: remove).`;
    return { status: 404, message: { type: "ERROR", text } };
  }
  if (allowed.length === 0) return { status: 404, message: noEndpoint(path) };
  const ofJobs = /\/search\/(v2\/)?jobs(?!\/export)(\/|$)/.test(path);
  const message: RestMessage = {
    type: method === "PUT" || method === "PATCH" ? "ERROR" : "FATAL",
    text: ofJobs ? "Method Not Allowed" : "The method is not allowed.",
  };
  // A job's control route handles other methods only to look for the job before it refuses them.
  const known = path.endsWith("/control") ? ["POST"] : allowed;
  return { status: 405, message, headers: { allow: known.join(", ") } };
}

/** The message of an unknown path; below `search` it comes from the search dispatcher. */
function noEndpoint(path: string): RestMessage {
  if (/^\/services(NS\/[^/]+\/[^/]+)?\/search\//.test(path))
    return { type: "FATAL", text: "Unknown endpoint." };
  return { type: "ERROR", text: "Not Found" };
}

const faults: Record<number, RestMessage> = {
  400: { type: "ERROR", text: "Bad Request" },
  401: { type: "WARN", text: "call not properly authenticated" },
  402: { type: "ERROR", text: "Requires license feature='Auth'" },
  403: { type: "ERROR", text: "You do not have permission to perform this operation." },
  404: { type: "ERROR", text: "Not Found" },
  409: { type: "ERROR", text: "Conflict" },
  413: { type: "ERROR", text: "Content-Length is too large" },
  429: { type: "ERROR", text: "Too Many Requests" },
  500: { type: "ERROR", text: "Internal Server Error" },
  502: { type: "ERROR", text: "Bad Gateway" },
  503: {
    type: "WARN",
    text: `Search not executed: The maximum number of concurrent historical searches on this instance has been reached., concurrency_category="historical", concurrency_context="instance-wide", current_concurrency=${MAX_RUNNING}, concurrency_limit=${MAX_RUNNING}`,
  },
  504: { type: "ERROR", text: "Gateway Timeout" },
};

/** Statuses that a fault may answer with. */
export const faultStatuses = Object.keys(faults).map(Number);

function fault(status: number): Worded {
  const message = faults[status] ?? { type: "ERROR", text: STATUS_CODES[status] ?? "a fault" };
  return { status, message };
}
