/** Texts as Java reads numbers in them. */
import { VendorError } from "../vendor/error.ts";

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?$/;
const named = /^([+-]?)(NaN|Infinity)$/;

/** @returns undefined when the text is no number. Source: Java's `Double.parseDouble`, but for numbers in hexadecimal */
export function javaNumber(text: string): number | undefined {
  const written = javaTrimmed(text);
  if (decimal.test(written)) return Number(written.replace(/[fFdD]$/, ""));
  const [, sign, name] = named.exec(written) ?? [];
  if (name === undefined) return undefined;
  return name === "NaN" ? Number.NaN : sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

const LONG_MAX = 2n ** 63n - 1n;

/** A double as the `long` that Java makes of it: without its fraction, the nearest there is, and 0 when it is no number. */
export function javaLong(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (Math.abs(value) >= 2 ** 63) return value > 0 ? LONG_MAX : -LONG_MAX - 1n;
  return BigInt(Math.trunc(value));
}

/** The reason why a text is no number. */
export function numberFormatReason(text: string): string {
  const written = javaTrimmed(text);
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

/** Without what Java takes for blank at its ends: every character up to the space. */
function javaTrimmed(text: string): string {
  const isBlank = (at: number) => text.charCodeAt(at) <= SPACE;
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

const SPACE = 0x20;
