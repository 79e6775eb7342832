/**
 * What the webhooks of tool calls were sent and answered, for a tester: masked, bounded, and in no snapshot. Headers are
 * not kept at all, and of addresses neither query nor password.
 */
import { performance } from "node:perf_hooks";
import type { WebhookAnswer } from "@offhook/platform/client/webhook";
import { type KeptBody, keepBody } from "@offhook/platform/journal/journal";
import { MASK, type Mask } from "@offhook/platform/journal/mask";
import { type ReachableServer, serverHeaders } from "./server.ts";
import { readAnswers } from "./tool-answer.ts";

interface ExchangeLimits {
  /** Calls whose exchanges are kept; the oldest go first. */
  calls: number;
  bytes: number;
}

const DEFAULT_LIMITS: ExchangeLimits = { calls: 200, bytes: 32 * 1024 * 1024 };

/** Rough size of an exchange, and of an attempt, without its bodies. */
const ENTRY_BYTES = 400;

/** Shorter header values may be ordinary words of an answer. */
const MIN_SECRET_LENGTH = 8;

interface Attempt {
  /** When it began, by the sandbox's clock. */
  atMs: number;
  /** No value while it is awaited. */
  durationMs: number | null;
  status: number | null;
  answer: KeptBody | null;
  /** Why it gave no usable result, by the id of the tool call. */
  errors: ReadonlyMap<string, string>;
}

/** One request, with every attempt to have it answered. */
export interface Exchange {
  /** Origin and path. */
  url: string;
  /** The tool calls it asked for. */
  toolCallIds: readonly string[];
  request: KeptBody;
  attempts: Attempt[];
  bytes: number;
}

/** A request about to be sent. */
export interface ToolRequest {
  callId: string;
  toolCallIds: readonly string[];
  server: ReachableServer;
  body: string;
}

/** Notes an attempt that begins; the returned function takes its outcome. */
export type BeginAttempt = () => (answer: WebhookAnswer) => void;

export class WebhookExchanges {
  readonly #mask: Pick<Mask, "body" | "path">;
  readonly #now: () => number;
  readonly #limits: ExchangeLimits;
  /** By call, the call with the oldest exchange first. */
  readonly #calls = new Map<string, Exchange[]>();
  #bytes = 0;

  /** @param now the sandbox's clock */
  constructor(mask: Pick<Mask, "body" | "path">, now: () => number, limits = DEFAULT_LIMITS) {
    this.#mask = mask;
    this.#now = now;
    this.#limits = limits;
  }

  begin({ callId, toolCallIds, server, body }: ToolRequest): BeginAttempt {
    const request = keepBody(this.#mask, Buffer.from(withoutQueries(body)), "application/json");
    const exchange: Exchange = {
      url: this.#shownUrl(server.url),
      toolCallIds,
      request,
      attempts: [],
      bytes: 0,
    };
    const exchanges = this.#calls.get(callId) ?? [];
    exchanges.push(exchange);
    this.#calls.set(callId, exchanges);
    this.#grow(callId, exchange, request.bytes.length + ENTRY_BYTES);
    const secrets = secretsOf(server);
    return () => {
      const startedAt = performance.now();
      const none = { durationMs: null, status: null, answer: null, errors: new Map<string, string>() };
      const attempt: Attempt = { atMs: this.#now(), ...none };
      exchange.attempts.push(attempt);
      this.#grow(callId, exchange, ENTRY_BYTES);
      return (answer) => {
        attempt.durationMs = performance.now() - startedAt;
        attempt.errors = errorsIn(answer, toolCallIds);
        if (answer.kind !== "answered") return;
        attempt.status = answer.status;
        attempt.answer = keepBody(this.#mask, Buffer.from(withoutSecrets(answer.text, secrets)), "");
        this.#grow(callId, exchange, attempt.answer.bytes.length);
      };
    };
  }

  /** The exchange that asked for a tool call; the last, where several did. */
  find(callId: string, toolCallId: string): Exchange | undefined {
    return this.#calls.get(callId)?.findLast(({ toolCallIds }) => toolCallIds.includes(toolCallId));
  }

  clear(): void {
    this.#calls.clear();
    this.#bytes = 0;
  }

  #grow(callId: string, exchange: Exchange, bytes: number): void {
    if (!this.#calls.get(callId)?.includes(exchange)) return;
    exchange.bytes += bytes;
    this.#bytes += bytes;
    for (const [oldest, exchanges] of this.#calls) {
      if (this.#calls.size <= this.#limits.calls && this.#bytes <= this.#limits.bytes) return;
      // A single call that needs all the room loses its oldest exchanges.
      const dropped = this.#calls.size > 1 ? exchanges.splice(0) : this.#shiftUntilWithin(exchanges);
      if (exchanges.length === 0) this.#calls.delete(oldest);
      for (const one of dropped) this.#bytes -= one.bytes;
    }
  }

  #shiftUntilWithin(exchanges: Exchange[]): Exchange[] {
    let excess = this.#bytes - this.#limits.bytes;
    const kept = exchanges.findIndex(({ bytes }) => {
      const fits = excess <= 0;
      excess -= bytes;
      return fits;
    });
    return exchanges.splice(0, kept < 0 ? exchanges.length : kept);
  }

  #shownUrl(url: string): string {
    const { origin, pathname } = new URL(url);
    return origin + this.#mask.path(pathname);
  }
}

function errorsIn(answer: WebhookAnswer, toolCallIds: readonly string[]): Map<string, string> {
  const errors = new Map<string, string>();
  for (const [id, read] of readAnswers(answer, toolCallIds)) if (!read.ok) errors.set(id, read.reason);
  return errors;
}

/** Members whose object names a server by its `url`. */
const SERVER_MEMBERS = new Set(["server", "model"]);

/** An address with more than origin and path, in JSON as `JSON.stringify` writes it: most bodies have none. */
const QUERIED_ADDRESS = /"(?:url|serverUrl)":"[^"]*[?#@]/;

/** A body of ours without what addresses of servers hold besides origin and path, which may be a key. */
function withoutQueries(body: string): string {
  if (!QUERIED_ADDRESS.test(body)) return body;
  return JSON.stringify(JSON.parse(body), (name, value: unknown) => {
    if (name === "serverUrl" && typeof value === "string") return originAndPath(value);
    if (!SERVER_MEMBERS.has(name) || value === null || typeof value !== "object") return value;
    return "url" in value && typeof value.url === "string"
      ? { ...value, url: originAndPath(value.url) }
      : value;
  });
}

function originAndPath(url: string): string {
  if (!URL.canParse(url)) return MASK;
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The header values that a server was sent, as they may come back in its answer. */
function secretsOf(server: ReachableServer): string[] {
  return Object.values(serverHeaders(server)).filter((value) => value.length >= MIN_SECRET_LENGTH);
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}
