/** Parses numbers like Java. */
import { VendorError } from "../vendor/error.ts";

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?$/;
const named = /^([+-]?)(NaN|Infinity)$/;

/** @returns undefined for any other text. Source: Java's `Double.parseDouble`, without hexadecimal numbers */
export function javaNumber(text: string): number | undefined {
  const written = trimLikeJava(text);
  if (decimal.test(written)) return Number(written.replace(/[fFdD]$/, ""));
  const [, sign, name] = named.exec(written) ?? [];
  if (name === undefined) return undefined;
  return name === "NaN" ? Number.NaN : sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

const LONG_MAX = 2n ** 63n - 1n;

/** Casts a double to a `long` like Java: truncates, clamps to the range, and turns NaN into 0. */
export function javaLong(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (Math.abs(value) >= 2 ** 63) return value > 0 ? LONG_MAX : -LONG_MAX - 1n;
  return BigInt(Math.trunc(value));
}

/** The reason of a `NumberFormatException`. */
export function numberFormatReason(text: string): string {
  const written = trimLikeJava(text);
  return written === "" ? "empty String" : `For input string: "${written}"`;
}

/** `number_format_exception` */
export function numberFormatError(text: string): VendorError {
  return new VendorError(400, { type: "number_format_exception", reason: numberFormatReason(text) });
}

/** @throws VendorError `number_format_exception` */
export function javaDouble(text: string): number {
  const number = javaNumber(text);
  if (number !== undefined) return number;
  throw numberFormatError(text);
}

/** Trims every character up to the space, like Java. */
function trimLikeJava(text: string): string {
  const isBlank = (at: number) => text.charCodeAt(at) <= SPACE;
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

const SPACE = 0x20;
