/** Makes the twins reachable by the vendors' host names: DNS, TLS, and what a program needs to use both. */
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
  /** Who is asked about names outside the list; absent: such queries are refused. */
  upstream?: Resolver;
  /** Whose queries are passed on; default `loopback`. */
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

/** A twin with a protocol of its own is reached where it listens, not through the gateway. */
function placeOf(url: string): { place?: { host: string; port: number } } {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === "http:" || port === "") return {};
  return { place: { host: hostname, port: Number(port) } };
}
