/** Date formats as mappings, queries and aggregations name them: built-in names and Java patterns, several joined by `||`. */

import { type TimeZone, utc } from "@offhook/log-store/dates/time-zone";
import { javaLong } from "../json/java-number.ts";
import { VendorError } from "../vendor/error.ts";
import type { MissingTime } from "./date-fields.ts";
import { matchedLength, parseDateText, printDate } from "./date-text.ts";
import { readPattern, type Token } from "./java-pattern.ts";
import { namedFormat } from "./named-formats.ts";
import { readTimeZone } from "./read-time-zone.ts";

/** What the vendor gives a date field that says nothing else. */
export const defaultDateFormat = "strict_date_optional_time||epoch_millis";

export interface DateFormat {
  /** As it was written. */
  readonly pattern: string;
  /** By its first alternative; of a number that is no whole one of 64 bits, the one that Java makes of it. */
  format(epochMs: number, zone: TimeZone): string;
  /**
   * By the first alternative that fits.
   * @param zone of a text that names none
   * @returns milliseconds since the epoch; `undefined` when none fits
   */
  parse(text: string, zone: TimeZone, missing: MissingTime): number | undefined;
  /** Why a text is not of it, in the words of the vendor's parsers. */
  failure(text: string): string;
}

const MAX_KNOWN_FORMATS = 1_000;
const known = new Map<string, DateFormat>();

/** @throws VendorError `illegal_argument_exception` when it is no format. */
export function readDateFormat(pattern: string): DateFormat {
  const before = known.get(pattern);
  if (before) return before;
  const alternatives = pattern.split("||").map((one) => {
    if (one === "") {
      throw new VendorError(400, { type: "illegal_argument_exception", reason: "No date pattern provided" });
    }
    return readOne(one);
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
      const matched = others.length === 0 ? only?.matched?.(text) : undefined;
      if (!matched) return "Failed to parse with all enclosed parsers";
      const { at, whole } = matched;
      if (whole && at < text.length) {
        return `Text '${text}' could not be parsed, unparsed text found at index ${at}`;
      }
      return `Text '${text}' could not be parsed at index ${at}`;
    },
  };
  if (known.size < MAX_KNOWN_FORMATS) known.set(pattern, format);
  return format;
}

/**
 * @param pattern a format, several joined by `||` (the first prints)
 * @param timeZone a name or an offset; UTC when absent
 */
export function formatDate(epochMs: number, pattern: string, timeZone?: string): string {
  return readDateFormat(pattern).format(epochMs, timeZone === undefined ? utc : readTimeZone(timeZone));
}

/** Milliseconds since the epoch; `undefined` when the text is not of the format. No date math. */
export function parseWithPattern(text: string, pattern: string, timeZone?: string): number | undefined {
  return readDateFormat(pattern).parse(text, timeZone === undefined ? utc : readTimeZone(timeZone), "first");
}

interface Alternative {
  print(epochMs: bigint, zone: TimeZone): string;
  parse(text: string, zone: TimeZone, missing: MissingTime): number | undefined;
  /** How far a text is of it; absent where it stands for several formats. */
  matched?(text: string): { at: number; whole: boolean };
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

function readOne(pattern: string): Alternative {
  if (pattern === "epoch_millis") return epochMillis;
  if (pattern === "epoch_second") return epochSecond;
  const named = namedFormat(pattern);
  const printed = tokensOf(named?.print ?? pattern);
  const parsed = named ? tokensOf(named.parse) : printed;
  const leniency = named?.leniency ?? "smart";
  return {
    print: (epochMs, zone) => printDate(epochMs, printed, zone),
    parse: (text, zone, missing) => parseDateText(text, parsed, { leniency, missing, zone }),
    matched: (text) => matchedLength(text, parsed),
  };
}

/** The tokens of a pattern, and of the two signs that the built-in formats have besides. */
function tokensOf(pattern: string): Token[] {
  return extended(readPattern(pattern));
}

function extended(tokens: readonly Token[]): Token[] {
  return tokens.map((token): Token => {
    if (token.kind === "optional") return { kind: "optional", tokens: extended(token.tokens) };
    if (token.kind === "literal" && token.text === "~") return { kind: "fraction", min: 1, max: 9 };
    return token.kind === "literal" && token.text === "@" ? { kind: "zone" } : token;
  });
}
