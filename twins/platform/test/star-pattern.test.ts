import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesParts, matchesPattern } from "../base/star-pattern.ts";

test.each([
  ["logs", "logs", true],
  ["logs", "log", false],
  ["logs-2026", "logs-*", true],
  ["logs", "*", true],
  ["", "*", true],
  ["aba", "ab*ba", false],
  ["abba", "ab*ba", true],
  ["a.b.c", "a*b*c", true],
  ["a.c.b", "a*b*c", false],
  ["abc", "*b", false],
])("whether %j fits %j: %s", (text, pattern, fits) => {
  expect(matchesPattern(text, pattern)).toBe(fits);
});

test("a text fits exactly when each star can stand for a part of it", () => {
  const letters = (alphabet: string[]) => fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 8 });
  fc.assert(
    fc.property(letters(["a", "b", "."]), letters(["a", "b", ".", "*"]), (text, pattern) => {
      const regexp = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
      expect(matchesPattern(text, pattern)).toBe(regexp.test(text));
    }),
    { numRuns: 2000 },
  );
});

test("a star within a part is itself", () => {
  expect(matchesParts("a*b", ["a*b"])).toBe(true);
  expect(matchesParts("axb", ["a*b"])).toBe(false);
  expect(matchesParts("a*bc", ["a*b", ""])).toBe(true);
});
