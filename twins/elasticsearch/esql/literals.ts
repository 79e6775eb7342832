/** Parses literals: strings, numbers, time spans, and lists of them. */
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { parsingError, type Span, syntaxError } from "./errors.ts";
import type { Params } from "./params.ts";
import type { Literal, TimeSpan } from "./syntax.ts";
import { negateSpan } from "./time-arithmetic.ts";
import type { TokenReader } from "./token-reader.ts";
import type { Token } from "./tokens.ts";

type NumberLiteral = Extract<Literal, { type: "integer" | "long" | "unsigned_long" | "double" }>;

/** Reads a literal if one is next; a number takes the time unit after it along. */
export function takeLiteral(reader: TokenReader, params: Params): Literal | undefined {
  const token = reader.peek();
  if (token.kind === "keyword") {
    if (token.value === "null") {
      reader.next();
      return { type: "null" };
    }
    if (token.value !== "true" && token.value !== "false") return undefined;
    reader.next();
    return { type: "boolean", value: token.value === "true" };
  }
  if (token.kind === "string") {
    reader.next();
    return { type: "keyword", value: token.value };
  }
  if (token.kind === "param") {
    reader.next();
    return params.resolve(token.value, token);
  }
  if (token.kind !== "integer" && token.kind !== "decimal") return undefined;
  reader.next();
  const number = numberLiteral(token);
  const unit = token.kind === "integer" ? reader.take("name") : undefined;
  return unit && number.type !== "double"
    ? { type: "span", value: parseTimeSpan(BigInt(token.value), unit.value, reader.spanFrom(token)) }
    : number;
}

/** `[value, value, …]` of numbers, strings or booleans; the first value decides which. */
export function takeListItems(reader: TokenReader): Literal[] {
  const open = reader.next();
  const items = [takeListItem(reader, open, undefined)];
  while (reader.take("symbol", ",")) items.push(takeListItem(reader, open, items[0]));
  reader.expect("symbol", "]", "{',', ']'}");
  const unsigned =
    items.some(({ type }) => type === "unsigned_long") && items.every(({ type }) => type !== "double");
  if (unsigned && items.some((item) => typeof item.value === "bigint" && item.value < 0n))
    throw parsingError(open, "unsigned_long overflow");
  return items;
}

type ListItem = Exclude<Literal, { type: "null" | "span" }>;

function takeListItem(reader: TokenReader, open: Token, first: ListItem | undefined): ListItem {
  const sign = reader.take("symbol", "-") ?? reader.take("symbol", "+");
  const token = reader.next();
  const item = listItem(token);
  const signed = item && sign?.value === "-" ? negateNumber(item) : item;
  if (signed && (!sign || isNumber(signed)) && (!first || kindOf(first) === kindOf(signed))) return signed;
  const found = `input '${reader.textOf(token)}'`;
  if (first?.type === "keyword") throw syntaxError(token, `mismatched ${found} expecting QUOTED_STRING`);
  if (first?.type === "boolean") throw syntaxError(token, `mismatched ${found} expecting {'false', 'true'}`);
  throw syntaxError(token, `no viable alternative at input '${reader.query.slice(open.start, token.end)}'`);
}

function listItem(token: Token): ListItem | undefined {
  if (token.kind === "string") return { type: "keyword", value: token.value };
  if (token.kind === "integer" || token.kind === "decimal") return numberLiteral(token);
  if (token.kind === "keyword" && (token.value === "true" || token.value === "false"))
    return { type: "boolean", value: token.value === "true" };
  return undefined;
}

function isNumber({ type }: ListItem): boolean {
  return type !== "keyword" && type !== "boolean";
}

function kindOf(item: ListItem): string {
  return isNumber(item) ? "number" : item.type;
}

function numberLiteral(token: Token): NumberLiteral {
  if (token.kind === "decimal") {
    const value = Number(token.value);
    if (!Number.isFinite(value)) throw parsingError(token, `Number [${token.value}] is too large`);
    return { type: "double", value };
  }
  return integerLiteral(BigInt(token.value.length > 400 ? token.value.slice(0, 400) : token.value));
}

/** The narrowest type that holds the value. */
export function integerLiteral(value: bigint): NumberLiteral {
  if (BigInt.asIntN(32, value) === value) return { type: "integer", value };
  if (BigInt.asIntN(64, value) === value) return { type: "long", value };
  if (BigInt.asUintN(64, value) === value) return { type: "unsigned_long", value };
  return { type: "double", value: Number(value) };
}

function negateNumber(literal: Literal): NumberLiteral | undefined {
  if (literal.type === "double") return { type: "double", value: -literal.value };
  if (literal.type === "integer" || literal.type === "long" || literal.type === "unsigned_long") {
    return integerLiteral(-literal.value);
  }
  return undefined;
}

/** `undefined` for a literal without a sign. */
export function negateLiteral(literal: Literal): Literal | undefined {
  if (literal.type === "span") {
    return { type: "span", value: negateSpan(literal.value) };
  }
  return negateNumber(literal);
}

/** Time units by name. */
const spanUnits = lookupTable<(count: number) => Partial<TimeSpan>>({
  millisecond: (count) => ({ ms: count }),
  second: (count) => ({ ms: count * 1000 }),
  minute: (count) => ({ ms: count * 60_000 }),
  hour: (count) => ({ ms: count * 3_600_000 }),
  day: (count) => ({ days: count }),
  week: (count) => ({ days: count * 7 }),
  month: (count) => ({ months: count }),
  quarter: (count) => ({ months: count * 3 }),
  year: (count) => ({ years: count }),
});
const shortUnits = lookupTable<string>({
  ms: "millisecond",
  s: "second",
  sec: "second",
  min: "minute",
  h: "hour",
  d: "day",
  w: "week",
  mo: "month",
  q: "quarter",
  y: "year",
  yr: "year",
});
/** About 290 years: date arithmetic has no use for longer spans. */
const MAX_SPAN_MS = 9_223_372_036_854;
const MAX_UNITS = 2_147_483_647;

/** @throws VendorError for an unknown unit */
function parseTimeSpan(count: bigint, unit: string, at: Span): TimeSpan {
  const given = unit.toLowerCase();
  const singular = shortUnits[given] ?? given.replace(/s$/, "");
  const make = Object.hasOwn(spanUnits, singular) ? spanUnits[singular] : undefined;
  if (!make) throw parsingError(at, `Unexpected time interval qualifier: '${given}'`);
  const parts = make(Number(count));
  const span = { years: 0, months: 0, days: 0, ms: 0, clock: parts.ms !== undefined, ...parts };
  const calendar = Math.max(Math.abs(span.years), Math.abs(span.months), Math.abs(span.days));
  if (calendar > MAX_UNITS || Math.abs(span.ms) > MAX_SPAN_MS)
    throw parsingError(at, `Number [${count}] outside of [${given}] range`);
  return span;
}
