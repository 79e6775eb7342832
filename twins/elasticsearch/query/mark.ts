/** The terms and phrases that a query searches for, as highlighting needs them. */
import { editDistance } from "../vendor/edit-distance.ts";

/** Whether a term of the text matches. */
type Fits = (term: string) => boolean;

/** One term. */
export interface TermMark {
  readonly kind: "term";
  readonly key: string;
}

/** Terms that match a pattern. */
export interface PatternMark {
  readonly kind: "pattern";
  /** Equal for marks that count as one when passages are compared. */
  readonly key: string;
  readonly fits: Fits;
}

/** Words at relative positions; `slop`: how far they may move. */
export interface PhraseMark {
  readonly kind: "phrase";
  readonly key: string;
  readonly slots: readonly { readonly place: number; readonly fits: Fits }[];
  readonly slop: number;
}

export type Mark = TermMark | PatternMark | PhraseMark;

export function termMark(term: string): TermMark {
  return { kind: "term", key: term };
}

interface Case {
  readonly caseInsensitive: boolean;
}

export function prefixMark(
  prefix: string,
  { caseInsensitive }: Case = { caseInsensitive: false },
): PatternMark {
  const start = caseInsensitive ? prefix.toLowerCase() : prefix;
  const cased = (term: string) => (caseInsensitive ? term.toLowerCase() : term);
  return { kind: "pattern", key: `${prefix}*`, fits: (term) => cased(term).startsWith(start) };
}

/** Words within an edit distance of this one that share its prefix. */
export function fuzzyMark(
  word: string,
  changes: number,
  { prefixLength, transpositions }: { prefixLength: number; transpositions: boolean },
): PatternMark {
  const start = word.slice(0, prefixLength);
  const isNear = (term: string) => Math.abs(term.length - word.length) <= changes;
  return {
    kind: "pattern",
    key: `${word}~`,
    fits: (term) =>
      term.startsWith(start) && isNear(term) && editDistance(term, word, { transpositions }) <= changes,
  };
}

export type WildcardPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "any" | "one" };

export function wildcardMark(parts: readonly WildcardPart[], { caseInsensitive }: Case): PatternMark {
  const cased = (text: string) => (caseInsensitive ? text.toLowerCase() : text);
  const steps = parts.flatMap((part): string[] => {
    if (part.kind === "text") return [...cased(part.text)];
    return [part.kind === "any" ? ANY : ONE];
  });
  return {
    kind: "pattern",
    key: `wildcard ${steps.join("")}`,
    fits: (term) => fitsSteps([...cased(term)], steps),
  };
}

/** Longer than one character, so that they equal no character of a text. */
const ANY = "any text";
const ONE = "any character";

/** Matches lazily: on a mismatch the last star takes one more character. */
function fitsSteps(characters: readonly string[], steps: readonly string[]): boolean {
  let [at, step] = [0, 0];
  let back: { at: number; step: number } | undefined;
  while (at < characters.length) {
    if (steps[step] === ANY) back = { at, step: step++ };
    else if (steps[step] === ONE || steps[step] === characters[at]) [at, step] = [at + 1, step + 1];
    else if (back) {
      back = { at: back.at + 1, step: back.step };
      [at, step] = [back.at, back.step + 1];
    } else return false;
  }
  return steps.slice(step).every((rest) => rest === ANY);
}
