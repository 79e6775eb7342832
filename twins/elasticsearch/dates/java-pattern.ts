/**
 * Parses patterns of Java's DateTimeFormatter into tokens.
 * Source: https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/time/format/DateTimeFormatter.html#patterns
 */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { VendorError } from "../vendor/error.ts";

export type NumberField =
  | "era-year"
  | "year"
  | "week-year"
  | "quarter"
  | "month"
  | "week"
  | "week-of-month"
  | "weekday"
  | "day"
  | "day-of-year"
  | "hour"
  | "hour-1-24"
  | "hour-0-11"
  | "hour-1-12"
  | "minute"
  | "second"
  | "milli-of-day"
  | "nano"
  | "nano-of-day";

export type TextField = "era" | "quarter" | "month" | "weekday" | "half-day";

export type Token =
  | { kind: "literal"; text: string }
  /** `min` to `max` digits, leaving `reserved` digits for adjacent numbers of fixed width. */
  | { kind: "number"; field: NumberField; min: number; max: number; reserved: number }
  /** The last two digits of a year from 2000 on. */
  | { kind: "short-year"; field: NumberField }
  /** Digits of a fraction of a second. */
  | { kind: "fraction"; min: number; max: number }
  | { kind: "text"; field: TextField; width: "full" | "short" | "narrow" }
  | {
      kind: "offset";
      minutes: "always" | "if-any";
      separator: ":" | "";
      zero: "Z" | "digits";
      prefix: "" | "GMT";
    }
  /** A zone name or an offset. */
  | { kind: "zone" }
  | { kind: "optional"; tokens: Token[] };

/** @throws VendorError for an invalid pattern */
export function readPattern(pattern: string): Token[] {
  const reader = new PatternReader(pattern);
  const tokens = reader.read();
  reserveDigits(tokens);
  return tokens;
}

const MAX_PATTERN_LENGTH = 1_000;
const MAX_DEPTH = 50;

class PatternReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
    if (pattern.length > MAX_PATTERN_LENGTH) throw this.#error("Pattern is too long");
  }

  read(depth = 0): Token[] {
    if (depth > MAX_DEPTH) throw this.#error("Pattern is nested too deeply");
    const tokens: Token[] = [];
    while (this.#at < this.#pattern.length) {
      const character = this.#pattern[this.#at] ?? "";
      if (character === "]") {
        if (depth === 0) throw this.#error("Pattern invalid as it contains ] without previous [");
        this.#at++;
        return tokens;
      }
      if (character === "[") {
        this.#at++;
        tokens.push({ kind: "optional", tokens: this.read(depth + 1) });
      } else if (character === "'") {
        tokens.push({ kind: "literal", text: this.#quotedLiteral() });
      } else if (/[A-Za-z]/.test(character)) {
        tokens.push(this.#letters(character));
      } else if (/[{}#]/.test(character)) {
        throw this.#error(`Pattern includes reserved character: '${character}'`);
      } else {
        tokens.push({ kind: "literal", text: character });
        this.#at++;
      }
    }
    return tokens;
  }

  #quotedLiteral(): string {
    const start = this.#at++;
    let text = "";
    while (this.#at < this.#pattern.length) {
      const character = this.#pattern[this.#at++] ?? "";
      if (character !== "'") text += character;
      else if (this.#pattern[this.#at] === "'") {
        text += "'";
        this.#at++;
      } else return text === "" && this.#at === start + 2 ? "'" : text;
    }
    throw this.#error(`Pattern ends with an incomplete string literal: ${this.#pattern}`);
  }

  #letters(letter: string): Token {
    let end = this.#at;
    while (this.#pattern[end] === letter) end++;
    const count = end - this.#at;
    this.#at = end;
    const token = tokenOf(letter, count);
    if (token === "unknown") throw this.#error(`Unknown pattern letter: ${letter}`);
    if (token === "too-many") throw this.#error(`Too many pattern letters: ${letter}`);
    return token;
  }

  #error(message: string): VendorError {
    return new VendorError(400, {
      type: "illegal_argument_exception",
      reason: `Invalid format: [${this.#pattern}]: ${message}`,
      caused_by: { type: "illegal_argument_exception", reason: message },
    });
  }
}

const yearFields = lookupTable<NumberField>({ u: "year", y: "era-year", Y: "week-year", x: "week-year" });
/** Letters for a number of at most two digits. */
const twoDigitFields = lookupTable<NumberField>({
  d: "day",
  H: "hour",
  k: "hour-1-24",
  K: "hour-0-11",
  h: "hour-1-12",
  m: "minute",
  s: "second",
  w: "week",
});
const textLetters = lookupTable<TextField>({
  G: "era",
  Q: "quarter",
  q: "quarter",
  M: "month",
  L: "month",
  E: "weekday",
  e: "weekday",
  c: "weekday",
});
const anyWidth = lookupTable<NumberField>({ A: "milli-of-day", n: "nano", N: "nano-of-day" });

function tokenOf(letter: string, count: number): Token | "unknown" | "too-many" {
  const year = letter === "x" ? undefined : yearFields[letter];
  if (year) {
    if (count === 2) return { kind: "short-year", field: year };
    return { kind: "number", field: year, min: count, max: 19, reserved: 0 };
  }
  const two = twoDigitFields[letter];
  if (two) {
    return count > 2
      ? "too-many"
      : { kind: "number", field: two, min: count, max: count === 1 ? 19 : 2, reserved: 0 };
  }
  const text = textLetters[letter];
  if (text) return textOrNumber(text, letter, count);
  const wide = anyWidth[letter];
  if (wide) return { kind: "number", field: wide, min: count, max: 19, reserved: 0 };
  switch (letter) {
    case "D":
      if (count > 3) return "too-many";
      return { kind: "number", field: "day-of-year", min: count, max: count === 1 ? 19 : 3, reserved: 0 };
    case "W":
      return count > 1 ? "too-many" : { kind: "number", field: "week-of-month", min: 1, max: 1, reserved: 0 };
    case "a":
      return count > 1 ? "too-many" : { kind: "text", field: "half-day", width: "short" };
    case "S":
      return count > 9 ? "too-many" : { kind: "fraction", min: count, max: count };
    case "V":
      return count === 2 ? { kind: "zone" } : "too-many";
    case "z":
    case "v":
      return count > 4 ? "too-many" : { kind: "zone" };
    case "X":
    case "x":
      return count > 5 ? "too-many" : offsetToken(count, letter === "X" ? "Z" : "digits");
    case "Z":
      if (count > 5) return "too-many";
      if (count === 4)
        return { kind: "offset", minutes: "always", separator: ":", zero: "digits", prefix: "GMT" };
      return count === 5 ? offsetToken(3, "Z") : offsetToken(2, "digits");
    case "O":
      if (count !== 1 && count !== 4) return "too-many";
      return {
        kind: "offset",
        minutes: count === 1 ? "if-any" : "always",
        separator: ":",
        zero: "digits",
        prefix: "GMT",
      };
    default:
      return "unknown";
  }
}

function textOrNumber(field: TextField, letter: string, count: number): Token | "too-many" {
  if (count > 5) return "too-many";
  const numeric = field === "era" || field === "half-day" || letter === "E" ? undefined : field;
  if (count <= 2 && numeric) {
    return { kind: "number", field: numeric, min: count, max: count === 1 ? 19 : 2, reserved: 0 };
  }
  return { kind: "text", field, width: count === 4 ? "full" : count === 5 ? "narrow" : "short" };
}

function offsetToken(count: number, zero: "Z" | "digits"): Token {
  return {
    kind: "offset",
    minutes: count === 1 ? "if-any" : "always",
    separator: count === 3 || count === 5 ? ":" : "",
    zero,
    prefix: "",
  };
}

/** Reserves, in numbers of variable width, the digits of the fixed-width numbers directly behind them. */
function reserveDigits(tokens: readonly Token[]): void {
  tokens.forEach((token, index) => {
    if (token.kind === "optional") reserveDigits(token.tokens);
    if (token.kind !== "number" || token.min === token.max) return;
    for (const next of tokens.slice(index + 1)) {
      const width = fixedWidth(next);
      if (width === undefined) return;
      token.reserved += width;
    }
  });
}

function fixedWidth(token: Token): number | undefined {
  if (token.kind === "short-year") return 2;
  if (token.kind === "number" || token.kind === "fraction")
    return token.min === token.max ? token.min : undefined;
  return undefined;
}
