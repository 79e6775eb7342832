/** Which words of a text have been said when a part of its recording has been heard. */

/**
 * The end of each word, as a number of frames. Words share the time in which there is sound in proportion to their
 * letters; one after a comma or a full stop begins after the pause.
 */
export interface TimedText {
  text: string;
  words: { word: string; endFrame: number }[];
}

/** A word counts as said when this much of it has been heard: listeners know it before it ends. */
const ENOUGH_OF_A_WORD = 0.85;

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
      const enough = from + (said - from) * ENOUGH_OF_A_WORD;
      return { word, endFrame: nthSounding(sounding, Math.floor((enough / letters) * frames)) };
    }),
  };
}

/** The words said within the first `frames`, as the text has them; empty when none is. */
export function wordsWithin({ words }: TimedText, frames: number): string[] {
  return words.filter(({ endFrame }) => endFrame <= frames).map(({ word }) => word);
}

/** The words two texts begin with, punctuation and case aside, as the first has them. */
export function commonBeginning(a: readonly string[], b: readonly string[]): string[] {
  const differs = a.findIndex((word, at) => plain(word) !== plain(b[at] ?? ""));
  return differs < 0 ? [...a] : a.slice(0, differs);
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[^\p{Letter}\p{Number}]/gu, "");
}

/** Position after the nth frame with sound in it. */
function nthSounding(sounding: readonly boolean[], n: number): number {
  let seen = 0;
  for (const [at, sounds] of sounding.entries()) {
    if (sounds && ++seen >= n) return at + 1;
  }
  return sounding.length;
}
