/** Edit distances between names or words. */

/**
 * Levenshtein distance: insertions, removals and substitutions that turn one text into the other. With `transpositions`
 * (Damerau), swapping two neighbours counts as one change, too.
 */
export function editDistance(left: string, right: string, { transpositions = false } = {}): number {
  let [before, row]: [number[], number[]] = [
    [],
    Array.from({ length: right.length + 1 }, (_, index) => index),
  ];
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const isSame = left[i - 1] === right[j - 1];
      const isSwapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const changed = (row[j - 1] ?? 0) + (isSame ? 0 : 1);
      const swapped = transpositions && isSwapped ? (before[j - 2] ?? 0) + 1 : changed;
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[right.length] ?? 0;
}
