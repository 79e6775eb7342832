/** "did you mean": the known names that a wrong one is close to. */

const MOST = 5;

/** Names within two changes, or that share most of the word, closest first. */
export function similar(name: string, known: readonly string[]): string[] {
  return known
    .map((candidate) => ({ candidate, changes: distance(name, candidate) }))
    .filter(({ candidate, changes }) => changes <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.changes - b.changes || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, MOST)
    .map(({ candidate }) => candidate);
}

/** ` did you mean [bool]?`, ` did you mean any of [match, match_all]?`, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const names = similar(name, known);
  if (names.length === 0) return "";
  return names.length === 1 ? ` did you mean [${names[0]}]?` : ` did you mean any of [${names.join(", ")}]?`;
}

/** Levenshtein's distance; names are short, longer ones are cut. */
function distance(a: string, b: string): number {
  const [left, right] = [a.slice(0, 64), b.slice(0, 64)];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
