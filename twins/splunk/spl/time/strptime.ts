/** `strptime`: parses times. */
import { DAY_MS, dateMs, dayOfYear, daysInMonth, isoWeekMs } from "@offhook/log-store/dates/calendar";
import { monthNames, weekdayNames } from "@offhook/log-store/dates/names";
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { type FormatItem, readTimeFormat } from "./time-format.ts";
import { namedZone } from "./zone-names.ts";

export interface ParseTimeOptions {
  /** Default zone. */
  zone: TimeZone;
  /** Gives the date of a text without one. */
  nowMs: number;
  /** The format has to match the whole text. Default: a prefix. */
  whole?: boolean;
}

/** Parts of a time, as read from a text. */
interface Parts {
  year?: number;
  month?: number;
  day?: number;
  dayOfYear?: number;
  weekYear?: number;
  week?: number;
  weekday?: number;
  hour?: number;
  hour12?: number;
  half?: number;
  minute?: number;
  second?: number;
  /** Seconds. */
  fraction?: number;
  epoch?: number;
  offsetMs?: number;
  zone?: TimeZone;
}

/** Parses a time. @returns seconds since the epoch, with a fraction; `undefined` if the text does not match the format */
export function parseTime(text: string, format: string, options: ParseTimeOptions): number | undefined {
  const parts: Parts = {};
  let at = 0;
  const items = readTimeFormat(format);
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (item === undefined) break;
    const next =
      item.kind === "literal" ? readLiteral(text, at, item.text) : readVariable(text, at, item, parts);
    const without = next ?? skipFraction(text, at, item, items[index + 1]);
    if (without === undefined) return undefined;
    if (next === undefined) index++;
    at = without;
  }
  if (options.whole && at < text.length) return undefined;
  return secondsOf(parts, options);
}

/** Allows a missing fraction of a second: skips the point and the variable of `.%N`. */
function skipFraction(
  text: string,
  at: number,
  item: FormatItem,
  following: FormatItem | undefined,
): number | undefined {
  const isFraction = following?.kind === "variable" && /^[NQf]$/.test(following.name);
  if (item.kind !== "literal" || !item.text.endsWith(".") || !isFraction) return undefined;
  return readLiteral(text, at, item.text.slice(0, -1));
}

const ZERO = 48;

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= ZERO && code <= ZERO + 9;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13);
}

/** Reads a literal of the format. A blank in it matches any number of blanks, also none. */
function readLiteral(text: string, from: number, expected: string): number | undefined {
  let at = from;
  for (const character of expected) {
    if (isBlank(character, 0)) {
      at = skipBlanks(text, at);
    } else {
      if (!text.startsWith(character, at)) return undefined;
      at += character.length;
    }
  }
  return at;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text, at)) at++;
  return at;
}

type Numbers = {
  [Name in keyof Parts as Parts[Name] extends number | undefined ? Name : never]: Parts[Name];
};

/** Numeric variables: part, maximum of digits, minimum and maximum of the value. */
const numbers = lookupTable<readonly [keyof Numbers, number, number, number]>({
  Y: ["year", 4, 0, 9999],
  G: ["weekYear", 4, 0, 9999],
  m: ["month", 2, 1, 12],
  d: ["day", 2, 1, 31],
  e: ["day", 2, 1, 31],
  j: ["dayOfYear", 3, 1, 366],
  V: ["week", 2, 1, 53],
  H: ["hour", 2, 0, 23],
  k: ["hour", 2, 0, 23],
  I: ["hour12", 2, 1, 12],
  l: ["hour12", 2, 1, 12],
  M: ["minute", 2, 0, 59],
  S: ["second", 2, 0, 60],
  u: ["weekday", 1, 1, 7],
});

/** Redundant numeric variables, read and ignored: their maximum of digits. */
const ignoredNumbers = lookupTable<number>({ w: 1, U: 2, W: 2, C: 2, g: 2 });

function readVariable(
  text: string,
  from: number,
  { name, width }: Extract<FormatItem, { kind: "variable" }>,
  parts: Parts,
): number | undefined {
  const plain = numbers[name];
  if (plain) {
    const [part, digits, least, greatest] = plain;
    return readDigits(text, skipBlanks(text, from), digits, (value) => {
      if (value < least || value > greatest) return false;
      parts[part] = value;
      return true;
    });
  }
  const skipped = ignoredNumbers[name];
  if (skipped !== undefined) return readDigits(text, from, skipped, () => true);
  switch (name) {
    case "y":
      return readDigits(text, from, 2, (value) => {
        parts.year = value < 69 ? 2000 + value : 1900 + value;
        return true;
      });
    case "s":
      return readEpoch(text, from, parts);
    case "N":
    case "Q":
    case "f":
      return readFraction(text, from, width ?? 9, parts);
    case "b":
    case "B":
      return readName(text, from, monthNames, (index) => {
        parts.month = index + 1;
      });
    case "a":
    case "A":
      return readName(text, from, weekdayNames, () => {});
    case "p":
      return readName(text, from, ["AM", "PM"], (index) => {
        parts.half = index;
      });
    case "Z":
      return readZoneName(text, from, parts);
    default:
      return readOffset(text, from, name, parts);
  }
}

function readDigits(
  text: string,
  from: number,
  maxDigits: number,
  accept: (value: number) => boolean,
): number | undefined {
  let at = from;
  let value = 0;
  for (; at < from + maxDigits && isDigit(text, at); at++) value = value * 10 + text.charCodeAt(at) - ZERO;
  return at > from && accept(value) ? at : undefined;
}

function readName(
  text: string,
  from: number,
  names: readonly string[],
  found: (index: number) => void,
): number | undefined {
  const rest = text.slice(from, from + 12).toLowerCase();
  const index = names.findIndex((name) => rest.startsWith(name.slice(0, 3).toLowerCase()));
  const name = names[index];
  if (name === undefined) return undefined;
  found(index);
  return from + (rest.startsWith(name.toLowerCase()) ? name.length : Math.min(3, name.length));
}

function readEpoch(text: string, from: number, parts: Parts): number | undefined {
  const [found] = /^-?\d{1,13}/.exec(text.slice(from, from + 20)) ?? [];
  if (found === undefined) return undefined;
  parts.epoch = Number(found);
  return from + found.length;
}

function readFraction(text: string, from: number, digits: number, parts: Parts): number | undefined {
  return readDigits(text, from, digits, () => {
    const [found = ""] = /^\d*/.exec(text.slice(from, from + digits)) ?? [];
    parts.fraction = Number(`0.${found}`);
    return true;
  });
}

function readZoneName(text: string, from: number, parts: Parts): number | undefined {
  const [found] = /^[A-Za-z][A-Za-z0-9_/+-]*/.exec(text.slice(from, from + 40)) ?? [];
  const zone = found === undefined ? undefined : namedZone(found);
  if (found === undefined || zone === undefined) return undefined;
  parts.zone = zone;
  return from + found.length;
}

function readOffset(text: string, from: number, name: string, parts: Parts): number | undefined {
  const rest = text.slice(from, from + 12);
  if (name === "Ez") {
    const [minutes] = /^[+-]?\d{1,4}/.exec(rest) ?? [];
    if (minutes === undefined) return undefined;
    parts.offsetMs = Number(minutes) * 60_000;
    return from + minutes.length;
  }
  if (/^z/i.test(rest)) {
    parts.offsetMs = 0;
    return from + 1;
  }
  const match = /^([+-])(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?/.exec(rest);
  if (!match) return undefined;
  const [found, sign, hours, minutes = 0, seconds = 0] = match;
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  parts.offsetMs = (sign === "-" ? -size : size) * 1000;
  return from + found.length;
}

function secondsOf(parts: Parts, { zone, nowMs }: ParseTimeOptions): number | undefined {
  const within = parts.fraction ?? 0;
  if (parts.epoch !== undefined) return parts.epoch + within;
  const date = dateOf(parts, nowMs + (parts.zone ?? zone).offsetAt(nowMs));
  if (date === undefined) return undefined;
  const hour12 = parts.hour12 === undefined ? undefined : (parts.hour12 % 12) + 12 * (parts.half ?? 0);
  const hour = parts.hour ?? hour12 ?? 0;
  const localMs = date + ((hour * 60 + (parts.minute ?? 0)) * 60 + (parts.second ?? 0)) * 1000;
  const epochMs =
    parts.offsetMs === undefined ? (parts.zone ?? zone).toEpoch(localMs) : localMs - parts.offsetMs;
  return epochMs / 1000 + within;
}

/** Local midnight of the date, as if it were UTC. Without a date: today. `undefined` for an incomplete or impossible date. */
function dateOf(parts: Parts, nowLocalMs: number): number | undefined {
  const now = new Date(nowLocalMs);
  if (parts.weekYear !== undefined && parts.week !== undefined) {
    return isoWeekMs(parts.weekYear, parts.week) + ((parts.weekday ?? 1) - 1) * DAY_MS;
  }
  const year = parts.year ?? now.getUTCFullYear();
  if (parts.dayOfYear !== undefined) {
    const start = dateMs(year, 1, 1);
    const lastDay = dayOfYear(dateMs(year, 12, 31));
    return parts.dayOfYear > lastDay ? undefined : start + (parts.dayOfYear - 1) * DAY_MS;
  }
  const { month, day } = parts;
  if (month === undefined && day === undefined && parts.year === undefined) {
    return dateMs(year, now.getUTCMonth() + 1, now.getUTCDate());
  }
  if (month === undefined || day === undefined || day > daysInMonth(year, month)) return undefined;
  return dateMs(year, month, day);
}
