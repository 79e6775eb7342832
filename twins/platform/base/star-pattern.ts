/** Patterns in which `*` is any text: of indices, fields, columns, paths. The one matcher of them; its time grows with the text alone. */

export function matchesPattern(text: string, pattern: string): boolean {
  return matchesParts(text, pattern.split("*"));
}

/** The same of a pattern that is split at its stars: the first part begins the text, the last one ends it. */
export function matchesParts(text: string, parts: readonly string[]): boolean {
  return matchStars(text, parts) !== undefined;
}

/** What each star between the parts stands for, as little as it can be; `undefined` when the text does not fit. */
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
