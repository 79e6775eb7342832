/**
 * Answers DNS queries over UDP and TCP. Listed names resolve to the gateway; other queries are forwarded to a resolver, or
 * refused, so that no answer is ever wrong.
 */
import dgram from "node:dgram";
import net, { BlockList, isIPv4, isIPv6 } from "node:net";
import type { Logger } from "pino";
import { explainListenError, listen } from "../http/listen.ts";
import { type DnsList, decideDns, MAX_QUERY_BYTES } from "./dns-answer.ts";
import { messageReader, prefixLength } from "./dns-stream.ts";
import { askUpstream, type Resolver, type Transport } from "./dns-upstream.ts";

export interface DnsResponderOptions {
  host: string;
  /** Used for UDP and TCP; 0 takes a free one. */
  port: number;
  list: DnsList;
  /** Resolver for unlisted names; absent: such queries are refused. */
  upstream?: Resolver;
  /** Clients whose queries are forwarded: an open resolver can be abused for amplification attacks. Default `loopback`. */
  forwardFor?: ForwardFor;
  log: Logger;
}

/** Clients whose queries about unlisted names are forwarded: those of this machine, or all. */
export type ForwardFor = "loopback" | "all";

export interface DnsResponder {
  port: number;
  close(): Promise<void>;
}

/** Concurrent forwarded queries; further ones are answered as failed, so that clients retry. */
const MAX_PASSED_ON = 256;
const MAX_CONNECTIONS = 128;
/** Idle connections are closed after this time. */
const IDLE_MS = 10_000;
/** Unanswered queries per connection. */
const MAX_WAITING = 32;
/** Retries, since a free UDP port may be in use for TCP. */
const PORT_ATTEMPTS = 10;

/** @throws Error naming the port and the way out. */
export async function startDnsResponder(options: DnsResponderOptions): Promise<DnsResponder> {
  let passedOn = 0;

  async function respond(
    query: Buffer,
    client: string | undefined,
    transport: Transport,
  ): Promise<Buffer | undefined> {
    const decision = decideDns(query, options.list);
    if (decision.kind === "ignore") return undefined;
    if (decision.kind === "answer") return decision.message;
    if (!options.upstream || !(options.forwardFor === "all" || isLoopback(client))) return decision.refusal;
    if (passedOn >= MAX_PASSED_ON) return decision.failure;
    passedOn++;
    try {
      return (await askUpstream(query, options.upstream, transport)) ?? decision.failure;
    } finally {
      passedOn--;
    }
  }

  const { udp, tcp, port } = await bind(options.host, options.port);
  let closed = false;
  udp.on("message", (query, from) => {
    respond(query, from.address, "udp").then(
      (answer) => {
        if (answer && !closed) udp.send(answer, from.port, from.address);
      },
      (error: unknown) => options.log.error({ err: error }, "a DNS query could not be answered"),
    );
  });
  udp.on("error", (error) => options.log.warn({ err: error }, "the DNS socket failed"));
  const connections = new Set<net.Socket>();
  tcp.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    const client = socket.remoteAddress;
    serveConnection(socket, (query) => respond(query, client, "tcp"));
  });
  return {
    port,
    async close() {
      closed = true;
      const gone = new Promise<void>((resolve) => tcp.close(() => resolve()));
      for (const socket of connections) socket.destroy();
      await new Promise<void>((resolve) => udp.close(resolve));
      await gone;
    },
  };
}

function serveConnection(socket: net.Socket, respond: (query: Buffer) => Promise<Buffer | undefined>): void {
  let waiting = 0;
  const take = (query: Buffer) => {
    // Disconnects a client that sends too much or does not read the answers.
    if (socket.destroyed || query.length > MAX_QUERY_BYTES || waiting >= MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting++;
    respond(query).then(
      (answer) => {
        if (answer && !socket.destroyed) socket.write(prefixLength(answer), () => waiting--);
        else waiting--;
      },
      () => socket.destroy(),
    );
  };
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("data", messageReader(take));
}

/** Handles IPv4 addresses mapped to IPv6 (`::ffff:127.0.0.1`) too. */
function isLoopback(address = ""): boolean {
  if (isIPv4(address)) return loopback.check(address, "ipv4");
  return isIPv6(address) && loopback.check(address, "ipv6");
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

interface Bound {
  udp: dgram.Socket;
  tcp: net.Server;
  port: number;
}

async function bind(host: string, wanted: number): Promise<Bound> {
  for (let attempt = 1; ; attempt++) {
    const udp = await bindUdp(host, wanted);
    const { port } = udp.address();
    const tcp = net.createServer();
    tcp.maxConnections = MAX_CONNECTIONS;
    try {
      await listen(tcp, host, port, "TWINS_DNS_PORT");
      return { udp, tcp, port };
    } catch (error) {
      udp.close();
      if (wanted !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

function bindUdp(host: string, port: number): Promise<dgram.Socket> {
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket(isIPv6(host) ? "udp6" : "udp4");
    const refuse = (error: Error) => {
      socket.close();
      reject(explainListenError(error, host, port, "TWINS_DNS_PORT"));
    };
    socket.once("error", refuse);
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.removeListener("error", refuse);
      resolve(socket);
    });
  });
}
