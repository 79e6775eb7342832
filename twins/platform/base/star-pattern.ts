/** Patterns in which `*` matches any text, for indices, fields, columns and paths. Matching takes linear time. */

export function matchesPattern(text: string, pattern: string): boolean {
  return matchesParts(text, pattern.split("*"));
}

/** Matches a pattern already split at its stars: the first part begins the text, the last one ends it. */
export function matchesParts(text: string, parts: readonly string[]): boolean {
  return matchStars(text, parts) !== undefined;
}

/** The text that each star matches (non-greedy); `undefined` when the text does not match. */
export function matchStars(text: string, parts: readonly string[]): string[] | undefined {
  const [first = "", ...between] = parts;
  const last = between.pop();
  if (last === undefined) return text === first ? [] : undefined;
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return undefined;
  const stars: string[] = [];
  let at = first.length;
  for (const part of between) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return undefined;
    stars.push(text.slice(at, found));
    at = found + part.length;
  }
  return [...stars, text.slice(at, end)];
}
