/**
 * Sends the server messages an assistant subscribes to, in order, one at a time, from a bounded queue. The call never
 * waits for them; when the server is slower than the call, the oldest are dropped.
 * Source: https://docs.vapi.ai/server-url/events
 */

import { hostOf, postWebhook } from "@offhook/platform/client/webhook";
import type { Logger } from "pino";
import type { CallSpans } from "../calls/call-spans.ts";
import type { Assistant } from "../schema/assistant.ts";
import { DEFAULT_SERVER_MESSAGES } from "../schema/message-types.ts";
import { assistantServer, DEFAULT_TIMEOUT_SECONDS, serverHeaders, USER_AGENT } from "./server.ts";

const MAX_WAITING = 200;

export type RuntimeMessage = { type: string } & Record<string, unknown>;

export interface ServerMessages {
  send(message: RuntimeMessage): void;
  /** Resolves when every queued message was sent or has failed. */
  idle(): Promise<void>;
  /** Discards the queue. */
  stop(): void;
}

export interface ServerMessagesParts {
  assistant: Assistant;
  envelope(): Record<string, unknown>;
  now(): number;
  spans: Pick<CallSpans, "webhook">;
  log: Logger;
}

export function createServerMessages(parts: ServerMessagesParts): ServerMessages {
  const { assistant, log } = parts;
  const server = assistantServer(assistant);
  const subscribed = new Set<string>(assistant.serverMessages ?? DEFAULT_SERVER_MESSAGES);
  const stopping = new AbortController();
  const waiting: RuntimeMessage[] = [];
  let sending: Promise<void> | undefined;
  let dropped = 0;

  async function drain(url: string): Promise<void> {
    for (let message = waiting.shift(); message; message = waiting.shift()) {
      const span = parts.spans.webhook(url, server ? serverHeaders(server) : {}, 0);
      const answer = await postWebhook({
        url,
        headers: span.headers,
        userAgent: USER_AGENT,
        body: JSON.stringify({ message }),
        timeoutMs: (server?.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
        signal: stopping.signal,
      });
      span.end(answer);
      if (answer.kind === "answered" && answer.status < 400) continue;
      if (answer.kind === "cancelled") return;
      const outcome = answer.kind === "answered" ? `status ${answer.status}` : answer.kind;
      log.warn({ host: hostOf(url), message: message.type, outcome }, "the server did not accept a message");
    }
  }

  return {
    send(message) {
      if (!server || !isSubscribed(message, subscribed)) return;
      if (waiting.length >= MAX_WAITING) {
        waiting.shift();
        if (dropped++ === 0)
          log.warn({ host: hostOf(server.url) }, "the queue of server messages is full: dropping the oldest");
      }
      waiting.push({ timestamp: parts.now(), ...message, ...parts.envelope() });
      sending ??= drain(server.url).finally(() => {
        sending = undefined;
      });
    },
    idle: async () => {
      await sending;
    },
    stop() {
      waiting.length = 0;
      stopping.abort();
    },
  };
}

/** Excludes `tool-calls`, which the tool webhook sends itself. */
function isSubscribed(message: RuntimeMessage, subscribed: ReadonlySet<string>): boolean {
  if (message.type === "tool-calls") return false;
  if (message.type === "transcript" && message.transcriptType === "final") {
    return subscribed.has("transcript") || subscribed.has('transcript[transcriptType="final"]');
  }
  return subscribed.has(message.type);
}
