/** "did you mean": the known names that resemble an unknown one. Source: `SuggestingErrorOnUnknown` of 8.15. */
import { editDistance } from "./edit-distance.ts";

/** Names that share more than half of their characters with `name`, closest first. */
function similarNames(name: string, known: Iterable<string>): string[] {
  return [...known]
    .map((candidate) => ({ candidate, likeness: likeness(name, candidate) }))
    .filter(({ likeness }) => likeness > 0.5)
    .sort((a, b) => b.likeness - a.likeness || (a.candidate < b.candidate ? -1 : 1))
    .map(({ candidate }) => candidate);
}

/** ` did you mean [bool]?`, ` did you mean any of [match, match_all]?`, or nothing. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const names = similarNames(name, known);
  if (names.length === 0) return "";
  return names.length === 1 ? ` did you mean [${names[0]}]?` : ` did you mean any of [${names.join(", ")}]?`;
}

/** Longer names get no suggestion. */
const MAX_CHARS = 100;

/**
 * Similarity from 0 (nothing in common) to 1 (equal): Levenshtein distance relative to the longer name, in single
 * precision.
 */
function likeness(left: string, right: string): number {
  if (left.length === 0 || right.length === 0) return left === right ? 1 : 0;
  if (left.length > MAX_CHARS) return 0;
  return Math.fround(1 - Math.fround(editDistance(left, right) / Math.max(left.length, right.length)));
}
