/** Patterns in which `*` is any text: of indices, fields, columns, paths. */

export function matchesPattern(text: string, pattern: string): boolean {
  return matchesParts(text, pattern.split("*"));
}

/** The same of a pattern that is split at its stars: the first part begins the text, the last one ends it. */
export function matchesParts(text: string, parts: readonly string[]): boolean {
  const [first = "", ...between] = parts;
  const last = between.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of between) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length && text.endsWith(last);
}
