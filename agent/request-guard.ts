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
import { hostnameOf, hostnameOfUrl, isLoopbackHost, parsedUrl } from "./host-names.ts";
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
  /** Names that are the agent's own without further saying. */
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

  /** Refuses a request for a host that is not this agent, or of a page that may not use it. */
  refusalOf(request: IncomingMessage): Refusal | undefined {
    return this.#foreignHost(request) ?? this.foreignOrigin(request);
  }

  /** Refuses a request of a page that may not use the agent. */
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

  /** HTTP/1.0 knows requests without `Host`; no browser sends them. */
  #foreignHost({ headers: { host } }: IncomingMessage): Refusal | undefined {
    if (host === undefined) return undefined;
    const hostname = hostnameOf(host);
    if (this.#isOwnHost(hostname)) return undefined;
    // As ALLOWED_HOSTS takes it: without port.
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

  /** Rebinding needs a name: an address leads where it says. */
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

  /** `null`, the origin of sandboxed frames and of files, can be any page's: it is foreign unless it is in the list. */
  #isAllowedOrigin(origin: string, host: string | undefined): boolean {
    if (this.#allowedOrigins.has(ANY) || this.#allowedOrigins.has(origin.toLowerCase())) return true;
    const url = parsedUrl(origin);
    if (url?.protocol !== "http:" && url?.protocol !== "https:") return false;
    const hostname = hostnameOfUrl(url);
    // The request's own host has passed already, or is the tunnel's.
    const sameHost = host !== undefined && hostname === hostnameOf(host);
    return isLoopbackHost(hostname) || this.#isNamed(hostname) || sameHost;
  }
}

/** Answers a request that is refused, and lets every other pass. */
export function refusing(
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
