/** The voice runtime's HTTP API: creates calls, and ends those whose socket did not. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { z } from "zod";
import { DeadlineExceeded, withDeadline } from "../deadline.ts";
import { messageOf, safeText } from "../log.ts";
import { SAMPLE_RATE } from "../pcm.ts";

const MAX_ANSWER_BYTES = 1024 * 1024;
const END_TIMEOUT_MS = 5_000;
const STATUS_TIMEOUT_MS = 2_000;
/** A kept-alive connection that breaks later than this may have delivered the request. */
const STALE_CONNECTION_MS = 2_000;
/** The runtime's edge refuses requests without one. */
export const USER_AGENT = "offhook-agent/0.1";

/** Members of another shape count as absent, so that a created call is not lost because of them. */
const createdCallSchema = z.object({
  id: z.string().min(1).optional().catch(undefined),
  transport: z
    .object({ websocketCallUrl: z.url({ protocol: /^wss?$/ }) })
    .optional()
    .catch(undefined),
});
const callStatusSchema = z.object({ status: z.string() });
const refusalSchema = z.object({ message: z.union([z.string(), z.array(z.string())]) });

/** A created call; at least one member is set. */
export interface CreatedCall {
  id: string | undefined;
  /** Address of the call socket; a secret, because it admits anybody to the call. */
  websocketCallUrl: string | undefined;
}

/** The runtime refused a request; the message says why, without secrets. */
export class RuntimeRefusal extends Error {
  override name = "RuntimeRefusal";
}

/** The request was sent and no usable answer came back: a call with an unknown id may exist. */
export class CreationUnknown extends Error {
  override name = "CreationUnknown";
}

/** No answer came. */
class ExchangeFailure extends Error {
  /**
   * `unsent`: the request was not fully sent. `stale`: the server closed a kept-alive connection while the request was on
   * its way. `sent`: the runtime may have acted on it.
   */
  readonly progress: "unsent" | "stale" | "sent";

  constructor(message: string, progress: ExchangeFailure["progress"]) {
    super(message);
    this.progress = progress;
  }
}

interface Exchange {
  method: "POST" | "GET" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  /** Gives up at any time. */
  signal: AbortSignal;
  /** Gives up as long as the request is unsent. */
  unsentSignal?: AbortSignal;
  body?: object;
}

interface Answer {
  status: number;
  body: string;
}

export interface RuntimeApiOptions {
  /** Base address, without a slash at the end. */
  url: string;
  apiKey: string;
}

export class RuntimeApi {
  readonly #options: RuntimeApiOptions;
  /** Separate connections for ending calls, so that hanging creations do not block them. */
  readonly #creating: KeptConnections;
  readonly #ending: KeptConnections;

  constructor(options: RuntimeApiOptions) {
    this.#options = options;
    this.#creating = new KeptConnections(options.url);
    this.#ending = new KeptConnections(options.url);
  }

  /**
   * `POST /call` with an inline assistant (https://docs.vapi.ai/calls/websocket-transport).
   * @param signal gives up at any time
   * @param unsentSignal gives up as long as the runtime cannot have acted on the request
   * @param headers to send along
   * @throws RuntimeRefusal when there is no call; CreationUnknown when there may be one
   */
  async create(
    assistant: object,
    signal: AbortSignal,
    unsentSignal: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<CreatedCall> {
    const body = {
      assistant,
      transport: {
        provider: "vapi.websocket",
        audioFormat: { format: "pcm_s16le", container: "raw", sampleRate: SAMPLE_RATE },
      },
    };
    const answer = await this.#post({ method: "POST", path: "/call", headers, signal, unsentSignal, body });
    if (isSuccess(answer)) return readCreatedCall(answer.body);
    const refusal = this.#refusal(answer);
    throw isInconclusive(answer) ? new CreationUnknown(refusal.message) : refusal;
  }

  /** `DELETE /call/{id}`: ends a call whose socket does not. @throws Error saying why it may not have ended */
  async end(callId: string): Promise<void> {
    const answer = await this.#ask("DELETE", callId, END_TIMEOUT_MS);
    if (!isSuccess(answer) && answer.status !== 404) throw this.#refusal(answer);
  }

  /** `GET /call/{id}`: whether the runtime reports the call as ended; false without an answer. */
  async hasEnded(callId: string): Promise<boolean> {
    try {
      const answer = await this.#ask("GET", callId, STATUS_TIMEOUT_MS);
      const call = callStatusSchema.safeParse(isSuccess(answer) ? parseJson(answer.body) : undefined);
      return call.success && call.data.status === "ended";
    } catch {
      return false;
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#creating.close();
    this.#ending.close();
  }

  /**
   * Retries once on a new connection when the server closed an idle one while the request was on its way: it has not read
   * the request, so the retry is safe (RFC 9110, 9.2.2). If it had read it and died without a byte of an answer, there is
   * one extra call, which the runtime ends because nobody connects to it. That costs less than turning a caller away after
   * every idle period.
   */
  async #post(exchange: Exchange): Promise<Answer> {
    try {
      return await this.#exchange(this.#creating, exchange);
    } catch (error) {
      if (!(error instanceof ExchangeFailure)) throw error;
      if (error.progress !== "stale" || exchange.signal.aborted) throw this.#creationFailure(error);
    }
    try {
      return await this.#exchange(this.#creating, exchange);
    } catch (error) {
      throw error instanceof ExchangeFailure ? this.#creationFailure(error) : error;
    }
  }

  #creationFailure({ message, progress }: ExchangeFailure): Error {
    return progress === "unsent" ? new RuntimeRefusal(message) : new CreationUnknown(message);
  }

  async #ask(method: "GET" | "DELETE", callId: string, timeoutMs: number): Promise<Answer> {
    const path = `/call/${encodeURIComponent(callId)}`;
    try {
      return await withDeadline(new AbortController().signal, timeoutMs, (signal) =>
        this.#exchange(this.#ending, { method, path, signal }),
      );
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      throw new RuntimeRefusal(`the voice runtime did not answer within ${timeoutMs} ms`);
    }
  }

  #refusal({ status, body }: Answer): RuntimeRefusal {
    const said = this.#safe(refusalText(body));
    return new RuntimeRefusal(`the voice runtime answered ${status}${said && ": "}${said}`);
  }

  #safe(text: string): string {
    return safeText(text, [this.#options.apiKey]);
  }

  /**
   * Sends one request and reads its whole answer; does not follow redirects. Uses `node:http`, because only its requests
   * tell a kept-alive connection from a new one, and whether a request was sent.
   * @throws ExchangeFailure
   */
  #exchange(connections: KeptConnections, exchange: Exchange): Promise<Answer> {
    const { method, path, headers, signal, unsentSignal, body } = exchange;
    const content = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = connections.request(`${this.#options.url}${path}`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${this.#options.apiKey}`,
          "user-agent": USER_AGENT,
          accept: "application/json",
          ...(content === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(content) }),
        },
      });
      let isSent = false;
      let startedAt = 0;
      let bytesReadBefore = 0;
      const progress = (error: unknown): ExchangeFailure["progress"] => {
        const isReset = hasCode(error, "ECONNRESET") || hasCode(error, "EPIPE");
        const isAnswered = request.socket !== null && request.socket.bytesRead > bytesReadBefore;
        const isQuick = performance.now() - startedAt < STALE_CONNECTION_MS;
        if (request.reusedSocket && isReset && !isAnswered && isQuick) return "stale";
        return isSent ? "sent" : "unsent";
      };
      const abort = () => request.destroy(new Error("the request was given up"));
      const abortUnsent = () => {
        if (!isSent) abort();
      };
      const settle = () => {
        signal.removeEventListener("abort", abort);
        unsentSignal?.removeEventListener("abort", abortUnsent);
      };
      const fail = (error: unknown) => {
        settle();
        reject(new ExchangeFailure(this.#safe(messageOf(error)), progress(error)));
      };
      request.once("socket", (socket) => {
        startedAt = performance.now();
        bytesReadBefore = socket.bytesRead;
      });
      request.once("finish", () => {
        isSent = true;
      });
      request.on("error", fail);
      request.once("response", (response) => {
        readText(response).then((text) => {
          settle();
          resolve({ status: response.statusCode ?? 0, body: text });
        }, fail);
      });
      signal.addEventListener("abort", abort, { once: true });
      unsentSignal?.addEventListener("abort", abortUnsent, { once: true });
      request.end(content);
      if (signal.aborted || unsentSignal?.aborted) abort();
    });
  }
}

/** Requests to one server over a bounded pool of kept-alive connections. */
class KeptConnections {
  readonly #isHttps: boolean;
  readonly #agent: HttpAgent;

  constructor(url: string) {
    this.#isHttps = url.startsWith("https:");
    const options = { keepAlive: true, maxSockets: 64 };
    this.#agent = this.#isHttps ? new HttpsAgent(options) : new HttpAgent(options);
  }

  request(url: string, options: { method: string; headers: Record<string, string | number> }) {
    const send = this.#isHttps ? httpsRequest : httpRequest;
    return send(url, { ...options, agent: this.#agent });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** @throws when the answer breaks off or is too long */
async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
  }
  return Buffer.concat(chunks).toString();
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/**
 * Whether the runtime may have acted on the request despite the answer: a gateway answers 502, 503 or 504 for it, and a
 * server that fails half-way answers 500.
 */
function isInconclusive({ status }: Answer): boolean {
  return status >= 500;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** @throws CreationUnknown when neither the call's id nor its address can be read */
function readCreatedCall(body: string): CreatedCall {
  const parsed = createdCallSchema.safeParse(parseJson(body));
  const id = parsed.data?.id;
  const websocketCallUrl = parsed.data?.transport?.websocketCallUrl;
  if (id === undefined && websocketCallUrl === undefined) {
    const missing = parsed.success ? "transport.websocketCallUrl" : "the body";
    throw new CreationUnknown(`the voice runtime's answer has no usable ${missing}`);
  }
  return { id, websocketCallUrl };
}

/** The vendor's `{message}`, or else the plain text of its edge. */
function refusalText(body: string): string {
  const refusal = refusalSchema.safeParse(parseJson(body));
  if (!refusal.success) return body;
  const { message } = refusal.data;
  return typeof message === "string" ? message : message.join("; ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
