/** Times the words of a recording, to tell which of them a part of it covers. */

/** A text with the end frame of each word. Words share the sounding frames in proportion to their letters. */
export interface TimedText {
  text: string;
  words: { word: string; endFrame: number }[];
}

/** A word counts as said from this share of it on: listeners recognise a word before it ends. */
const MIN_WORD_SHARE = 0.85;

export function timeWords(text: string, sounding: readonly boolean[]): TimedText {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const lengths = words.map((word) => word.replace(/[^\p{Letter}\p{Number}]/gu, "").length + 1);
  const letters = lengths.reduce((sum, length) => sum + length, 0);
  const frames = sounding.filter(Boolean).length;
  let said = 0;
  return {
    text,
    words: words.map((word, at) => {
      const from = said;
      said += lengths[at] ?? 0;
      const enough = from + (said - from) * MIN_WORD_SHARE;
      return { word, endFrame: nthSounding(sounding, Math.floor((enough / letters) * frames)) };
    }),
  };
}

/** The words said within the first `frames`. */
export function wordsWithin({ words }: TimedText, frames: number): string[] {
  return words.filter(({ endFrame }) => endFrame <= frames).map(({ word }) => word);
}

/** The common first words of two texts, ignoring punctuation and case, as spelt in the first. */
export function commonPrefix(a: readonly string[], b: readonly string[]): string[] {
  const differs = a.findIndex((word, at) => normaliseWord(word) !== normaliseWord(b[at] ?? ""));
  return differs < 0 ? [...a] : a.slice(0, differs);
}

function normaliseWord(word: string): string {
  return word.toLowerCase().replace(/[^\p{Letter}\p{Number}]/gu, "");
}

/** Position after the nth sounding frame. */
function nthSounding(sounding: readonly boolean[], n: number): number {
  let seen = 0;
  for (const [at, sounds] of sounding.entries()) {
    if (sounds && ++seen >= n) return at + 1;
  }
  return sounding.length;
}
