/**
 * Converts Postgres values to JSON and back without loss.
 *
 * Towards the server every value is text in the session's fixed form (`sessionOptions`), which Postgres reads back to the same value
 * for every type. In JSON a value becomes a number, boolean, array or document where that loses nothing. A `bigint` beyond JavaScript's
 * safe integers stays text, and so does every `numeric`, whose trailing zeros count. A document keeps its value, not its spaces and the
 * trailing zeros of its numbers.
 */
import { type Nested, parseArrayText, writeArrayText } from "./array-text.ts";

/** How a type is converted; `text` stands for every type whose JSON form is its Postgres text. */
export type ValueType =
  | { kind: "text" | "boolean" | "integer" | "bigint" | "float" | "decimal" | "json" | "jsonb" | "timestamp" }
  | { kind: "array"; element: ValueType };

/** Settings that fix the text form of values, for every connection of the control plane. */
export const sessionOptions = [
  "TimeZone=UTC",
  "DateStyle=ISO,YMD",
  "IntervalStyle=postgres",
  "bytea_output=hex",
  "extra_float_digits=1",
]
  .map((setting) => `-c ${setting}`)
  .join(" ");

/** The member of `{"$json": "<text>"}`: the form of a document that parsing would change (large numbers, top-level `null`, order or duplicates of keys). */
const verbatimMember = "$json";

export function decodeValue(type: ValueType, text: string | null): unknown {
  if (text === null) return null;
  switch (type.kind) {
    case "boolean":
      return text === "true" || text === "t";
    case "integer":
      return Number(text);
    case "bigint":
      return Number.isSafeInteger(Number(text)) ? Number(text) : text;
    case "float":
      return floatOrText(text);
    case "json":
    case "jsonb":
      return decodeDocument(type.kind, text);
    case "timestamp":
      return isoTimestamp(text);
    case "array": {
      const items = parseArrayText(text);
      const ambiguous = isDocument(type.element) && items?.some(Array.isArray);
      return items && !ambiguous ? mapNested(items, (item) => decodeValue(type.element, item)) : text;
    }
    default:
      return text;
  }
}

/** JSON has no `NaN`, infinities or minus zero: these stay text. */
function floatOrText(text: string): number | string {
  const value = Number(text);
  return Number.isFinite(value) && !Object.is(value, -0) ? value : text;
}

/** `2026-03-02 08:00:00.5+00` becomes `2026-03-02T08:00:00.5Z`; `infinity` and years before Christ stay as they are. */
function isoTimestamp(text: string): string {
  const [date, time, ...more] = text.split(" ");
  if (date === undefined || time === undefined || more.length > 0) return text;
  return `${date}T${time.endsWith("+00") ? `${time.slice(0, -3)}Z` : time}`;
}

function decodeDocument(kind: "json" | "jsonb", text: string): unknown {
  const value: unknown = JSON.parse(text);
  const survives = value !== null && verbatimText(value) === undefined && isSameDocument(kind, text, value);
  return survives ? value : { [verbatimMember]: text };
}

/** Whether the parsed value is equal to the document in the text. */
function isSameDocument(kind: "json" | "jsonb", text: string, value: unknown): boolean {
  const given = jsonTokens(text);
  // In jsonb the order of keys does not count, and there are no duplicates.
  if (kind === "jsonb")
    return given.every((token) => !isNumber(token) || isSameNumber(token, String(Number(token))));
  const written = jsonTokens(JSON.stringify(value));
  return given.length === written.length && given.every((token, i) => isSameToken(token, written[i] ?? ""));
}

function isSameToken(one: string, other: string): boolean {
  if (one === other) return true;
  if (one.startsWith('"') && other.startsWith('"')) return JSON.parse(one) === JSON.parse(other);
  return isNumber(one) && isNumber(other) && isSameNumber(one, other);
}

function isNumber(token: string): boolean {
  return token.startsWith("-") || isDigit(token.charAt(0));
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9";
}

/** Whether two decimal numbers are equal, however many digits they have: `1.50` and `15e-1` are. */
function isSameNumber(one: string, other: string): boolean {
  const [a, b] = [decimalOf(one), decimalOf(other)];
  return a.digits === b.digits && (a.digits === "" || (a.exponent === b.exponent && a.sign === b.sign));
}

/** The digits of a JSON number without zeros around them, and the power of ten of the last one. */
function decimalOf(number: string): { sign: string; digits: string; exponent: number } {
  const sign = number.startsWith("-") ? "-" : "";
  const [mantissa = "", power = "0"] = number.slice(sign.length).toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const all = whole + fraction;
  let start = 0;
  while (all[start] === "0") start++;
  let end = all.length;
  while (end > start && all[end - 1] === "0") end--;
  return {
    sign,
    digits: all.slice(start, end),
    exponent: Number(power) - fraction.length + all.length - end,
  };
}

function isSpace(char: string): boolean {
  return char === " " || char === "\n" || char === "\r" || char === "\t";
}

/** The tokens of a valid JSON text: strings with their quotes, numbers, words, and each other sign. */
function jsonTokens(json: string): string[] {
  const tokens: string[] = [];
  let at = 0;
  while (at < json.length) {
    const start = at;
    const char = json.charAt(at);
    at++;
    if (isSpace(char)) continue;
    if (char === '"') {
      while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
      at++;
    } else if (!"{}[],:".includes(char)) {
      while (at < json.length && !"{}[],:".includes(json.charAt(at)) && !isSpace(json.charAt(at))) at++;
    }
    tokens.push(json.slice(start, at));
  }
  return tokens;
}

function verbatimText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const [entry, ...others] = Object.entries(value);
  if (entry === undefined || others.length > 0) return undefined;
  const [member, text] = entry;
  return member === verbatimMember && typeof text === "string" ? text : undefined;
}

/** A value as text for Postgres, or what was expected instead. */
export type Encoded = { text: string | null } | { expected: string };

export function encodeValue(type: ValueType, value: unknown): Encoded {
  if (value === null) return { text: null };
  const encoded = encodePresent(type, value);
  if ("text" in encoded && encoded.text?.includes("\0"))
    return { expected: "text without the character U+0000" };
  return encoded;
}

function encodePresent(type: ValueType, value: unknown): Encoded {
  switch (type.kind) {
    case "boolean":
      return typeof value === "boolean" ? { text: String(value) } : { expected: "true or false" };
    case "integer":
      return Number.isInteger(value) ? { text: String(value) } : { expected: "a whole number" };
    case "bigint":
      if (typeof value === "string") return { text: value };
      return Number.isSafeInteger(value)
        ? { text: String(value) }
        : { expected: "a whole number; beyond 2^53 its digits as text" };
    case "float":
    case "decimal":
      if (typeof value === "number") return { text: Object.is(value, -0) ? "-0" : String(value) };
      return typeof value === "string" ? { text: value } : { expected: "a number, or its digits as text" };
    case "json":
    case "jsonb":
      return { text: verbatimText(value) ?? JSON.stringify(value) };
    case "array":
      return encodeArray(type.element, value);
    default:
      return typeof value === "string" ? { text: value } : { expected: "text" };
  }
}

function encodeArray(element: ValueType, value: unknown): Encoded {
  if (typeof value === "string") return { text: value };
  if (!Array.isArray(value)) return { expected: "a list" };
  let expected: string | undefined;
  const encodeItem = (item: unknown): string | null => {
    const encoded = encodeValue(element, item);
    if ("text" in encoded) return encoded.text;
    expected = `a list whose items are each ${encoded.expected}`;
    return null;
  };
  const texts = isDocument(element)
    ? value.map(encodeItem)
    : mapNested<unknown, string | null>(value, encodeItem);
  return expected === undefined ? { text: writeArrayText(texts) } : { expected };
}

/** A list inside a list of documents is a document, not a dimension. */
function isDocument(type: ValueType): boolean {
  return type.kind === "json" || type.kind === "jsonb";
}

function mapNested<From, To>(list: Nested<From>, change: (item: From) => To): Nested<To> {
  return list.map((item) => (Array.isArray(item) ? mapNested<From, To>(item, change) : change(item)));
}
