/** The voice runtime's HTTP API: a call is created here and, when its socket cannot be reached, ended here. */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import fetch, { type Response } from "node-fetch";
import { z } from "zod";
import { messageOf, safeText } from "../log.ts";
import { SAMPLE_RATE } from "../pcm.ts";

const MAX_ANSWER_BYTES = 1024 * 1024;
const END_TIMEOUT_MS = 5_000;
/** The runtime's edge refuses requests without one. */
export const USER_AGENT = "offhook-agent/0.1";

const createdCallSchema = z.object({
  id: z.string().min(1),
  transport: z.object({ websocketCallUrl: z.url({ protocol: /^wss?$/ }) }),
});
const refusalSchema = z.object({ message: z.union([z.string(), z.array(z.string())]) });

export interface CreatedCall {
  id: string;
  /** Where the call is: whoever has this address is in the call, so it is a secret. */
  websocketCallUrl: string;
}

/** The runtime did not create the call; the message says why, without secrets. */
export class RuntimeRefusal extends Error {
  override name = "RuntimeRefusal";
}

export interface RuntimeApiOptions {
  /** Base address, without a slash at the end. */
  url: string;
  apiKey: string;
  createTimeoutMs: number;
}

export class RuntimeApi {
  readonly #options: RuntimeApiOptions;
  readonly #httpAgent = new HttpAgent({ keepAlive: true, maxSockets: 64 });
  readonly #httpsAgent = new HttpsAgent({ keepAlive: true, maxSockets: 64 });

  constructor(options: RuntimeApiOptions) {
    this.#options = options;
  }

  /**
   * `POST /call` with an inline assistant (https://docs.vapi.ai/calls/websocket-transport).
   * @throws RuntimeRefusal when there is no call in the end: refused, too slow, not understood, aborted
   */
  async create(assistant: object, signal: AbortSignal): Promise<CreatedCall> {
    const timeout = AbortSignal.timeout(this.#options.createTimeoutMs);
    try {
      const response = await this.#request("POST", "/call", AbortSignal.any([signal, timeout]), {
        assistant,
        transport: {
          provider: "vapi.websocket",
          audioFormat: { format: "pcm_s16le", container: "raw", sampleRate: SAMPLE_RATE },
        },
      });
      const body = await response.text();
      if (!response.ok) {
        const said = refusalText(body);
        throw new RuntimeRefusal(`the voice runtime answered ${response.status}${said && ": "}${said}`);
      }
      return readCreatedCall(body);
    } catch (error) {
      throw new RuntimeRefusal(this.#explain(error, timeout, signal));
    }
  }

  /** Ends a call whose socket is not there. @throws when the runtime cannot be told */
  async end(callId: string): Promise<void> {
    const response = await this.#request(
      "DELETE",
      `/call/${encodeURIComponent(callId)}`,
      AbortSignal.timeout(END_TIMEOUT_MS),
    );
    await response.text();
    if (!response.ok && response.status !== 404) {
      throw new RuntimeRefusal(`the voice runtime answered ${response.status}`);
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#httpAgent.destroy();
    this.#httpsAgent.destroy();
  }

  #request(method: "POST" | "DELETE", path: string, signal: AbortSignal, body?: object): Promise<Response> {
    return fetch(`${this.#options.url}${path}`, {
      method,
      redirect: "error",
      size: MAX_ANSWER_BYTES,
      signal,
      agent: (url) => (url.protocol === "https:" ? this.#httpsAgent : this.#httpAgent),
      headers: {
        authorization: `Bearer ${this.#options.apiKey}`,
        "user-agent": USER_AGENT,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  #explain(error: unknown, timeout: AbortSignal, signal: AbortSignal): string {
    if (signal.aborted) return "the caller hung up before the call was created";
    if (timeout.aborted) {
      return `the voice runtime did not create the call within ${this.#options.createTimeoutMs} ms`;
    }
    return safeText(messageOf(error), [this.#options.apiKey]);
  }
}

function readCreatedCall(body: string): CreatedCall {
  const parsed = createdCallSchema.safeParse(parseJson(body));
  if (!parsed.success) {
    // Only names of members: the values may hold the call's address.
    const members = parsed.error.issues.map((issue) => issue.path.join(".") || "the body").join(", ");
    throw new RuntimeRefusal(`the voice runtime's answer has no usable ${members}`);
  }
  return { id: parsed.data.id, websocketCallUrl: parsed.data.transport.websocketCallUrl };
}

/** The vendor's `{message}` where there is one; its edge answers in plain text. */
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
