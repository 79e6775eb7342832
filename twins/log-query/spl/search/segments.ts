/**
 * How splunkd cuts an event's text into the terms it can be found by. Major breakers end a term; minor breakers cut it further.
 * Source: https://help.splunk.com/en/splunk-enterprise/search/spl2-search-manual/event-segmentation
 */

/** For a character class of RE2. */
const MAJOR = "\\[\\]<>(){}|!;,'\"*\\s&?+";
const MINOR = "/:=@.\\-$#%\\\\_";
/** Major breakers of several characters: encoded marks, and two hyphens. */
const MAJOR_PAIRS = "--|%21|%26|%2526|%3B|%7C|%20|%2B|%3D|%2520|%5D|%5B|%3A|%0A|%2C|%28|%29";

const minorBreaker = /[/:=@.\-$#%\\_]/;
const breaker = /[[\]<>(){}|!;,'"*\s&?+/:=@.\-$#%\\_]/;

const characterClasses = {
  any: `[${MAJOR}${MINOR}]|${MAJOR_PAIRS}`,
  major: `[${MAJOR}]|${MAJOR_PAIRS}`,
};
const withinTerm = `[^${MAJOR}]*`;

export interface TermPattern {
  /** For RE2, to be looked for anywhere in the text; `undefined`: every text matches. */
  pattern: string | undefined;
  /** What a text that matches has in it, in this order; case as written. */
  literals: readonly string[];
}

/**
 * A term or a phrase as a pattern: its ends are where the text has a breaker, or they are breakers themselves. `*` stands for
 * characters that are no major breakers; at an end it lets the term go on.
 * @param whole the term is what stands between two major breakers (`TERM`), unless it has no minor breaker itself
 */
export function termPattern(text: string, whole: boolean): TermPattern {
  const literals = text.split(/\*+/);
  const parts = literals.filter((part) => part !== "");
  if (parts.length === 0) return { pattern: undefined, literals: [] };
  const ends = whole && minorBreaker.test(text) ? characterClasses.major : characterClasses.any;
  const first = text.charAt(0);
  const last = text.charAt(text.length - 1);
  const before = first === "*" || (!whole && breaker.test(first)) ? "" : `(?:^|${ends})`;
  const after = last === "*" || (!whole && breaker.test(last)) ? "" : `(?:$|${ends})`;
  return { pattern: before + parts.map(quoted).join(withinTerm) + after, literals: parts };
}

/** The text for a pattern, with nothing in it that means something there. */
function quoted(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}-]/g, "\\$&");
}
