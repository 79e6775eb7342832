/**
 * Matches speech against a pattern of words. Case, punctuation and spacing do not count; `*` stands for any number of
 * words, including none. Words are compared as tokens, so no user text becomes a regular expression.
 */

const WILDCARD = Symbol("any words");
type PatternWord = string | typeof WILDCARD;

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** The words of a text: letters and digits, in lower case. */
export function words(text: string): string[] {
  return [...segmenter.segment(text)]
    .filter((segment) => segment.isWordLike)
    .map((segment) => segment.segment.toLowerCase());
}

/** Why a pattern cannot be used, or `undefined`. */
export function patternProblem(pattern: string): string | undefined {
  const chunks = pattern.split(/\s+/).filter(Boolean);
  if (chunks.length === 0) return "is empty; write the words to hear, or * for anything";
  const glued = chunks.find((chunk) => chunk.includes("*") && chunk !== "*");
  if (glued) return `"${glued}" joins * with a word; * stands alone, between spaces, for any words`;
  const silent = chunks.find((chunk) => chunk !== "*" && words(chunk).length === 0);
  return silent ? `"${silent}" has no letters or digits to hear` : undefined;
}

/** Whether a pattern names a word to hear; one of wildcards alone matches anything. */
export function namesWords(pattern: string): boolean {
  return words(pattern).length > 0;
}

/** Whether the pattern matches everything that was heard. */
export function matchesWords(pattern: string, heard: string): boolean {
  const wanted = pattern
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((chunk): PatternWord[] => (chunk === "*" ? [WILDCARD] : words(chunk)));
  return matches(wanted, words(heard));
}

/** Walks both lists once, and backtracks to the last wildcard on a mismatch. */
function matches(pattern: readonly PatternWord[], heard: readonly string[]): boolean {
  let at = 0;
  let wildcard = -1;
  let resume = 0;
  for (let word = 0; word < heard.length; ) {
    if (pattern[at] === WILDCARD) {
      wildcard = at++;
      resume = word;
    } else if (at < pattern.length && pattern[at] === heard[word]) {
      at++;
      word++;
    } else if (wildcard >= 0) {
      at = wildcard + 1;
      word = ++resume;
    } else return false;
  }
  while (pattern[at] === WILDCARD) at++;
  return at === pattern.length;
}
