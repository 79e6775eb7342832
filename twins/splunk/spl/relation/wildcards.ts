/** Wildcards (`*`) in the names of fields. */
import { matchesPattern, matchStars } from "@offhook/platform/base/star-pattern";
import { type Column, columnOf, type Relation } from "./relation.ts";

export function hasWildcard(pattern: string): boolean {
  return pattern.includes("*");
}

/** Internal fields begin with `_`: a leading `*` does not match them. */
function isInternal(name: string): boolean {
  return name.startsWith("_");
}

/**
 * Matches a name against a pattern. Only a pattern that begins with `_` matches an internal field.
 * @returns what each `*` stands for, the shortest first; `undefined` for no match
 */
export function wildcardMatch(pattern: string, name: string): string[] | undefined {
  if (isInternal(name) && !isInternal(pattern)) return undefined;
  return matchStars(name, pattern.split("*"));
}

/** Whether a text matches a pattern, ignoring case. */
export function isLike(content: string, pattern: string): boolean {
  return matchesPattern(content.toLowerCase(), pattern.toLowerCase());
}

/** Replaces each `*` of a pattern by the next part. */
export function fillWildcards(pattern: string, parts: readonly string[]): string {
  const [first = "", ...rest] = pattern.split("*");
  return rest.reduce((name, piece, index) => `${name}${parts[index] ?? ""}${piece}`, first);
}

export function countWildcards(pattern: string): number {
  return pattern.split("*").length - 1;
}

/** Fields that match the patterns, each once: in the order of the patterns, then of the relation. */
export function matchingColumns(relation: Relation, patterns: readonly string[]): Column[] {
  const found = patterns.flatMap((pattern) =>
    hasWildcard(pattern)
      ? relation.columns.filter(({ name }) => wildcardMatch(pattern, name) !== undefined)
      : (columnOf(relation, pattern) ?? []),
  );
  return [...new Set(found)];
}

/** Like `matchingColumns`, but a name without a wildcard counts even if the relation lacks it. */
export function matchingNames(relation: Relation, patterns: readonly string[]): string[] {
  const names = patterns.flatMap((pattern) =>
    hasWildcard(pattern) ? matchingColumns(relation, [pattern]).map(({ name }) => name) : [pattern],
  );
  return [...new Set(names)];
}
