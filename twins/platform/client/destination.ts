/** The callback destination of a twin's client: registered by the control plane, used by the twin, and kept out of every log. */
import { z } from "zod";

export interface CallbackDestination {
  /** An `http` or `https` address without user and password. */
  url: string;
  /** Sent with every callback; their values are secrets. */
  headers: Record<string, string>;
}

const MAX_HEADERS = 32;

/** A header name as HTTP has it. */
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, "must be a header name");
const headerValue = z
  .string()
  .max(4096, "must have at most 4096 characters")
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "must hold no line breaks or control characters");

/** Headers that the request itself sets. */
const OWN_HEADERS = ["host", "content-length", "transfer-encoding", "connection", "content-type"];

/** Body of `PUT /sim/client`. */
export const destinationBody = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "must be an http or https address", abort: true })
    .max(2048, "must have at most 2048 characters")
    .refine((url) => !hasUser(url), "must hold no user or password; send them in headers"),
  headers: z
    .record(headerName, headerValue)
    .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `may hold at most ${MAX_HEADERS}`)
    .refine(
      (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.includes(name.toLowerCase())),
      `must not set ${OWN_HEADERS.join(", ")}`,
    )
    .default({}),
});

function hasUser(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== "" || password !== "";
}

/** The registered destination of one twin. */
export class CallbackRegister {
  #destination: CallbackDestination | undefined;
  #registeredAtMs: number | undefined;

  get current(): CallbackDestination | undefined {
    return this.#destination;
  }

  register(destination: CallbackDestination, nowMs: number): void {
    this.#destination = destination;
    this.#registeredAtMs = nowMs;
  }

  /** @returns whether a destination was registered */
  forget(): boolean {
    const registered = this.#destination !== undefined;
    this.#destination = undefined;
    this.#registeredAtMs = undefined;
    return registered;
  }

  /** The destination without secrets: the address with its query values masked, and the names of the headers. */
  describe(): { url: string; headers: Record<string, string>; registered_at: string } | undefined {
    if (!this.#destination || this.#registeredAtMs === undefined) return undefined;
    const { url, headers } = this.#destination;
    return {
      url: maskUrl(url),
      headers: Object.fromEntries(Object.keys(headers).map((name) => [name, "***"])),
      registered_at: new Date(this.#registeredAtMs).toISOString(),
    };
  }
}

/** Masks the values of an address's query, which may be secret. */
function maskUrl(url: string): string {
  const shown = new URL(url);
  for (const name of new Set(shown.searchParams.keys())) shown.searchParams.set(name, "***");
  shown.hash = "";
  return shown.href;
}
