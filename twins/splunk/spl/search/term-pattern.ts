/** Terms and phrases as patterns: their ends are where the text has a breaker. */
import { ENCODED_BREAKERS, MAJOR_BREAKERS, MINOR_BREAKERS } from "@offhook/log-store/text/segments";

const LONG_BREAKERS = `--|${ENCODED_BREAKERS}`;
const breaks = { any: `[${MAJOR_BREAKERS}${MINOR_BREAKERS}]`, major: `[${MAJOR_BREAKERS}]` };
const minorBreaker = new RegExp(`[${MINOR_BREAKERS}]`);
const breaker = new RegExp(`[${MAJOR_BREAKERS}${MINOR_BREAKERS}]`);
const withinTerm = `[^${MAJOR_BREAKERS}]*`;

/** A text has the term if it has `tail` behind one of `start`, or a breaker of several characters stands at one of the ends. */
export interface TermPattern {
  /** What the text has in it, in this order; case as written. */
  literals: readonly string[];
  /** For RE2: the term without what stands before it. */
  tail: string;
  /** The same, and a breaker of several characters may end it: few texts have one. */
  longTail: string;
  /** What stands before the term, without and with breakers of several characters; `undefined`: it does not matter. */
  start: { any: string; long: string } | undefined;
}

/**
 * A term or a phrase as patterns: its ends are where the text has a breaker, or they are breakers themselves. `*` stands for
 * characters that are no major breakers; at an end it lets the term go on.
 * @param whole the term is what stands between two major breakers (`TERM`), unless it has no minor breaker itself
 * @returns `undefined`: every text has it
 */
export function termPattern(text: string, whole: boolean): TermPattern | undefined {
  const literals = text.split(/\*+/).filter((part) => part !== "");
  if (literals.length === 0) return undefined;
  const isWhole = whole && minorBreaker.test(text);
  const ends = isWhole ? breaks.major : breaks.any;
  const first = text.charAt(0);
  const last = text.charAt(text.length - 1);
  const opensBefore = first === "*" || (!isWhole && breaker.test(first));
  const opensAfter = last === "*" || (!isWhole && breaker.test(last));
  const inner = literals.map(quoted).join(withinTerm);
  return {
    literals,
    tail: opensAfter ? inner : `${inner}(?:$|${ends})`,
    longTail: opensAfter ? inner : `${inner}(?:$|${ends}|${LONG_BREAKERS})`,
    start: opensBefore ? undefined : { any: `(?:^|${ends})`, long: `(?:^|${ends}|${LONG_BREAKERS})` },
  };
}

/** The text for a pattern, with nothing in it that means something there. */
export function quoted(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}-]/g, "\\$&");
}
