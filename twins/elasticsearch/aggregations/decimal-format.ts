/**
 * Patterns of Java's DecimalFormat: `0.00`, `#,##0.0#`, `$0`, `0%`, `0.###E0` without exponents.
 * Source: https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/text/DecimalFormat.html
 */
import { argumentError } from "./errors.ts";

/** @throws VendorError for an invalid pattern */
export function readDecimalFormat(pattern: string): (value: number) => string {
  const [positive = "", negative] = splitPatterns(pattern);
  const parts = readParts(positive, pattern);
  const minus = negative === undefined ? undefined : readParts(negative, pattern);
  return (value) => {
    const digits = printDigits(Math.abs(value) * parts.factor, parts);
    const below = value < 0 || Object.is(value, -0);
    if (!below) return parts.prefix + digits + parts.suffix;
    return minus ? minus.prefix + digits + minus.suffix : `-${parts.prefix}${digits}${parts.suffix}`;
  };
}

interface Parts {
  prefix: string;
  suffix: string;
  factor: number;
  minWhole: number;
  minFraction: number;
  maxFraction: number;
  group: number;
}

/** Splits at the `;` between the positive and the negative pattern, unless it is quoted. */
function splitPatterns(pattern: string): string[] {
  const at = pattern.replaceAll(/'[^']*'/g, (quoted) => "_".repeat(quoted.length)).indexOf(";");
  return at < 0 ? [pattern] : [pattern.slice(0, at), pattern.slice(at + 1)];
}

/** Limit of digits after the point in the empty pattern. */
const MAX_FRACTION = 340;

function readParts(pattern: string, whole: string): Parts {
  const match = /^((?:'[^']*'|[^'#0,.])*)([#,]*(?:0[0,]*)?(?:\.0*#*)?)((?:'[^']*'|[^'#0,.])*)$/.exec(pattern);
  const digits = match?.[2] ?? "";
  if (!match || /E/.test(match[3] ?? "") || digits.length > 100) {
    throw argumentError(`Malformed pattern "${whole}"`);
  }
  const [before = "", after = ""] = digits.split(".");
  const affixes = `${match[1]}${match[3]}`;
  const plain = before.replaceAll(",", "");
  return {
    prefix: unquote(match[1] ?? ""),
    suffix: unquote(match[3] ?? ""),
    factor: affixes.includes("%") ? 100 : affixes.includes("‰") ? 1000 : 1,
    minWhole: plain.length - plain.replaceAll("0", "").length,
    minFraction: after.length - after.replaceAll("0", "").length,
    maxFraction: whole === "" ? MAX_FRACTION : after.length,
    group: before.includes(",") ? before.length - 1 - before.lastIndexOf(",") : 0,
  };
}

function unquote(affix: string): string {
  return affix.replaceAll("''", "\u0000").replaceAll("'", "").replaceAll("\u0000", "'");
}

function printDigits(value: number, { minWhole, minFraction, maxFraction, group }: Parts): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : "∞";
  const [whole = "0", fraction = ""] = roundTo(value, maxFraction).split(".");
  let kept = fraction;
  while (kept.length > minFraction && kept.endsWith("0")) kept = kept.slice(0, -1);
  let padded = (whole === "0" && (minWhole > 0 || kept !== "") ? "" : whole).padStart(minWhole, "0");
  if (padded === "" && kept === "") padded = "0";
  if (group > 0) padded = padded.replaceAll(new RegExp(`\\B(?=(?:\\d{${group}})+$)`, "g"), ",");
  return kept === "" ? padded : `${padded}.${kept}`;
}

/** Rounds half to even, on the decimal digits that the double prints as. */
function roundTo(value: number, digits: number): string {
  const [mantissa = "0", power = "0"] = value.toExponential().split("e");
  const all = mantissa.replace(".", "");
  const point = Number(power) + 1;
  const keep = point + digits;
  const text = all.padEnd(Math.max(keep, 0), "0");
  const head = BigInt(keep <= 0 ? "0" : text.slice(0, keep));
  const tail = keep < 0 ? "0" : text.slice(keep);
  const half = tail === "" ? -1 : compareHalf(tail);
  const result = half > 0 || (half === 0 && head % 2n === 1n) ? head + 1n : head;
  const printed = result.toString().padStart(digits + 1, "0");
  return digits === 0 ? printed : `${printed.slice(0, -digits)}.${printed.slice(-digits)}`;
}

/** Compares the dropped digits with one half: negative, 0 or positive. */
function compareHalf(tail: string): number {
  const first = Number(tail[0]);
  if (first !== 5) return first - 5;
  return /^0*$/.test(tail.slice(1)) ? 0 : 1;
}
