/**
 * Which hosts and origins are answered. Any web page can send requests to this machine, and with a host name that resolves
 * to 127.0.0.1 (DNS rebinding) it can also read the answers. The browser reveals it: `Host` is the page's name, `Origin` the
 * page's origin.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Logger } from "pino";
import { z } from "zod";
import { hostName } from "./address.ts";

export interface AccessPolicyOptions {
  /** What the twins listen on: a name or an address. */
  ownHost: string;
  /** Whether a twin answers to a host name. */
  isTwinName(host: string): boolean;
  /** Further host names, from `ALLOWED_HOSTS`. */
  allowedHosts: readonly string[];
  /** Further origins, from `ALLOWED_ORIGINS`. */
  allowedOrigins: readonly string[];
  log: Logger;
}

export interface AccessPolicy {
  /** Why a request is refused, and which setting would allow it; `undefined` when it is allowed. */
  refuse(req: IncomingMessage): string | undefined;
}

/** Allows everything, in either list. */
const ANY = "*";
/** How much of a header a message repeats. */
const SHOWN_CHARACTERS = 200;
/** Each refused host or origin is logged once, up to this many. */
const LOGGED = 100;

export function createAccessPolicy(options: AccessPolicyOptions): AccessPolicy {
  const { allowedHosts, allowedOrigins, log } = options;
  const ownHost = bareHost(options.ownHost);
  const logged = new Set<string>();

  function isOwnName(host: string): boolean {
    return (
      isLoopback(host) ||
      host === ownHost ||
      options.isTwinName(host) ||
      allowedHosts.some((allowed) => covers(allowed, host))
    );
  }

  function isForeignHost(host: string): boolean {
    // DNS rebinding needs a name: an IP address does not resolve to another one.
    return !allowedHosts.includes(ANY) && isIP(host) === 0 && !isOwnName(host);
  }

  function isForeignOrigin(origin: string, host: string): boolean {
    if (allowedOrigins.some((allowed) => allowed === ANY || allowed === origin.toLowerCase())) return false;
    const page = pageHost(origin);
    // Pages of this machine belong to its owner, whatever their port.
    return page === undefined || !(page === host || isOwnName(page));
  }

  function note(message: string): string {
    if (logged.size < LOGGED && !logged.has(message)) {
      logged.add(message);
      log.warn(message);
    }
    return message;
  }

  return {
    refuse(req) {
      const hosts = hostsOf(req);
      const foreign = hosts.find(isForeignHost);
      if (foreign !== undefined) {
        const host = foreign.slice(0, SHOWN_CHARACTERS);
        return note(
          `the twins do not answer to the host name ${host}: if it is yours, start them with ALLOWED_HOSTS=${host}, or give it to a service as one of its dns_aliases`,
        );
      }
      const origin = originOf(req);
      if (origin === undefined || !isForeignOrigin(origin, hosts[0] ?? "")) return undefined;
      const shown = origin.slice(0, SHOWN_CHARACTERS);
      return note(
        shown === "null"
          ? "the twins do not answer pages of other sites, and this one has no origin (a file, or a frame of a page): serve it from localhost, or start the twins with ALLOWED_ORIGINS=null"
          : `the twins do not answer pages of other sites, and this request is of ${shown}: if that is your own page, start them with ALLOWED_ORIGINS=${shown}`,
      );
    },
  };
}

/** The host names of a request; empty for an HTTP/1.0 client without `Host`. */
function hostsOf(req: IncomingMessage): string[] {
  const target = req.url ?? "/";
  const named = target.startsWith("/") || !URL.canParse(target) ? undefined : new URL(target).host;
  return [named, req.headers.host].filter((host) => !!host).map((host = "") => bareHost(host));
}

/**
 * The origin of the page that sent a request; `undefined` when no page did, or when the user navigates here. For images,
 * frames and scripts, whose requests cost time and fill journals, browsers send `Sec-Fetch-Site` instead of `Origin`.
 * Navigation is allowed: no page can read what a link opens.
 */
function originOf({ headers, method }: IncomingMessage): string | undefined {
  if (headers.origin !== undefined) return headers.origin;
  if (headers["sec-fetch-site"] !== "cross-site") return undefined;
  const isVisit =
    method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  if (isVisit) return undefined;
  // `localhost` and `127.0.0.1` are different sites, so check the referrer. A page can suppress this header, but not forge it.
  return headers.referer !== undefined && URL.canParse(headers.referer)
    ? new URL(headers.referer).origin
    : "null";
}

function pageHost(origin: string): string | undefined {
  if (!URL.canParse(origin)) return undefined;
  const { protocol, host } = new URL(origin);
  return protocol === "http:" || protocol === "https:" ? bareHost(host) : undefined;
}

/** Normalizes a host: lower case, without port, brackets and final dot. */
function bareHost(host: string): string {
  return isIP(host) ? host : hostName(host).replace(/^\[(.*)\]$/, "$1");
}

function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

/** `*.example.com` covers every name below example.com, `.example.com` that name too. */
function covers(allowed: string, host: string): boolean {
  if (allowed.startsWith("*.")) return host.endsWith(allowed.slice(1));
  return allowed.startsWith(".") ? `.${host}`.endsWith(allowed) : host === allowed;
}

const names = z.string().transform((text) =>
  text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((name) => name !== ""),
);

/** `ALLOWED_HOSTS`: host names, separated by commas. */
export const allowedHostsSetting = names.pipe(
  z.array(
    z.string().refine((name) => name === ANY || isHost(name.replace(/^\*?\./, "")), {
      error:
        "must be host names such as twins or *.example.com, separated by commas, without scheme and port",
    }),
  ),
);

/** `ALLOWED_ORIGINS`: origins as browsers send them, separated by commas. */
export const allowedOriginsSetting = names.pipe(
  z.array(
    z.string().refine((origin) => origin === ANY || origin === "null" || isOrigin(origin), {
      error:
        "must be origins as browsers send them, such as https://app.example.com or http://localhost:3000, separated by commas: without a path, the scheme's own port, or a * in them; or * alone",
    }),
  ),
);

function isHost(name: string): boolean {
  return (
    !name.includes("*") && URL.canParse(`http://${name}`) && bareHost(new URL(`http://${name}`).host) === name
  );
}

/** Compares the text itself, since `URL.origin` is `null` for the schemes of browser extensions. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return host !== "" && !host.includes("*") && `${protocol}//${host}` === text;
}
