/** A client of OpenAI-compatible servers: the address, the key, deadlines, and errors without secrets. */
import { z } from "zod";
import { linkSignals } from "../base/deadline.ts";

/** Members of a service's `config` that name such a server. */
export const openAiEndpointConfig = {
  /** Address up to and including `/v1`. */
  base_url: z.url({ protocol: /^https?$/ }),
  /** Name of the environment variable that holds the key; without it no key is sent (a local server). */
  api_key_env: z.string().optional(),
  /** Idle time of the server after which the request fails. */
  timeout_seconds: z.number().positive().max(120).default(15),
};

export interface OpenAiEndpoint {
  base_url: string;
  api_key_env?: string | undefined;
  timeout_seconds: number;
}

export interface Endpoint {
  baseUrl: string;
  key: string | undefined;
  /** Idle timeout of the server. */
  timeoutMs: number;
  /** Further headers; the key and the body's content type take precedence. */
  headers?: Record<string, string>;
}

/** A server that could not be used. The message holds a status or a reason, never an address or a key. */
export class ProviderError extends Error {
  /** The status that the server answered, if it did. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.name = "ProviderError";
    this.status = status;
  }
}

/**
 * @param variable reads a variable of the machine.
 * @throws Error naming the variable that should hold the key but is not set
 */
export function openAiEndpoint(
  config: OpenAiEndpoint,
  variable: (name: string) => string | undefined,
): Endpoint {
  const key = config.api_key_env === undefined ? undefined : variable(config.api_key_env);
  if (config.api_key_env !== undefined && !key) {
    throw new Error(`set ${config.api_key_env} to the key of ${config.base_url}, or leave api_key_env out`);
  }
  return {
    baseUrl: config.base_url.replace(/(?<!\/)\/+$/, ""),
    key,
    timeoutMs: config.timeout_seconds * 1000,
  };
}

/** An idle timeout: restarted by every chunk; aborts when the server sends nothing for too long. */
export interface Watchdog {
  signal: AbortSignal;
  alive(): void;
  stop(): void;
  readonly expired: boolean;
}

export function createWatchdog(timeoutMs: number, signal: AbortSignal): Watchdog {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), timeoutMs);
  const either = linkSignals(signal, silence.signal);
  return {
    signal: either.signal,
    alive: () => void timer.refresh(),
    stop() {
      clearTimeout(timer);
      either.unlink();
    },
    get expired() {
      return silence.signal.aborted;
    },
  };
}

/** Posts a request. @returns the response as soon as a 2xx status arrives. @throws ProviderError */
export async function post(
  endpoint: Endpoint,
  path: string,
  body: { json: unknown } | { form: FormData },
  watchdog: Watchdog,
): Promise<Response> {
  const headers = new Headers(endpoint.headers);
  if (endpoint.key) headers.set("authorization", `Bearer ${endpoint.key}`);
  if ("json" in body) headers.set("content-type", "application/json");
  const response = await fetch(`${endpoint.baseUrl}${path}`, {
    method: "POST",
    headers,
    body: "json" in body ? JSON.stringify(body.json) : body.form,
    redirect: "manual",
    signal: watchdog.signal,
  });
  watchdog.alive();
  if (!response.ok) {
    await response.body?.cancel();
    throw new ProviderError(`the server answered ${response.status}`, response.status);
  }
  return response;
}

/** Reads the whole body, at most `limitBytes`. @throws ProviderError when it is larger */
export async function readBytes(response: Response, limitBytes: number, watchdog: Watchdog): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    watchdog.alive();
    bytes += chunk.byteLength;
    if (bytes > limitBytes) throw new ProviderError(`the answer is larger than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Describes a failure for a log. */
export function providerReason(error: unknown, watchdog: Watchdog): string {
  if (watchdog.expired) return "the server was silent for too long";
  if (error instanceof ProviderError) return error.message;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause !== null && typeof cause === "object" && "code" in cause) return String(cause.code);
  return cause instanceof Error ? cause.name : "network error";
}
