/** What a query looks for in a text: what highlighting marks. */
import { editDistance } from "../vendor/edit-distance.ts";

/** Whether a term of a text is meant. */
type Fits = (term: string) => boolean;

/** One term. */
export interface TermMark {
  readonly kind: "term";
  readonly key: string;
}

/** Terms that are like something. */
export interface LikeMark {
  readonly kind: "like";
  /** Alike for what counts as one when passages are compared. */
  readonly key: string;
  readonly fits: Fits;
}

/** Words in places of their own; `slop`: how far they may have moved. */
export interface PhraseMark {
  readonly kind: "phrase";
  readonly key: string;
  readonly slots: readonly { readonly place: number; readonly fits: Fits }[];
  readonly slop: number;
}

export type Mark = TermMark | LikeMark | PhraseMark;

export function termMark(term: string): TermMark {
  return { kind: "term", key: term };
}

export function prefixMark(prefix: string, caseInsensitive: boolean): LikeMark {
  const start = caseInsensitive ? prefix.toLowerCase() : prefix;
  const cased = (term: string) => (caseInsensitive ? term.toLowerCase() : term);
  return { kind: "like", key: `${prefix}*`, fits: (term) => cased(term).startsWith(start) };
}

/** Words that so many changes make of this one, and which begin with the same characters. */
export function fuzzyMark(
  word: string,
  changes: number,
  { prefixLength, transpositions }: { prefixLength: number; transpositions: boolean },
): LikeMark {
  const start = word.slice(0, prefixLength);
  const isNear = (term: string) => Math.abs(term.length - word.length) <= changes;
  return {
    kind: "like",
    key: `${word}~`,
    fits: (term) =>
      term.startsWith(start) && isNear(term) && editDistance(term, word, { transpositions }) <= changes,
  };
}

export type WildcardPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "any" | "one" };

export function wildcardMark(parts: readonly WildcardPart[], caseInsensitive: boolean): LikeMark {
  const cased = (text: string) => (caseInsensitive ? text.toLowerCase() : text);
  const steps = parts.flatMap((part): string[] => {
    if (part.kind === "text") return [...cased(part.text)];
    return [part.kind === "any" ? ANY : ONE];
  });
  return {
    kind: "like",
    key: `wildcard ${steps.join("")}`,
    fits: (term) => fitsSteps([...cased(term)], steps),
  };
}

/** Longer than a character, so that none is taken for one. */
const ANY = "any text";
const ONE = "any character";

/** Each star stands for as little as it can: when the rest does not fit, the last one takes one character more. */
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
