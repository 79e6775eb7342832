/** Numbers that are written as text, as Java's `Double.parseDouble` takes them. */
import { VendorError } from "../vendor-error.ts";

const decimal = /^[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?$/;

/** @throws VendorError `number_format_exception` */
export function javaDouble(text: string): number {
  const trimmed = text.trim();
  if (decimal.test(trimmed)) return Number(trimmed.replace(/[fFdD]$/, ""));
  throw new VendorError(400, {
    type: "number_format_exception",
    reason: trimmed === "" ? "empty String" : `For input string: "${text}"`,
  });
}
