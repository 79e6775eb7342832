/**
 * Which requests the agent answers at all. A page of any origin can open a WebSocket to a server on the reader's
 * machine, and a page whose name is rebound to that machine (DNS rebinding) can read its answers too: so a foreign
 * `Origin` and an unknown `Host` are refused. A client that is no browser sends no `Origin`.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { hostnameOf, hostnameOfUrl, isLoopbackHost, parseUrl } from "./host-names.ts";
import { FirstTimes, safeText } from "./log.ts";

/** Why a request is refused. */
export interface Refusal {
  status: number;
  /** Label of the metrics. */
  reason: string;
  /** What the client is told. */
  message: string;
}

/** In either list: every one. */
const ANY = "*";
/** Longest part of a header that a message repeats. */
const MAX_SHOWN_CHARACTERS = 120;

export type GuardConfig = Pick<Config, "host" | "publicBaseUrl" | "allowedHosts" | "allowedOrigins">;

export class RequestGuard {
  /** The agent's own names, which need no configuration. */
  readonly #ownHosts: ReadonlySet<string>;
  readonly #allowedHosts: readonly string[];
  readonly #allowedOrigins: ReadonlySet<string>;
  readonly #log: Logger;
  readonly #logged = new FirstTimes();

  constructor({ host, publicBaseUrl, allowedHosts, allowedOrigins }: GuardConfig, log: Logger) {
    const own = [host.toLowerCase(), ...(publicBaseUrl ? [hostnameOfUrl(new URL(publicBaseUrl))] : [])];
    this.#ownHosts = new Set(own);
    this.#allowedHosts = allowedHosts;
    this.#allowedOrigins = new Set(allowedOrigins);
    this.#log = log;
  }

  /** Refuses a request with a foreign `Host`, or from a page of a foreign origin. */
  refusalOf(request: IncomingMessage): Refusal | undefined {
    return this.#foreignHost(request) ?? this.foreignOrigin(request);
  }

  /** Refuses a request from a page of a foreign origin. */
  foreignOrigin({ headers }: IncomingMessage): Refusal | undefined {
    const { origin } = headers;
    if (origin === undefined || this.#isAllowedOrigin(origin, headers.host)) return undefined;
    const shown = safeText(origin, [], MAX_SHOWN_CHARACTERS);
    if (this.#logged.isFirst(`origin ${origin}`)) {
      this.#log.warn(
        { origin: shown },
        "a page of a foreign origin was refused; if it is yours, add it to ALLOWED_ORIGINS",
      );
    }
    const message = `this agent does not answer pages of ${shown || "this origin"}: if that is your own page, add ${shown || "it"} to ALLOWED_ORIGINS`;
    return { status: 403, reason: "foreign_origin", message };
  }

  /** Accepts requests without `Host`, which are HTTP/1.0 and never from a browser. */
  #foreignHost({ headers: { host } }: IncomingMessage): Refusal | undefined {
    if (host === undefined) return undefined;
    const hostname = hostnameOf(host);
    if (this.#isOwnHost(hostname)) return undefined;
    // Without port, as in ALLOWED_HOSTS.
    const shown = safeText(hostname ?? host, [], MAX_SHOWN_CHARACTERS);
    if (this.#logged.isFirst(`host ${shown}`)) {
      this.#log.warn(
        { host: shown },
        "a request for an unknown host was refused; if the agent is reached by this name, add it to ALLOWED_HOSTS",
      );
    }
    const message = hostname
      ? `this agent does not go by the host name ${shown}: if it is reached by it, add ${shown} to ALLOWED_HOSTS`
      : "the Host header is not a host name with or without a port; names of this agent are in ALLOWED_HOSTS";
    return { status: 403, reason: "foreign_host", message };
  }

  /** Accepts IP addresses, because DNS rebinding needs a name. */
  #isOwnHost(hostname: string | undefined): boolean {
    if (this.#allowedHosts.includes(ANY)) return true;
    if (hostname === undefined || hostname === "") return false;
    return isIP(hostname) !== 0 || isLoopbackHost(hostname) || this.#isNamed(hostname);
  }

  #isNamed(hostname: string): boolean {
    const isAllowed = (name: string) => {
      if (name.startsWith("*.")) return hostname.endsWith(name.slice(1));
      return name.startsWith(".") ? `.${hostname}`.endsWith(name) : hostname === name;
    };
    return this.#ownHosts.has(hostname) || this.#allowedHosts.some(isAllowed);
  }

  /** `null`, the origin of sandboxed frames and files, can be any page's, so it must be in the list. */
  #isAllowedOrigin(origin: string, host: string | undefined): boolean {
    if (this.#allowedOrigins.has(ANY) || this.#allowedOrigins.has(origin.toLowerCase())) return true;
    const url = parseUrl(origin);
    if (url?.protocol !== "http:" && url?.protocol !== "https:") return false;
    const hostname = hostnameOfUrl(url);
    // `Host` was checked before, or belongs to the tunnel.
    const sameHost = host !== undefined && hostname === hostnameOf(host);
    return isLoopbackHost(hostname) || this.#isNamed(hostname) || sameHost;
  }
}

/** Middleware that answers refused requests and passes on all others. */
export function refuseRequests(
  refusalOf: (request: IncomingMessage) => Refusal | undefined,
  onRefused: (reason: string) => void,
): RequestHandler {
  return (request, response, next) => {
    const refusal = refusalOf(request);
    if (refusal === undefined) {
      next();
      return;
    }
    onRefused(refusal.reason);
    response.status(refusal.status).json({ error: refusal.message });
  };
}
