/** Date formats of mappings, queries and aggregations: built-in names and Java patterns, joined by `||`. */

import { type TimeZone, utc } from "@offhook/log-store/dates/time-zone";
import { javaLong } from "../json/java-number.ts";
import { VendorError } from "../vendor/error.ts";
import type { MissingTime } from "./date-fields.ts";
import { matchTokens, parseDateText, printDate } from "./date-text.ts";
import { readPattern, type Token } from "./java-pattern.ts";
import { namedFormat } from "./named-formats.ts";
import { readTimeZone } from "./read-time-zone.ts";

/** The vendor's default for date fields. */
export const defaultDateFormat = "strict_date_optional_time||epoch_millis";

export interface DateFormat {
  /** As written. */
  readonly pattern: string;
  /** Prints by the first alternative. Converts the number to a Java `long` first. */
  format(epochMs: number, zone: TimeZone): string;
  /**
   * Parses by the first alternative that matches.
   * @param zone for texts without one
   * @returns milliseconds since the epoch; `undefined` when none matches
   */
  parse(text: string, zone: TimeZone, missing: MissingTime): number | undefined;
  /** Why a text does not match, in the words of the vendor's parsers. */
  failure(text: string): string;
}

/** Memoizes the parser below, which runs for every value of a document. Formats come from requests, hence the bound. */
const MAX_CACHED_FORMATS = 1_000;
const formatCache = new Map<string, DateFormat>();

/** @throws VendorError `illegal_argument_exception` for an invalid format */
export function readDateFormat(pattern: string): DateFormat {
  const before = formatCache.get(pattern);
  if (before) return before;
  const alternatives = pattern.split("||").map((one) => {
    if (one === "") {
      throw new VendorError(400, { type: "illegal_argument_exception", reason: "No date pattern provided" });
    }
    return readAlternative(one);
  });
  const format: DateFormat = {
    pattern,
    format: (epochMs, zone) => alternatives[0]?.print(javaLong(epochMs), zone) ?? "",
    parse(text, zone, missing) {
      for (const alternative of alternatives) {
        const epochMs = alternative.parse(text, zone, missing);
        if (epochMs !== undefined) return epochMs;
      }
      return undefined;
    },
    failure(text) {
      const [only, ...others] = alternatives;
      const match = others.length === 0 ? only?.match?.(text) : undefined;
      if (!match) return "Failed to parse with all enclosed parsers";
      const { at, whole } = match;
      if (whole && at < text.length) {
        return `Text '${text}' could not be parsed, unparsed text found at index ${at}`;
      }
      return `Text '${text}' could not be parsed at index ${at}`;
    },
  };
  if (formatCache.size < MAX_CACHED_FORMATS) formatCache.set(pattern, format);
  return format;
}

/**
 * @param pattern one or several formats joined by `||`; the first prints
 * @param timeZone a name or an offset; absent: UTC
 */
export function formatDate(epochMs: number, pattern: string, timeZone?: string): string {
  return readDateFormat(pattern).format(epochMs, timeZone === undefined ? utc : readTimeZone(timeZone));
}

/** Parses without date math. @returns milliseconds since the epoch; `undefined` when the text does not match */
export function parseWithPattern(text: string, pattern: string, timeZone?: string): number | undefined {
  return readDateFormat(pattern).parse(text, timeZone === undefined ? utc : readTimeZone(timeZone), "first");
}

interface Alternative {
  print(epochMs: bigint, zone: TimeZone): string;
  parse(text: string, zone: TimeZone, missing: MissingTime): number | undefined;
  /** How far a text matches; absent where the vendor's alternative is several formats itself. */
  match?(text: string): { at: number; whole: boolean };
}

const epochMillis: Alternative = {
  print: (epochMs) => String(epochMs),
  parse: (text) => (/^-?\d{1,15}(?:\.\d{0,6})?$/.test(text) ? Math.floor(Number(text)) : undefined),
};

const epochSecond: Alternative = {
  print: (epochMs) =>
    epochMs % 1000n === 0n ? String(epochMs / 1000n) : (Number(epochMs) / 1000).toFixed(3).replace(/0+$/, ""),
  parse: (text) =>
    /^-?\d{1,12}(?:\.\d{0,9})?$/.test(text) ? Math.floor(Number(text) * 1000 + 1e-6) : undefined,
};

function readAlternative(pattern: string): Alternative {
  if (pattern === "epoch_millis") return epochMillis;
  if (pattern === "epoch_second") return epochSecond;
  const named = namedFormat(pattern);
  const printed = tokensOf(named?.print ?? pattern);
  const parsed = named ? tokensOf(named.parse) : printed;
  const leniency = named?.leniency ?? "smart";
  return {
    print: (epochMs, zone) => printDate(epochMs, printed, zone),
    parse: (text, zone, missing) => parseDateText(text, parsed, { leniency, missing, zone }),
    match: (text) => matchTokens(text, parsed),
  };
}

/** The tokens of a pattern, including the two extra signs of the built-in formats. */
function tokensOf(pattern: string): Token[] {
  return expandSigns(readPattern(pattern));
}

function expandSigns(tokens: readonly Token[]): Token[] {
  return tokens.map((token): Token => {
    if (token.kind === "optional") return { kind: "optional", tokens: expandSigns(token.tokens) };
    if (token.kind === "literal" && token.text === "~") return { kind: "fraction", min: 1, max: 9 };
    return token.kind === "literal" && token.text === "@" ? { kind: "zone" } : token;
  });
}
