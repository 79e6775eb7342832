/** Decides about a DNS query: answer it for a listed name, forward it, or refuse it. */
import { isIPv4, isIPv6 } from "node:net";
import { type Answer, decode, encode, type OptAnswer, type Packet } from "dns-packet";

export type DnsDecision =
  | { kind: "answer"; message: Buffer }
  /** An unlisted name. `refusal` is the answer without an upstream resolver, `failure` when that does not answer. */
  | { kind: "outside"; refusal: Buffer; failure: Buffer }
  /** Not a query: answering a response could cause a loop. */
  | { kind: "ignore" };

export interface DnsList {
  /** @param host in lower case, without final dot */
  knows(host: string): boolean;
  /** The IP address of every name in the list. */
  address: string;
}

/** Size limit of a query; real ones have a few dozen bytes. */
export const MAX_QUERY_BYTES = 4096;

const HEADER_BYTES = 12;
const FORMAT_ERROR = 1;
const SERVER_FAILURE = 2;
const NOT_IMPLEMENTED = 4;
const REFUSED = 5;
/** Bits of the header's second word. */
const IS_RESPONSE = 0x8000;
const OPCODE = 0x7800;
const AUTHORITATIVE = 0x0400;
const RECURSION_DESIRED = 0x0100;
const RECURSION_AVAILABLE = 0x0080;
const INTERNET = 1;
const ANY = 255;
const TYPE_NUMBERS = { A: 1, AAAA: 28 };
const QUESTION_COUNT_AT = 4;
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;
const TYPE_AND_CLASS_BYTES = 4;
const TTL_SECONDS = 5;
/** Our announced UDP payload size, which avoids fragmentation on any path. */
const UDP_PAYLOAD_BYTES = 1232;

/** Decides about any bytes. Never throws. */
export function decideDns(query: Buffer, list: DnsList): DnsDecision {
  if (query.length < HEADER_BYTES) return { kind: "ignore" };
  const flags = query.readUInt16BE(2);
  if (flags & IS_RESPONSE) return { kind: "ignore" };
  if (flags & OPCODE) return { kind: "answer", message: headerOnly(query, NOT_IMPLEMENTED) };
  if (query.length > MAX_QUERY_BYTES || query.readUInt16BE(QUESTION_COUNT_AT) !== 1) {
    return { kind: "answer", message: headerOnly(query, FORMAT_ERROR) };
  }
  const packet = read(query);
  const question = readQuestion(query);
  if (!packet || !question) return { kind: "answer", message: headerOnly(query, FORMAT_ERROR) };
  const reply = (code: number, answers: Answer[] = []): Buffer => {
    const message = encode({
      type: "response",
      id: query.readUInt16BE(0),
      flags: (flags & RECURSION_DESIRED) | RECURSION_AVAILABLE | code,
      answers,
      additionals: packet.additionals?.some(({ type }) => type === "OPT") ? [edns] : [],
    });
    // Echoes the question byte for byte, since resolvers compare it; nothing after it uses compression pointers.
    message.writeUInt16BE(1, QUESTION_COUNT_AT);
    return Buffer.concat([message.subarray(0, HEADER_BYTES), question.bytes, message.subarray(HEADER_BYTES)]);
  };
  if (question.class !== INTERNET || !list.knows(question.name.toLowerCase())) {
    return { kind: "outside", refusal: reply(REFUSED), failure: reply(SERVER_FAILURE) };
  }
  // A listed name exists for every type: no answers means no record of that type, not NXDOMAIN.
  const type = recordTypeOf(list.address);
  const asked = question.type === TYPE_NUMBERS[type] || question.type === ANY;
  const record: Answer = { type, name: question.name, ttl: TTL_SECONDS, data: list.address };
  return { kind: "answer", message: reply(AUTHORITATIVE, asked ? [record] : []) };
}

interface RawQuestion {
  /** The name; empty, and so never listed, when a label contains a dot. */
  name: string;
  type: number;
  class: number;
  bytes: Buffer;
}

/** The first question's bytes. `undefined`: its name is truncated, too long, or compressed. */
function readQuestion(query: Buffer): RawQuestion | undefined {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]; length !== 0; length = query[at]) {
    if (length === undefined || length > MAX_LABEL_BYTES) return undefined;
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
    if (at - HEADER_BYTES > MAX_NAME_BYTES) return undefined;
  }
  const end = at + 1 + TYPE_AND_CLASS_BYTES;
  if (end > query.length) return undefined;
  return {
    name: labels.some((label) => label.includes(".")) ? "" : labels.join("."),
    type: query.readUInt16BE(at + 1),
    class: query.readUInt16BE(at + 3),
    bytes: query.subarray(HEADER_BYTES, end),
  };
}

function read(query: Buffer): Packet | undefined {
  try {
    return decode(query);
  } catch {
    return undefined;
  }
}

function recordTypeOf(address: string): "A" | "AAAA" {
  if (isIPv4(address)) return "A";
  if (isIPv6(address)) return "AAAA";
  throw new Error(`${address} is no IP address, so no name can resolve to it`);
}

const edns: OptAnswer = {
  type: "OPT",
  name: ".",
  udpPayloadSize: UDP_PAYLOAD_BYTES,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

/** An answer without a question, for a query whose question cannot be read. */
function headerOnly(query: Buffer, code: number): Buffer {
  const message = Buffer.alloc(HEADER_BYTES);
  message.writeUInt16BE(query.readUInt16BE(0), 0);
  message.writeUInt16BE(
    IS_RESPONSE | (query.readUInt16BE(2) & (OPCODE | RECURSION_DESIRED)) | RECURSION_AVAILABLE | code,
    2,
  );
  return message;
}
