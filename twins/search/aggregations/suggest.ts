/** "did you mean": names that are near to one that nobody knows. */

/** ` did you mean [x]?`, ` did you mean any of [x, y]?`, or nothing. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = [...known]
    .map((candidate) => ({ candidate, likeness: likeness(name, candidate) }))
    .filter(({ likeness }) => likeness > 0.5)
    .sort((a, b) => b.likeness - a.likeness || (a.candidate < b.candidate ? -1 : 1))
    .map(({ candidate }) => candidate);
  if (near.length === 0) return "";
  return near.length === 1 ? ` did you mean [${near[0]}]?` : ` did you mean any of [${near.join(", ")}]?`;
}

const MAX_LENGTH = 100;

/** One less the share of characters to change. */
function likeness(a: string, b: string): number {
  if (a.length > MAX_LENGTH) return 0;
  let before = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = (before[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(change, (before[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    before = current;
  }
  return 1 - (before[b.length] ?? 0) / Math.max(a.length, b.length, 1);
}
