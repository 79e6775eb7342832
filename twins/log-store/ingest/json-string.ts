/** Decodes a JSON string with escapes to UTF-8 bytes. */
import { EventProblem } from "./problems.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** Bytes after a backslash, and the bytes that they mean. */
const simple = new Map(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }).map(
    ([letter, meaning]) => [letter.charCodeAt(0), meaning.charCodeAt(0)],
  ),
);

/** @param from after the opening quote @returns the bytes, and the offset after the closing quote @throws EventProblem */
export function readStringBytes(
  bytes: Uint8Array,
  from: number,
  lineEnd: number,
): { text: Uint8Array; end: number } {
  const close = closingQuote(bytes, from, lineEnd);
  const text = Buffer.allocUnsafe(close - from);
  let length = 0;
  for (let at = from; at < close; ) {
    const byte = bytes[at] ?? 0;
    if (byte !== BACKSLASH) {
      text[length++] = byte;
      at++;
    } else if (bytes[at + 1] === LETTER_U) {
      const { point, end } = codePoint(bytes, at, close);
      length += text.write(String.fromCodePoint(point), length, "utf8");
      at = end;
    } else {
      const meaning = simple.get(bytes[at + 1] ?? 0);
      if (meaning === undefined) throw new EventProblem(at, "there is no such escape in JSON");
      text[length++] = meaning;
      at += 2;
    }
  }
  return { text: text.subarray(0, length), end: close + 1 };
}

function closingQuote(bytes: Uint8Array, from: number, lineEnd: number): number {
  for (let at = from; at < lineEnd; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
    else if (byte < 0x20) throw new EventProblem(at, "a control character in a string must be escaped");
  }
  throw new EventProblem(from - 1, "the string that begins here does not end on this line");
}

/** The code point of `\uXXXX`, or of a surrogate pair of them. */
function codePoint(bytes: Uint8Array, at: number, close: number): { point: number; end: number } {
  const unit = hexadecimal(bytes, at, close);
  const end = at + 6;
  if (unit < 0xd800 || unit > 0xdfff) return { point: unit, end };
  const followed = unit < 0xdc00 && bytes[end] === BACKSLASH && bytes[end + 1] === LETTER_U;
  const low = followed ? hexadecimal(bytes, end, close) : 0;
  if (low < 0xdc00 || low > 0xdfff)
    throw new EventProblem(at, "this is half of a character, which is no text");
  return { point: 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), end: end + 6 };
}

function hexadecimal(bytes: Uint8Array, at: number, close: number): number {
  const digits = Buffer.from(bytes.subarray(at + 2, Math.min(at + 6, close))).toString("latin1");
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new EventProblem(at, "\\u needs four hexadecimal digits");
  return Number.parseInt(digits, 16);
}
