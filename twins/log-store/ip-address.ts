/** IP addresses as 128 bits, with IPv4 mapped to `::ffff:0:0/96`, as the vendor orders them. */
import { isIPv4, isIPv6 } from "node:net";

const V4_PREFIX = 0xffffn << 32n;

/** `undefined` for text that is no address. */
export function parseIp(text: string): bigint | undefined {
  if (isIPv4(text)) return V4_PREFIX | v4Bits(text);
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const plain = dotted ? `${dotted[1]}${hexPairs(v4Bits(dotted[2] ?? ""))}` : text;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros: string[] = tail === undefined ? [] : Array(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function v4Bits(text: string): bigint {
  return text.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function hexPairs(bits: bigint): string {
  return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;
}

/** As the vendor prints it: dotted IPv4, and IPv6 with its longest run of zeros compressed. */
export function formatIp(bits: bigint): string {
  if (bits >> 32n === 0xffffn) {
    return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 0xffn)).join(".");
  }
  const groups = Array.from({ length: 8 }, (_, index) =>
    Number((bits >> BigInt(112 - index * 16)) & 0xffffn),
  );
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.start === -1) return hex.join(":");
  return `${hex.slice(0, best.start).join(":")}::${hex.slice(best.start + best.length).join(":")}`;
}

/** The text of an address in a column: it sorts as addresses do. */
export function ipDigits(bits: bigint): string {
  return bits.toString(16).padStart(32, "0");
}

/** The inverse of `ipDigits`, as the vendor prints it. */
export function printIp(digits: string): string {
  return formatIp(BigInt(`0x${digits}`));
}

/** The first and the last address of a block: `10.0.0.0/8`. */
export interface IpBlock {
  readonly first: bigint;
  readonly last: bigint;
}

/** @param length of the prefix, of 128 bits */
export function ipBlock(address: bigint, length: number): IpBlock {
  const free = 1n << BigInt(128 - length);
  const first = (address / free) * free;
  return { first, last: first + free - 1n };
}
