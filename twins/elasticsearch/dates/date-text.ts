/** Prints and parses dates by the tokens of a pattern. */

import { DAY_MS } from "@offhook/log-store/dates/calendar";
import { findTimeZone, offsetText, type TimeZone } from "@offhook/log-store/dates/time-zone";
import {
  type FieldValues,
  fieldNames,
  type MissingTime,
  numberField,
  resolve,
  textField,
} from "./date-fields.ts";
import type { NumberField, Token } from "./java-pattern.ts";

/** The calendar's period, used to print dates beyond the range of JavaScript. */
const CYCLE_YEARS = 400;
const CYCLE_MS = 146_097n * BigInt(DAY_MS);
/** The range of JavaScript dates, less a day for zone offsets. */
const MAX_DATE_MS = 8_640_000_000_000_000n - BigInt(DAY_MS);

/** A moment in local time. */
interface LocalTime {
  ms: number;
  /** Added to the year of `ms`. */
  years: number;
  offsetMs: number;
  zone: TimeZone;
}

/** @param epochMs any 64-bit integer */
export function printDate(epochMs: bigint, tokens: readonly Token[], zone: TimeZone): string {
  const isKnown = epochMs <= MAX_DATE_MS && epochMs >= -MAX_DATE_MS;
  const cycles = isKnown ? 0n : epochMs / CYCLE_MS;
  const ms = Number(epochMs - cycles * CYCLE_MS);
  const offsetMs = zone.offsetAt(ms);
  const local: LocalTime = { ms: ms + offsetMs, years: Number(cycles) * CYCLE_YEARS, offsetMs, zone };
  return tokens.map((token) => printToken(token, local)).join("");
}

function printToken(token: Token, local: LocalTime): string {
  switch (token.kind) {
    case "literal":
      return token.text;
    case "number":
      return printNumber(displayedNumber(local, token.field), token);
    case "short-year":
      return String(Math.abs(displayedNumber(local, token.field)) % 100).padStart(2, "0");
    case "fraction":
      return String(numberField(local.ms, "nano")).padStart(9, "0").slice(0, token.min);
    case "text":
      return fieldNames[token.field][token.width][textField(local.ms, token.field)] ?? "";
    case "offset":
      return printOffset(token, local.offsetMs);
    case "zone":
      return local.zone.id;
    case "optional":
      return token.tokens.map((inner) => printToken(inner, local)).join("");
  }
}

function displayedNumber({ ms, years }: LocalTime, field: NumberField): number {
  const value = numberField(ms, field);
  switch (field) {
    case "year":
    case "week-year":
      return value + years;
    case "era-year":
      // Years of the earlier era count backwards.
      return years < 0 ? value - years : value + years;
    default:
      return value;
  }
}

function printNumber(value: number, { min, max }: { min: number; max: number }): string {
  const digits = String(Math.abs(value)).padStart(min, "0");
  if (value < 0) return `-${digits}`;
  return max === 19 && min >= 4 && digits.length > min ? `+${digits}` : digits;
}

function printOffset(token: Token & { kind: "offset" }, offsetMs: number): string {
  if (offsetMs === 0 && token.zero === "Z") return "Z";
  if (offsetMs === 0 && token.prefix === "GMT") return "GMT";
  const text = offsetText(offsetMs, token.separator);
  const short = token.minutes === "if-any" && offsetMs % 3_600_000 === 0;
  return token.prefix + (short ? text.slice(0, 3) : text);
}

export interface ParseOptions {
  leniency: "strict" | "smart";
  missing: MissingTime;
  /** For texts without a zone. */
  zone: TimeZone;
}

/** @returns milliseconds since the epoch; `undefined` when the text does not match */
export function parseDateText(
  text: string,
  tokens: readonly Token[],
  options: ParseOptions,
): number | undefined {
  const state: ParseState = { text, at: 0, fields: new Map(), zone: undefined };
  if (!parseTokens(state, tokens) || state.at !== text.length) return undefined;
  return resolve(state.fields, options.leniency, options.missing, state.zone ?? options.zone);
}

/** How far a text matches. @returns `whole`: every token matched */
export function matchTokens(text: string, tokens: readonly Token[]): { at: number; whole: boolean } {
  const state: ParseState = { text, at: 0, fields: new Map(), zone: undefined };
  for (const token of tokens) {
    const before = state.at;
    if (!parseToken(state, token)) return { at: before, whole: false };
  }
  return { at: state.at, whole: true };
}

interface ParseState {
  text: string;
  at: number;
  fields: FieldValues;
  zone: TimeZone | undefined;
}

function parseTokens(state: ParseState, tokens: readonly Token[]): boolean {
  return tokens.every((token) => parseToken(state, token));
}

function parseToken(state: ParseState, token: Token): boolean {
  switch (token.kind) {
    case "literal":
      if (!state.text.startsWith(token.text, state.at)) return false;
      state.at += token.text.length;
      return true;
    case "number":
      return parseNumber(state, token);
    case "short-year": {
      const digits = digitsAt(state, 2);
      if (digits.length !== 2) return false;
      state.fields.set(token.field, 2000 + Number(digits));
      return true;
    }
    case "fraction": {
      const digits = digitsAt(state, token.max);
      if (digits.length < token.min) return false;
      state.fields.set("fraction-ms", Math.floor(Number(digits.padEnd(9, "0")) / 1_000_000));
      return true;
    }
    case "text":
      return parseName(state, token);
    case "offset":
      return parseOffset(state, token);
    case "zone":
      return parseZone(state);
    case "optional":
      return parseOptional(state, token.tokens);
  }
}

/** Matches all tokens or none. */
function parseOptional(state: ParseState, tokens: readonly Token[]): true {
  const before = { at: state.at, fields: new Map(state.fields), zone: state.zone };
  if (!parseTokens(state, tokens)) Object.assign(state, before);
  return true;
}

function parseNumber(state: ParseState, token: Token & { kind: "number" }): boolean {
  const sign = token.max === 19 ? (/[+-]/.exec(state.text[state.at] ?? "")?.[0] ?? "") : "";
  state.at += sign.length;
  // A year with more digits than the pattern's four or more needs a sign.
  const max = sign === "" && token.max === 19 && token.min >= 4 ? token.min : token.max;
  let available = 0;
  while (available < max + token.reserved && isDigit(state.text[state.at + available])) available++;
  const length = Math.min(max, token.reserved > 0 ? available - token.reserved : available);
  if (length < token.min || (sign === "+" && length <= token.min)) return false;
  const value = Number(state.text.slice(state.at, state.at + length));
  state.at += length;
  state.fields.set(token.field, sign === "-" ? -value : value);
  return true;
}

function digitsAt(state: ParseState, max: number): string {
  const start = state.at;
  while (state.at < start + max && isDigit(state.text[state.at])) state.at++;
  return state.text.slice(start, state.at);
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}

function parseName(state: ParseState, token: Token & { kind: "text" }): boolean {
  const candidates = fieldNames[token.field][token.width];
  const index = candidates.findIndex((name) => state.text.startsWith(name, state.at));
  if (index < 0) return false;
  state.at += candidates[index]?.length ?? 0;
  if (token.field === "era" || token.field === "half-day") state.fields.set(token.field, index);
  else state.fields.set(token.field, index + 1);
  return true;
}

function parseOffset(state: ParseState, token: Token & { kind: "offset" }): boolean {
  const rest = state.text.slice(state.at, state.at + 16);
  if (token.zero === "Z" && rest.startsWith("Z")) {
    state.at++;
    state.zone = findTimeZone("Z");
    return true;
  }
  if (!rest.startsWith(token.prefix)) return false;
  const pattern = token.separator === ":" ? /^[+-]\d{1,2}(?::\d{2}){0,2}/ : /^[+-]\d{2}(?:\d{2}){0,2}/;
  const offset = pattern.exec(rest.slice(token.prefix.length))?.[0] ?? "";
  if (offset === "" && token.prefix === "") return false;
  if (offset !== "" && token.minutes === "always" && !/\d{2}:?\d{2}/.test(offset)) return false;
  state.zone = findTimeZone(offset === "" ? "Z" : offset);
  state.at += token.prefix.length + offset.length;
  return state.zone !== undefined;
}

function parseZone(state: ParseState): boolean {
  const name = /^(?:[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?|[A-Za-z][A-Za-z0-9~/._+:-]*)/.exec(
    state.text.slice(state.at),
  )?.[0];
  const zone = name === undefined ? undefined : findTimeZone(name);
  if (name === undefined || zone === undefined) return false;
  state.at += name.length;
  state.zone = zone;
  return true;
}
