/**
 * Posts JSON to a client's webhook: with a deadline, a bound on the answer's size, no redirects followed (a redirect would
 * carry the headers' secrets to an address nobody configured), and an outcome instead of an exception.
 */

import { DeadlineExceeded, withDeadline } from "../base/deadline.ts";

/** Largest answer read. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export type WebhookAnswer =
  | { kind: "answered"; status: number; text: string }
  | { kind: "timed-out"; afterMs: number }
  | { kind: "too-large"; limitBytes: number }
  | { kind: "failed"; reason: string }
  | { kind: "cancelled" };

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  userAgent: string;
  body: string;
  timeoutMs: number;
  signal: AbortSignal;
}

export async function postWebhook(request: WebhookRequest): Promise<WebhookAnswer> {
  try {
    return await withDeadline(request.signal, request.timeoutMs, (signal) => post(request, signal));
  } catch (error) {
    if (request.signal.aborted) return { kind: "cancelled" };
    if (error instanceof DeadlineExceeded) return { kind: "timed-out", afterMs: request.timeoutMs };
    return { kind: "failed", reason: networkReason(error) };
  }
}

async function post(request: WebhookRequest, signal: AbortSignal): Promise<WebhookAnswer> {
  const response = await fetch(request.url, {
    method: "POST",
    headers: { ...request.headers, "content-type": "application/json", "user-agent": request.userAgent },
    body: request.body,
    redirect: "manual",
    signal,
  });
  const text = await boundedText(response);
  if (text === undefined) return { kind: "too-large", limitBytes: MAX_ANSWER_BYTES };
  return { kind: "answered", status: response.status, text };
}

/** The body as text, or `undefined` once it is longer than the bound. */
async function boundedText(response: Response): Promise<string | undefined> {
  if (!response.body) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The system's error code where there is one: messages may hold the address, and with it a secret. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause !== null && typeof cause === "object" && "code" in cause) return String(cause.code);
  return cause instanceof Error ? cause.name : "network error";
}

/** What a log may say of an address: its host, never its path or query. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "an address that is not a URL";
}
