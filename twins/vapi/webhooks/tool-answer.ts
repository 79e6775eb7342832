/**
 * Reads the answer of a tool webhook. The vendor accepts only HTTP 200 with `{results: [{toolCallId, result | error}]}`,
 * both single-line strings; anything else counts as no result, and the log says why.
 * Source: https://docs.vapi.ai/tools/custom-tools-troubleshooting
 */
import type { WebhookAnswer } from "@offhook/platform/client/webhook";

export type CallAnswer = { ok: true; content: string } | { ok: false; reason: string };

/** The answer to each call of a request, by call id. */
export function readAnswers(answer: WebhookAnswer, callIds: readonly string[]): Map<string, CallAnswer> {
  const results = resultsOf(answer);
  if (typeof results === "string") return new Map(callIds.map((id) => [id, { ok: false, reason: results }]));
  return new Map(callIds.map((id) => [id, answerTo(id, results)]));
}

/** The `results` array, or the reason why there is none. */
function resultsOf(answer: WebhookAnswer): unknown[] | string {
  switch (answer.kind) {
    case "timed-out":
      return `no answer within ${answer.afterMs} ms`;
    case "too-large":
      return `the answer is larger than ${answer.limitBytes} bytes`;
    case "failed":
      return `the server could not be reached: ${answer.reason}`;
    case "cancelled":
      return "the call was over before the answer came";
    case "answered":
      return answer.status === 200 ? resultsIn(answer.text) : `the server answered ${answer.status}, not 200`;
  }
}

function resultsIn(text: string): unknown[] | string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return "the answer is not JSON";
  }
  const results = member(body, "results");
  return Array.isArray(results) ? results : 'the answer has no "results" array';
}

function answerTo(callId: string, results: readonly unknown[]): CallAnswer {
  const entry = results.find((result) => member(result, "toolCallId") === callId);
  if (entry === undefined) return { ok: false, reason: "no result has this toolCallId" };
  const result = member(entry, "result");
  if (result !== undefined && result !== null) return singleLine("result", result, (text) => text);
  const error = member(entry, "error");
  if (error === undefined || error === null) return { ok: false, reason: "neither result nor error" };
  return singleLine("error", error, (text) => JSON.stringify({ error: text }));
}

function singleLine(name: string, value: unknown, content: (text: string) => string): CallAnswer {
  if (typeof value !== "string") return { ok: false, reason: `${name} is not a string` };
  if (value.includes("\n") || value.includes("\r")) {
    return { ok: false, reason: `${name} has line breaks; it must be a single line` };
  }
  return { ok: true, content: content(value) };
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}
