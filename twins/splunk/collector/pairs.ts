/** Finds the `key=value` pairs in an event's text, as splunkd does with `KV_MODE = auto`. */
import type { EventField } from "../world/new-event.ts";

/** Limits of `[kv]` in `limits.conf`: characters to read, and fields to find. */
const MAX_CHARACTERS = 10_240;
const MAX_PAIRS = 100;

/** Finds each key once, with its first value. Characters of a key other than letters, digits and `_` become `_`. */
export function findPairs(whole: string): EventField[] {
  const text = whole.length > MAX_CHARACTERS ? whole.slice(0, MAX_CHARACTERS) : whole;
  const pairs = new Map<string, [string]>();
  let from = 0;
  for (
    let equals = text.indexOf("=");
    equals >= 0 && pairs.size < MAX_PAIRS;
    equals = text.indexOf("=", from)
  ) {
    const key = keyBefore(text, equals, from);
    const value = valueAfter(text, equals + 1);
    from = Math.max(value.end, equals + 1);
    if (key !== "" && value.text !== "" && !pairs.has(key)) pairs.set(key, [value.text]);
  }
  return [...pairs];
}

/** Reads the key that ends at `end`. @param from end of the previous value */
function keyBefore(text: string, end: number, from: number): string {
  let start = end;
  while (start > from && isKey(text.charCodeAt(start - 1))) start--;
  // The name of a field begins with a letter.
  while (start < end && !isLetter(text.charCodeAt(start))) start++;
  return text.slice(start, end).replace(/[^A-Za-z0-9_]/g, "_");
}

function valueAfter(text: string, start: number): { text: string; end: number } {
  const quote = text[start];
  if (quote === '"' || quote === "'") {
    const end = findClosing(text, start + 1, quote);
    if (end >= 0) {
      const inner = text.slice(start + 1, end);
      return { text: inner.includes("\\") ? inner.replace(/\\(["'\\])/g, "$1") : inner, end: end + 1 };
    }
  }
  let end = start;
  while (end < text.length && !endsValue(text.charCodeAt(end))) end++;
  return { text: text.slice(start, end), end };
}

/** Index of the closing quote; -1 without one. */
function findClosing(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

function isKey(code: number): boolean {
  // Letters, digits, _ - . :
  return (
    isLetter(code) || (code >= 48 && code <= 57) || code === 95 || code === 45 || code === 46 || code === 58
  );
}

const DELIMITERS = new Set([..." \t\n\r\v\f,;|&()[]{}<>\"'"].map((character) => character.charCodeAt(0)));
const endsValue = (code: number) => DELIMITERS.has(code);
