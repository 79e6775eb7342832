/** Signing in to the console, by a code in the address or at `/console/session`, and out again. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import { z } from "zod";
import type { ApiKeys } from "../http/api-keys.ts";
import { errorResponse, ownRefusal, readBodyAs } from "../http/errors.ts";
import { readBody } from "../http/http.ts";
import type { VendorResponse } from "../http/operation.ts";
import { pageOf, type Session, type Sessions } from "../http/session.ts";
import type { Local } from "../sandboxes/serve.ts";
import type { ConsoleCodes } from "./console-codes.ts";

const CREDENTIAL_BYTES = 4096;

const credential = z.union(
  [
    z.strictObject({ api_key: z.string().min(1).max(1024) }),
    z.strictObject({ code: z.string().min(1).max(1024) }),
  ],
  `must be {"api_key": "…"} or {"code": "…"}`,
);

const noStore = { "cache-control": "no-store" };
const methods = ["GET", "POST", "DELETE"] as const;

interface ConsoleSessionOptions {
  keys: ApiKeys;
  codes: ConsoleCodes;
  sessions: Sessions;
  /** Paths of the project's routes that an organisation may ask, for the pages to know what there is. */
  projectRoutesOf(organisation: string): readonly string[];
}

export interface ConsoleSession {
  /** Answers a request to `/console/session`; `undefined`: its client has left. */
  answer(req: IncomingMessage, res: ServerResponse, address: Local): Promise<VendorResponse | undefined>;
  /** Signs in by the code of an address. @returns a redirect to the address without it; `undefined`: there is no session */
  exchange(req: IncomingMessage, res: ServerResponse, address: Local): VendorResponse | undefined;
}

export function createConsoleSession({
  keys,
  codes,
  sessions,
  projectRoutesOf,
}: ConsoleSessionOptions): ConsoleSession {
  const wrongKeys = new FailureLimit();

  function organisationOf(given: z.output<typeof credential>): string | undefined {
    if ("code" in given) return codes.redeem(given.code);
    const organisation = keys.organisationOf(given.api_key);
    if (organisation === undefined) wrongKeys.count();
    return organisation;
  }

  async function signIn(req: IncomingMessage, res: ServerResponse): Promise<VendorResponse | undefined> {
    const reading = await readBody(req, CREDENTIAL_BYTES);
    if (reading.kind === "gone") return undefined;
    if (reading.kind === "too-large") {
      return ownRefusal({ kind: "body-too-large", limitBytes: CREDENTIAL_BYTES });
    }
    if (reading.kind === "malformed") {
      return ownRefusal({ kind: "malformed-request", message: reading.message });
    }
    const given = readBodyAs(reading, credential);
    if (!given.ok) return given.response;
    const waitMs = "api_key" in given.value ? wrongKeys.waitMs() : 0;
    if (waitMs > 0) return tooManyResponse(waitMs);
    const organisation = organisationOf(given.value);
    if (organisation === undefined) return wrongCredential;
    res.setHeader("set-cookie", sessions.start(organisation).cookies);
    return { status: 204, headers: noStore };
  }

  return {
    async answer(req, res, { path }) {
      const { method = "GET", headers } = req;
      const page = pageOf(headers);
      if (method === "GET" || method === "HEAD") {
        const session = page === "own" ? sessions.find(headers) : undefined;
        return session ? sessionResponse(session, projectRoutesOf(session.organisation)) : noSession;
      }
      if (method !== "POST" && method !== "DELETE") {
        return ownRefusal({ kind: "unknown-path", method, path, allowed: methods });
      }
      if (page === "other") return foreignPage;
      if (method === "POST") return signIn(req, res);
      res.setHeader("set-cookie", sessions.removal);
      return { status: 204, headers: noStore };
    },

    exchange(req, res, address) {
      const code = req.method === "GET" ? new URLSearchParams(address.query).get("code") : null;
      if (code === null) return undefined;
      const organisation = codes.redeem(code);
      if (organisation !== undefined) res.setHeader("set-cookie", sessions.start(organisation).cookies);
      // The page that led here does not matter: nothing but the same address is answered.
      else if (!sessions.find(req.headers)) return undefined;
      return { status: 303, headers: { ...noStore, location: withoutCode(address) } };
    },
  };
}

const WRONG_KEYS = 10;
const WRONG_KEY_EVERY_MS = 6000;

/** Bounds wrong keys, however many connections they come over: a few at once, then one every few seconds. */
export class FailureLimit {
  readonly #now: () => number;
  /** When the failures so far are forgotten. */
  #forgottenAtMs = Number.NEGATIVE_INFINITY;

  /** @param now a monotonic time in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How long the next attempt has to wait; 0: it may be made. */
  waitMs(): number {
    return Math.max(0, this.#forgottenAtMs - this.#now() - (WRONG_KEYS - 1) * WRONG_KEY_EVERY_MS);
  }

  /** Counts a failed attempt. */
  count(): void {
    this.#forgottenAtMs = Math.max(this.#forgottenAtMs, this.#now()) + WRONG_KEY_EVERY_MS;
  }
}

function sessionResponse(
  { organisation, expiresAtMs }: Session,
  projectRoutes: readonly string[],
): VendorResponse {
  const expires_at = new Date(expiresAtMs).toISOString();
  const routes = projectRoutes.length > 0 ? { project_routes: projectRoutes } : {};
  const body = { organisation, expires_at, ...routes };
  return { status: 200, headers: noStore, body };
}

function tooManyResponse(waitMs: number): VendorResponse {
  const seconds = Math.ceil(waitMs / 1000);
  const message = `there were too many wrong keys: try again in ${seconds} s, or open a link of POST /console/codes`;
  return {
    ...errorResponse(429, "too_many_attempts", message),
    headers: { ...noStore, "retry-after": String(seconds) },
  };
}

/** The address of a request without `code`, its other parameters as they were written. */
function withoutCode({ path, query }: Local): string {
  const rest = query.split("&").filter((part) => !new URLSearchParams(part).has("code"));
  return rest.length === 0 ? path : `${path}?${rest.join("&")}`;
}

const wrongCredential = errorResponse(
  401,
  "unauthorized",
  "there is no such key, or the code is used or old",
);
const noSession = errorResponse(
  401,
  "unauthorized",
  "there is no session: open the link that npm run twins prints, or POST {api_key} or {code} here",
);
const foreignPage = errorResponse(403, "forbidden", "only the console's own pages may sign in and out");
