/** Finds phrases in spoken text by their words; case and punctuation do not count. */

const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;

/** The words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  return (text.match(WORD) ?? []).map((word) => word.toLowerCase().replaceAll("’", "'"));
}

/** Whether `words` contains the words of `phrase` in a row; false for a phrase without words. */
function containsPhrase(words: readonly string[], phrase: string): boolean {
  const wanted = wordsOf(phrase);
  if (wanted.length === 0) return false;
  for (let at = 0; at + wanted.length <= words.length; at++) {
    if (wanted.every((word, offset) => words[at + offset] === word)) return true;
  }
  return false;
}

/** Whether `text` contains any of `phrases`. */
export function saysAny(text: string, phrases: readonly string[]): boolean {
  const words = wordsOf(text);
  return phrases.some((phrase) => containsPhrase(words, phrase));
}

/** Whether `text` is nothing but phrases out of `phrases` ("okay, got it" of "okay" and "got it"). */
export function isOnly(text: string, phrases: readonly string[]): boolean {
  const words = wordsOf(text);
  const known = phrases.map(wordsOf).filter((phrase) => phrase.length > 0);
  const reachable = new Set([0]);
  for (let at = 0; at < words.length; at++) {
    if (!reachable.has(at)) continue;
    for (const phrase of known) {
      if (phrase.every((word, offset) => words[at + offset] === word)) reachable.add(at + phrase.length);
    }
  }
  return words.length > 0 && reachable.has(words.length);
}
