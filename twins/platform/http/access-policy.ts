/**
 * Which hosts and origins are answered. A page of any site can send requests to this machine, and with a host name of its
 * own that it lets resolve to 127.0.0.1 (DNS rebinding) it can read the answers as well. The browser gives it away: its
 * `Host` is the page's name, its `Origin` the page's origin.
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
  /** Further host names, as `ALLOWED_HOSTS` has them. */
  allowedHosts: readonly string[];
  /** Further origins, as `ALLOWED_ORIGINS` has them. */
  allowedOrigins: readonly string[];
  log: Logger;
}

export interface AccessPolicy {
  /** Why a request is not answered, and what to set if it should be; `undefined`: it is. */
  refuse(req: IncomingMessage): string | undefined;
}

/** In either list: every one. */
const ANY = "*";
/** Longest part of a header that a message repeats. */
const SHOWN_CHARACTERS = 200;
/** Each refused host or origin is logged once, and at most so many. */
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
    // A page cannot have an address resolve to another one.
    return !allowedHosts.includes(ANY) && isIP(host) === 0 && !isOwnName(host);
  }

  function isForeignOrigin(origin: string, host: string): boolean {
    if (allowedOrigins.some((allowed) => allowed === ANY || allowed === origin.toLowerCase())) return false;
    const page = pageHost(origin);
    // Pages of this machine, whatever their port, are its owner's.
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

/** The host names of a request; none for a client of HTTP/1.0 that names none. */
function hostsOf(req: IncomingMessage): string[] {
  const target = req.url ?? "/";
  const named = target.startsWith("/") || !URL.canParse(target) ? undefined : new URL(target).host;
  return [named, req.headers.host].filter((host) => !!host).map((host = "") => bareHost(host));
}

/**
 * The origin of the page that a request comes from; `undefined`: no page, or one that the user goes to. Browsers leave
 * `Origin` out of images, frames, scripts and the like, whose requests cost time and fill journals, but say
 * `Sec-Fetch-Site`; what a link opens is for the user to see, and no page can read it.
 */
function originOf({ headers, method }: IncomingMessage): string | undefined {
  if (headers.origin !== undefined) return headers.origin;
  if (headers["sec-fetch-site"] !== "cross-site") return undefined;
  const isVisit =
    method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  if (isVisit) return undefined;
  // `localhost` and `127.0.0.1` are two sites. A page can keep this header back, but not forge it.
  return headers.referer !== undefined && URL.canParse(headers.referer)
    ? new URL(headers.referer).origin
    : "null";
}

function pageHost(origin: string): string | undefined {
  if (!URL.canParse(origin)) return undefined;
  const { protocol, host } = new URL(origin);
  return protocol === "http:" || protocol === "https:" ? bareHost(host) : undefined;
}

/** In lower case, without port, brackets and a dot at the end. */
function bareHost(host: string): string {
  return isIP(host) ? host : hostName(host).replace(/^\[(.*)\]$/, "$1");
}

function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

/** `*.example.com` is every name below it, `.example.com` that name too. */
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

/** `ALLOWED_HOSTS`: host names with commas between. */
export const allowedHostsSetting = names.pipe(
  z.array(
    z.string().refine((name) => name === ANY || isHost(name.replace(/^\*?\./, "")), {
      error:
        "must be host names such as twins or *.example.com, separated by commas, without scheme and port",
    }),
  ),
);

/** `ALLOWED_ORIGINS`: origins as browsers send them, with commas between. */
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

/** Schemes of extensions have origins too, but `URL` knows none of theirs. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return host !== "" && !host.includes("*") && `${protocol}//${host}` === text;
}
