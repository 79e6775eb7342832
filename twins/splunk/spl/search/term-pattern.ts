/** Compiles terms and phrases to regular expressions that match between breakers. */
import { ENCODED_BREAKERS, MAJOR_BREAKERS, MINOR_BREAKERS } from "@offhook/log-store/text/segments";
import type { SearchExpression } from "../syntax/ast.ts";

const LONG_BREAKERS = `--|${ENCODED_BREAKERS}`;
const breakerClass = { any: `[${MAJOR_BREAKERS}${MINOR_BREAKERS}]`, major: `[${MAJOR_BREAKERS}]` };
const minorBreaker = new RegExp(`[${MINOR_BREAKERS}]`);
const breaker = new RegExp(`[${MAJOR_BREAKERS}${MINOR_BREAKERS}]`);
const withinTerm = `[^${MAJOR_BREAKERS}]*`;

type TermMode = Extract<SearchExpression, { node: "term" }>["mode"];

/** A text has the term if it has `tail` after one of `start`; the long forms also accept breakers of several characters. */
export interface TermPattern {
  /** Literal parts, in order; case as written. */
  literals: readonly string[];
  /** RE2 pattern of the term and its end. */
  tail: string;
  /** As `tail`, with breakers of several characters, which few texts have. */
  longTail: string;
  /** RE2 pattern of what precedes the term, without and with breakers of several characters; `undefined`: anything. */
  start: { any: string; long: string } | undefined;
}

/**
 * The pattern of a term or phrase: it begins and ends at a breaker of the text, or with a breaker of its own. `*` matches anything but
 * major breakers; at an end, it leaves that end open.
 * @param mode `term`: ends must be major breakers (`TERM`), if the term contains a minor breaker
 * @returns `undefined` when every text matches
 */
export function termPattern(text: string, mode: TermMode): TermPattern | undefined {
  const literals = text.split(/\*+/).filter((part) => part !== "");
  if (literals.length === 0) return undefined;
  const isWhole = mode === "term" && minorBreaker.test(text);
  const ends = isWhole ? breakerClass.major : breakerClass.any;
  const first = text.charAt(0);
  const last = text.charAt(text.length - 1);
  const opensBefore = first === "*" || (!isWhole && breaker.test(first));
  const opensAfter = last === "*" || (!isWhole && breaker.test(last));
  const inner = literals.map(escapeRegex).join(withinTerm);
  return {
    literals,
    tail: opensAfter ? inner : `${inner}(?:$|${ends})`,
    longTail: opensAfter ? inner : `${inner}(?:$|${ends}|${LONG_BREAKERS})`,
    start: opensBefore ? undefined : { any: `(?:^|${ends})`, long: `(?:^|${ends}|${LONG_BREAKERS})` },
  };
}

/** Escapes a literal for use in a regular expression. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}-]/g, "\\$&");
}
