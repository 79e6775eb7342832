/** Forwards a DNS query to another resolver and returns its answer unchanged. */
import { randomInt } from "node:crypto";
import dgram from "node:dgram";
import net, { isIPv6 } from "node:net";
import { messageReader, prefixLength } from "./dns-stream.ts";

export interface Resolver {
  /** IP address. */
  host: string;
  port: number;
}

export type Transport = "udp" | "tcp";

/** Timeout of a resolver. */
const ANSWER_MS = 5000;
const MAX_ID = 0x10000;
const IS_RESPONSE = 0x8000;

/** Forwards by the transport of the query, so that size limits and truncation need no translation. `undefined`: no answer. */
export async function askUpstream(
  query: Buffer,
  resolver: Resolver,
  transport: Transport,
): Promise<Buffer | undefined> {
  const asked = Buffer.from(query);
  // A random id and a fresh port per query prevent spoofed answers.
  asked.writeUInt16BE(randomInt(MAX_ID), 0);
  const answer = await (transport === "udp" ? askByUdp : askByTcp)(asked, resolver);
  answer?.writeUInt16BE(query.readUInt16BE(0), 0);
  return answer;
}

function answers(message: Buffer, asked: Buffer): boolean {
  if (message.length < 12 || message.readUInt16BE(0) !== asked.readUInt16BE(0)) return false;
  return (message.readUInt16BE(2) & IS_RESPONSE) !== 0;
}

function askByUdp(asked: Buffer, { host, port }: Resolver): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = dgram.createSocket(isIPv6(host) ? "udp6" : "udp4");
    const finish = (answer?: Buffer) => {
      clearTimeout(timer);
      socket.removeAllListeners().on("error", () => undefined);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(finish, ANSWER_MS);
    socket.on("error", () => finish());
    socket.on("message", (message) => {
      if (answers(message, asked)) finish(message);
    });
    // A connected socket accepts packets only from its peer.
    socket.connect(port, host, () => socket.send(asked));
  });
}

function askByTcp(asked: Buffer, { host, port }: Resolver): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    const finish = (answer?: Buffer) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(finish, ANSWER_MS);
    const read = messageReader((message) => {
      if (answers(message, asked)) finish(message);
    });
    socket.on("error", () => finish());
    socket.on("close", () => finish());
    socket.on("data", read);
    socket.write(prefixLength(asked));
  });
}
