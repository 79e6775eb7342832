/**
 * Coerces a written value to the type of an existing field, as the vendor does.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/coerce.html
 */

import { blankTimes, timeFormat } from "../dates/time-formats.ts";
import type { Field, FieldType } from "../fields.ts";
import { ipDigits, parseIp } from "../ip-address.ts";
import type { Coerced } from "./column-value.ts";
import { looksLikeDate, microsOfDate } from "./date-detection.ts";
import type { Leaf } from "./json-leaves.ts";

/** The type of a new field, by its first value. */
export function typeOfLeaf({ kind, text }: Leaf): FieldType {
  if (kind === "integer") return "long";
  if (kind === "decimal") return "double";
  if (kind === "boolean") return "boolean";
  return looksLikeDate(text) ? "date" : "text";
}

/** The target of a coercion. */
export type Coercion = Pick<Field, "type" | "timeFormat" | "blanks">;

export function coerce(leaf: Leaf, target: Coercion): Coerced {
  switch (target.type) {
    case "text":
    case "keyword":
      return { value: leaf.text };
    case "boolean":
      return booleanOf(leaf);
    case "date":
      return dateOf(leaf, target);
    case "ip":
      return addressOf(leaf);
    case "double":
      return numberOf(leaf, (text) => doubleOf(text));
    case "long":
      return numberOf(leaf, (text) => integerOf(text, -(2n ** 63n), 2n ** 63n - 1n, "a long"));
    case "unsigned_long":
      return numberOf(leaf, (text) => integerOf(text, 0n, 2n ** 64n - 1n, "an unsigned long"));
  }
}

function addressOf({ text }: Leaf): Coerced {
  const address = parseIp(text);
  return address === undefined
    ? { kind: "not_an_address", reason: `'${text}' is not an IP string literal.` }
    : { value: ipDigits(address) };
}

function booleanOf({ kind, text }: Leaf): Coerced {
  if (kind === "boolean" || kind === "string") {
    if (text === "true") return { value: true };
    if (text === "false" || text === "") return { value: false };
  }
  return {
    kind: "not_a_boolean",
    reason: `Failed to parse value [${text}] as only [true] or [false] are allowed.`,
  };
}

/** The dataset's own format wins over the vendor's, which would read a count of seconds as milliseconds. */
function dateOf({ kind, text }: Leaf, { timeFormat: format, blanks }: Coercion): Coerced {
  if (blanks === true && kind === "string" && blankTimes.has(text)) return { value: undefined };
  const own = format === undefined || kind === "boolean" ? undefined : timeFormat(format)?.read(text);
  if (own !== undefined) return { value: own };
  if (kind === "string" && text === "") return { kind: "not_a_date", reason: "cannot parse empty date" };
  const micros = kind === "boolean" ? undefined : microsOfDate(text);
  if (micros !== undefined) return { value: micros };
  return {
    kind: "not_a_date",
    reason: `failed to parse date field [${text}] with format [strict_date_optional_time||epoch_millis]`,
  };
}

function numberOf({ kind, text }: Leaf, parse: (text: string) => Coerced): Coerced {
  if (kind === "boolean") return notANumber(text);
  if (kind === "string" && text === "") return { value: undefined };
  return parse(text);
}

const decimal = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;
/** Longest integer that is computed: far beyond the range of any type. */
const MAX_DIGITS = 400;

/** An exact integer; a fraction is cut off. */
function integerOf(text: string, least: bigint, greatest: bigint, what: string): Coerced {
  const parts = decimal.exec(text);
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts ?? [];
  if (!parts || whole + fraction === "") return notANumber(text);
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  const outOfRange: Coerced = { kind: "out_of_range", reason: `Value [${text}] is out of range for ${what}` };
  if (point > MAX_DIGITS) return /^0*$/.test(digits) ? { value: 0n } : outOfRange;
  const magnitude = point <= 0 ? 0n : BigInt(digits.slice(0, point).padEnd(point, "0"));
  const value = sign === "-" ? -magnitude : magnitude;
  return value < least || value > greatest ? outOfRange : { value };
}

function doubleOf(text: string): Coerced {
  const trimmed = text.trim();
  if (/^[+-]?(?:NaN|Infinity)$/.test(trimmed)) return notFinite(trimmed);
  const parts = decimal.exec(trimmed.replace(/[dDfF]$/, ""));
  if (!parts || `${parts[2]}${parts[3] ?? ""}` === "") return notANumber(text);
  const value = Number(parts[0]);
  return Number.isFinite(value) ? { value } : notFinite(String(value));
}

function notFinite(text: string): Coerced {
  return { kind: "not_finite", reason: `[double] supports only finite values, but got [${text}]` };
}

function notANumber(text: string): Coerced {
  return { kind: "not_a_number", reason: `For input string: "${text}"` };
}
