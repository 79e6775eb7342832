/**
 * Sessions of the console, for browsers, which cannot set a header on event streams, sounds and downloads: a signed cookie
 * stands for an organisation's key. The server stores none of them.
 */
import { createHmac, hkdfSync, randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { wallTime } from "../base/clock.ts";
import { CONSOLE_SECRET_PREFIX } from "../journal/known-secrets.ts";
import type { KeyEntry } from "./api-keys.ts";

/** How long a session lasts. */
const SESSION_MS = 12 * 3_600_000;

/** The paths the cookie is sent to. Those of vendor APIs are not among them. */
const PATHS = ["/c/", "/sandboxes", "/environments", "/console"];
/** 192 bits: 32 characters, all of which the journal's mask knows as a secret. */
const SIGNATURE_BYTES = 24;
const SECRET_BYTES = 32;
/** Cookies of the same name that are tried: another program of the machine may have set some. */
const MAX_TRIED = 8;

export interface Session {
  organisation: string;
  expiresAtMs: number;
}

export interface Sessions {
  /** Starts a session. @returns the values of its `Set-Cookie` headers, too */
  start(organisation: string): { session: Session; cookies: string[] };
  /** The session whose cookie a request carries, whichever page sent it. */
  find(headers: IncomingHttpHeaders): Session | undefined;
  /** The values of the `Set-Cookie` headers that remove the cookie. */
  removal: string[];
}

export interface SessionsOptions {
  /** Address of the gateway. Its port is part of the cookie's name, since cookies do not distinguish ports. */
  baseUrl: string;
  /** The organisation that `apiKey` belongs to. */
  owner: string;
  apiKey: string;
  /** All keys; the owner's sessions end when its keys change. */
  keys: readonly KeyEntry[];
  /** Further paths that the cookie is sent to; default none. */
  paths?: readonly string[];
}

/**
 * Creates the sessions of all organisations. The owner's outlast a restart with the same keys. Those of other organisations
 * do not: whoever knows the owner's key could sign them if their secret depended on it.
 */
export function createSessions(options: SessionsOptions): Sessions {
  const name = `offhook_console_${new URL(options.baseUrl).port || "80"}`;
  const secrets = new Map<string, Buffer>();

  function secretOf(organisation: string): Buffer {
    let secret = secrets.get(organisation);
    if (!secret) {
      secret = organisation === options.owner ? deriveSecret(options) : randomBytes(SECRET_BYTES);
      secrets.set(organisation, secret);
    }
    return secret;
  }

  function signature(claims: string, secret: Buffer): Buffer {
    return createHmac("sha256", secret).update(claims).digest().subarray(0, SIGNATURE_BYTES);
  }

  function read(token: string): Session | undefined {
    if (!token.startsWith(CONSOLE_SECRET_PREFIX)) return undefined;
    const [signed = "", organisation = "", seconds = "", ...more] = token
      .slice(CONSOLE_SECRET_PREFIX.length)
      .split(".");
    const given = Buffer.from(signed, "base64url");
    // Any organisation may be written here; only those that have signed in have a secret.
    const known = organisation === options.owner || secrets.has(organisation);
    if (!known || more.length > 0 || given.length !== SIGNATURE_BYTES) return undefined;
    const expected = signature(`${organisation}.${seconds}`, secretOf(organisation));
    if (!timingSafeEqual(given, expected)) return undefined;
    const expiresAtMs = Number(seconds) * 1000;
    return expiresAtMs > wallTime() ? { organisation, expiresAtMs } : undefined;
  }

  function cookies(value: string, maxAgeSeconds: number): string[] {
    const attributes = `HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`;
    return [...PATHS, ...(options.paths ?? [])].map(
      (path) => `${name}=${value}; Path=${path}; ${attributes}`,
    );
  }

  return {
    start(organisation) {
      const seconds = Math.floor((wallTime() + SESSION_MS) / 1000);
      const claims = `${organisation}.${seconds}`;
      const signed = signature(claims, secretOf(organisation)).toString("base64url");
      return {
        session: { organisation, expiresAtMs: seconds * 1000 },
        cookies: cookies(`${CONSOLE_SECRET_PREFIX}${signed}.${claims}`, SESSION_MS / 1000),
      };
    },
    find({ cookie = "" }) {
      const values = cookie.split(";").flatMap((pair) => {
        const [key = "", value = ""] = pair.trim().split("=");
        return key === name ? [value] : [];
      });
      for (const value of values.slice(0, MAX_TRIED)) {
        const session = read(value);
        if (session) return session;
      }
      return undefined;
    },
    removal: cookies("", 0),
  };
}

/** Slow on purpose: whoever got hold of a cookie must not find out a short key by trying. */
function deriveSecret({ owner, apiKey, keys }: SessionsOptions): Buffer {
  const hashes = keys.filter(({ organisation }) => organisation === owner).map(({ sha256 }) => sha256);
  const stretched = scryptSync(apiKey, "offhook console session", SECRET_BYTES);
  return Buffer.from(hkdfSync("sha256", stretched, "", hashes.sort().join(), SECRET_BYTES));
}

/**
 * Which page sent a request: one of the requested host itself, another one, or no page.
 *
 * A page of another port of this machine is of the same site, so its requests carry the cookie although it is `SameSite`; but
 * it is of another origin, which browsers say in `Sec-Fetch-Site`. To hosts without TLS other than this machine they do not
 * send that header; there `Origin` or `Referer` names the page. No page can forge these headers.
 */
export function pageOf({ host, origin, referer, ...headers }: IncomingHttpHeaders): "own" | "other" | "none" {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" ? "own" : site === "none" ? "none" : "other";
  const page = origin ?? referer;
  if (page === undefined) return "none";
  return host !== undefined && URL.canParse(page) && new URL(page).host === host.toLowerCase()
    ? "own"
    : "other";
}
