/** Asks a callback destination for an answer, and says in one word what happened. */
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { performance } from "node:perf_hooks";
import { DeadlineExceeded, withDeadline } from "../base/deadline.ts";
import type { CallbackDestination } from "./destination.ts";

export const PROBE_TIMEOUT_MS = 5000;
/** How much of the answer is read before the connection is cut. */
const READ_BYTES = 64 * 1024;

type ProbeOutcome =
  /** It answered over HTTP, whatever the status: it is reachable. */
  | "answered"
  /** Its host name does not resolve. */
  | "dns_failure"
  /** Nothing listens there. */
  | "refused"
  /** No route leads to it. */
  | "unreachable"
  /** Its certificate or its TLS is not acceptable. */
  | "tls_error"
  /** No answer in time. */
  | "timeout"
  /** The connection broke off before an answer. */
  | "connection_lost"
  /** What came back is not HTTP. */
  | "not_http"
  /** No destination is registered. */
  | "not_registered";

export interface ProbeResult {
  outcome: ProbeOutcome;
  /** HTTP status of an answer. */
  status: number | null;
  latency_ms: number;
  /** The system's code for a failure, such as ECONNREFUSED. */
  code: string | null;
}

/** When no callback destination is registered. */
export const notProbed: ProbeResult = { outcome: "not_registered", status: null, latency_ms: 0, code: null };

/** Sends `GET` with the registered headers. Redirects are not followed. */
export async function probe(destination: CallbackDestination, left: AbortSignal): Promise<ProbeResult> {
  const startedAt = performance.now();
  const done = (outcome: ProbeOutcome, status: number | null, code: string | null): ProbeResult => ({
    outcome,
    status,
    latency_ms: Math.round((performance.now() - startedAt) * 10) / 10,
    code,
  });
  try {
    const status = await withDeadline(left, PROBE_TIMEOUT_MS, (signal) => statusOf(destination, signal));
    return done("answered", status, null);
  } catch (error) {
    if (left.aborted || error instanceof DeadlineExceeded) return done("timeout", null, null);
    const code = codeOf(error);
    return done(outcomeOf(code), null, code);
  }
}

function statusOf(destination: CallbackDestination, signal: AbortSignal): Promise<number> {
  const { request } = destination.url.startsWith("https:") ? https : http;
  return new Promise((resolve, reject) => {
    const asking = request(destination.url, {
      method: "GET",
      headers: { "user-agent": "offhook-probe", ...destination.headers },
      agent: false,
      signal,
    });
    asking.once("error", reject);
    asking.once("response", (response: IncomingMessage) => {
      discard(response);
      resolve(response.statusCode ?? 0);
    });
    asking.end();
  });
}

/** Reads a short answer to its end, so that the sender sees it delivered, and cuts off a long one. */
function discard(response: IncomingMessage): void {
  let read = 0;
  response.on("error", () => response.destroy());
  response.on("data", (chunk: Buffer) => {
    read += chunk.length;
    if (read > READ_BYTES) response.destroy();
  });
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (typeof error === "object" && error !== null && "code" in error) return String(error.code);
  return "UNKNOWN";
}

function outcomeOf(code: string): ProbeOutcome {
  if (["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"].includes(code)) return "dns_failure";
  if (code === "ECONNREFUSED") return "refused";
  if (code === "ETIMEDOUT") return "timeout";
  if (["EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "EACCES"].includes(code)) return "unreachable";
  if (code.startsWith("HPE_")) return "not_http";
  if (code.startsWith("ERR_TLS") || code.startsWith("ERR_SSL") || code === "EPROTO") return "tls_error";
  if (code.includes("CERT") || code.includes("SIGNATURE") || code.includes("ISSUER")) return "tls_error";
  return "connection_lost";
}
