/**
 * How a Postgres value crosses as JSON and back without loss.
 *
 * Between us and the server every value is text in the session's fixed form (`sessionOptions`), which Postgres reads
 * back to the same value for every type. What is a JSON number, boolean, array or document becomes one where nothing
 * is lost by it; `bigint` and `numeric` stay text, because a JavaScript number cannot hold them all.
 */
import { parseArrayText, writeArrayText } from "./array-text.ts";

/** What a type is to us; `text` stands for every type whose JSON form is its Postgres text. */
export type ValueType =
  | { kind: "text" | "boolean" | "integer" | "float" | "exact-number" | "json" | "jsonb" | "timestamp" }
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

/** A document that JSON numbers, `null` or key order would change crosses as `{"$json": "<its text>"}`. */
const verbatimMember = "$json";

export function decodeValue(type: ValueType, text: string | null): unknown {
  if (text === null) return null;
  switch (type.kind) {
    case "boolean":
      return text === "true" || text === "t";
    case "integer":
      return Number(text);
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

/** `1e+20` and `1e20` are one number; `NaN`, the infinities and minus zero are none that JSON has. */
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
  const kept = kind === "json" ? JSON.stringify(value) === text : numbersSurvive(text);
  const looksVerbatim = verbatimText(value) !== undefined;
  return kept && value !== null && !looksVerbatim ? value : { [verbatimMember]: text };
}

/** Whether JavaScript writes every number of a JSON text the way the text has it. */
function numbersSurvive(json: string): boolean {
  let at = 0;
  while (at < json.length) {
    const char = json.charAt(at);
    if (char === '"') {
      at++;
      while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
      at++;
    } else if (isNumberCharacter(char) && char !== "e") {
      let end = at + 1;
      while (end < json.length && isNumberCharacter(json.charAt(end))) end++;
      const token = json.slice(at, end);
      if (JSON.stringify(Number(token)) !== token) return false;
      at = end;
    } else at++;
  }
  return true;
}

function isNumberCharacter(char: string): boolean {
  return (
    (char >= "0" && char <= "9") ||
    char === "-" ||
    char === "+" ||
    char === "." ||
    char === "e" ||
    char === "E"
  );
}

function verbatimText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const [entry, ...others] = Object.entries(value);
  if (entry === undefined || others.length > 0) return undefined;
  const [member, text] = entry;
  return member === verbatimMember && typeof text === "string" ? text : undefined;
}

/** A value as the text Postgres reads, or what was expected instead of it. */
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
    case "float":
    case "exact-number":
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

/** Nested lists are the dimensions of an array. */
export type Nested<Item> = (Item | Nested<Item>)[];

function mapNested<From, To>(list: Nested<From>, change: (item: From) => To): Nested<To> {
  return list.map((item) => (Array.isArray(item) ? mapNested<From, To>(item, change) : change(item)));
}
