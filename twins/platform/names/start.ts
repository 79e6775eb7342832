/** Makes the twins reachable by the vendors' host names: DNS, TLS, and the settings that a program needs for both. */
import { lookup } from "node:dns/promises";
import path from "node:path";
import type { Logger } from "pino";
import { portOf } from "../http/listen.ts";
import type { RunningTwins } from "../server/start.ts";
import { openAuthority } from "./authority.ts";
import { type DnsResponder, type ForwardFor, startDnsResponder } from "./dns-responder.ts";
import type { Resolver } from "./dns-upstream.ts";
import type { NamedHost, Names } from "./names.ts";
import { startTlsListener } from "./tls-listener.ts";

export interface NamesOptions {
  twins: RunningTwins;
  /** Address to listen on; default 127.0.0.1. */
  host?: string;
  /** Default 0, a free port. */
  tlsPort?: number;
  /** UDP and TCP; default 0, a free port. */
  dnsPort?: number;
  /** Resolver for unlisted names; absent: such queries are refused. */
  upstream?: Resolver;
  /** Clients whose queries are forwarded; default `loopback`. */
  forwardFor?: ForwardFor;
  /** IP address that the names resolve to by DNS; default: the gateway's. */
  answer?: string;
  /** Where the authority is kept; default `.offhook` in the current folder. */
  folder?: string;
  log: Logger;
}

export interface RunningNames {
  names: Names;
  stop(): Promise<void>;
}

/** Starts the TLS listener and the DNS responder. @throws Error naming the port, or the file of the authority. */
export async function startNames(options: NamesOptions): Promise<RunningNames> {
  const { twins, host = "127.0.0.1", log } = options;
  const gateway = new URL(twins.baseUrl);
  const { address } = await lookup(gateway.hostname.replace(/^\[|\]$/g, ""));
  const knows = (name: string) => twins.hostNames.host(name) !== undefined;
  const authority = await openAuthority(options.folder ?? path.resolve(".offhook"));
  const tls = await startTlsListener({
    host,
    port: options.tlsPort ?? 0,
    authority,
    knows,
    accept: twins.accept,
    log,
  });
  let dns: DnsResponder;
  try {
    dns = await startDnsResponder({
      host,
      port: options.dnsPort ?? 0,
      list: { knows, address: options.answer ?? address },
      ...(options.upstream ? { upstream: options.upstream } : {}),
      ...(options.forwardFor ? { forwardFor: options.forwardFor } : {}),
      log,
    });
  } catch (error) {
    await tls.close();
    throw error;
  }
  return {
    names: {
      address,
      http_port: portOf(twins.baseUrl),
      tls_port: tls.port,
      dns_port: dns.port,
      dns_forwards: options.upstream !== undefined,
      ca_file: authority.certificateFile,
      hosts: hostsOf(twins),
    },
    async stop() {
      await Promise.all([tls.close(), dns.close()]);
    },
  };
}

function hostsOf(twins: RunningTwins): NamedHost[] {
  return twins.hostNames.hosts().map(({ pattern, target }) => {
    const sandbox = twins.sandboxes.find(({ id }) => id === target.sandbox);
    const url = sandbox?.twins.find(({ name }) => name === target.twin)?.url;
    return { name: pattern, ...target, ...(url === undefined ? {} : placeOf(url)) };
  });
}

/** The address of a twin with its own protocol, which does not go through the gateway. */
function placeOf(url: string): { place?: { host: string; port: number } } {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === "http:" || port === "") return {};
  return { place: { host: hostname, port: Number(port) } };
}
