/** Terms and phrases as patterns: their ends are where the text has a breaker. */
import { ENCODED_BREAKERS, MAJOR_BREAKERS, MINOR_BREAKERS } from "../../../datasets/segments.ts";

const LONG_BREAKERS = `--|${ENCODED_BREAKERS}`;
const breaks = { any: `[${MAJOR_BREAKERS}${MINOR_BREAKERS}]`, major: `[${MAJOR_BREAKERS}]` };
const minorBreaker = new RegExp(`[${MINOR_BREAKERS}]`);
const breaker = new RegExp(`[${MAJOR_BREAKERS}${MINOR_BREAKERS}]`);
const withinTerm = `[^${MAJOR_BREAKERS}]*`;

export interface TermPattern {
  /** For RE2, to be looked for anywhere in the text; `undefined`: every text matches. */
  pattern: string | undefined;
  /** The same where a breaker of several characters counts, too: it takes far longer, and few texts have one. */
  longPattern: string | undefined;
  /** What a text that matches has in it, in this order; case as written. */
  literals: readonly string[];
}

/**
 * A term or a phrase as a pattern: its ends are where the text has a breaker, or they are breakers themselves. `*` stands for
 * characters that are no major breakers; at an end it lets the term go on.
 * @param whole the term is what stands between two major breakers (`TERM`), unless it has no minor breaker itself
 */
export function termPattern(text: string, whole: boolean): TermPattern {
  const literals = text.split(/\*+/).filter((part) => part !== "");
  if (literals.length === 0) return { pattern: undefined, longPattern: undefined, literals };
  const isWhole = whole && minorBreaker.test(text);
  const ends = isWhole ? breaks.major : breaks.any;
  const first = text.charAt(0);
  const last = text.charAt(text.length - 1);
  const opensBefore = first === "*" || (!isWhole && breaker.test(first));
  const opensAfter = last === "*" || (!isWhole && breaker.test(last));
  const inner = literals.map(quoted).join(withinTerm);
  const pattern = (end: string) =>
    (opensBefore ? "" : `(?:^|${end})`) + inner + (opensAfter ? "" : `(?:$|${end})`);
  return { pattern: pattern(ends), longPattern: pattern(`${ends}|${LONG_BREAKERS}`), literals };
}

/** The text for a pattern, with nothing in it that means something there. */
function quoted(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}-]/g, "\\$&");
}
