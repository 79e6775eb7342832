/** `*` in the names of fields. */
import { matchesPattern, matchStars } from "@offhook/platform/base/star-pattern";
import { type Column, columnOf, type Relation } from "./relation.ts";

export function hasWildcard(pattern: string): boolean {
  return pattern.includes("*");
}

/** Whether a field is internal: `*` does not stand for the beginning of its name. */
function isInternal(name: string): boolean {
  return name.startsWith("_");
}

/**
 * What each `*` of the pattern stands for in the name, as little as it can be; `undefined` when the name does not fit. Only a pattern
 * that begins with `_` fits an internal field.
 */
export function wildcardMatch(pattern: string, name: string): string[] | undefined {
  if (isInternal(name) && !isInternal(pattern)) return undefined;
  return matchStars(name, pattern.split("*"));
}

/** Whether a text is what a pattern with `*` says, whatever its case. */
export function isLike(content: string, pattern: string): boolean {
  return matchesPattern(content.toLowerCase(), pattern.toLowerCase());
}

/** The pattern with these in the place of its `*`. */
export function fillWildcards(pattern: string, parts: readonly string[]): string {
  const [first = "", ...rest] = pattern.split("*");
  return rest.reduce((name, piece, index) => `${name}${parts[index] ?? ""}${piece}`, first);
}

export function countWildcards(pattern: string): number {
  return pattern.split("*").length - 1;
}

/** The fields that the patterns name, each once, in the patterns' order; those of one pattern in the rows' order. */
export function matchingColumns(relation: Relation, patterns: readonly string[]): Column[] {
  const found = patterns.flatMap((pattern) =>
    hasWildcard(pattern)
      ? relation.columns.filter(({ name }) => wildcardMatch(pattern, name) !== undefined)
      : (columnOf(relation, pattern) ?? []),
  );
  return [...new Set(found)];
}

/** The same with names that no row has, when they have no wildcard. */
export function matchingNames(relation: Relation, patterns: readonly string[]): string[] {
  const names = patterns.flatMap((pattern) =>
    hasWildcard(pattern) ? matchingColumns(relation, [pattern]).map(({ name }) => name) : [pattern],
  );
  return [...new Set(names)];
}
