import { expectLinearTime, LONG } from "@offhook/platform/testing/linear-time";
import fc from "fast-check";
import { expect, test } from "vitest";
import { containsWords, differences, fillIn, fillInAll } from "../match.ts";

test("text is found regardless of case and punctuation, but only in whole words", () => {
  expect(containsWords("I have opened INC-1042, with severity two.", "opened inc 1042 with")).toBe(true);
  expect(containsWords("I have reopened it.", "opened")).toBe(false);
  expect(containsWords("Yes.", "no")).toBe(false);
});

test("an object may have further members, and every difference is named", () => {
  const found = { id: "INC-7", severity: 3, tags: ["a", "b"] };
  expect(differences({ id: "INC-*", tags: ["a", "*"] }, found, "result")).toEqual([]);
  expect(differences({ id: "7", severity: 2, open: true }, found, "result")).toEqual([
    'result.id: expected "7", found "INC-7"',
    "result.severity: expected 2, found 3",
    "result.open: expected true, found nothing",
  ]);
  expect(differences(["a"], ["a", "b"], "tags")).toEqual(['tags: expected ["a"], found ["a","b"]']);
  expect(differences({ a: 1 }, null, "result")).toHaveLength(1);
});

test("every value matches itself, and a star stands for any text", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(differences(value, structuredClone(value), "v")).toEqual([]);
    }),
  );
  const plain = fc.string().filter((text) => !text.includes("*"));
  fc.assert(
    fc.property(plain, plain, plain, (a, b, c) => {
      expect(differences(`${a}*${c}`, `${a}${b}${c}`, "v")).toEqual([]);
      expect(differences(`*${b}*`, `${a}${b}${c}`, "v")).toEqual([]);
    }),
  );
});

test("a star in a tool's result is literal; only the scenario's stars stand for any text", () => {
  const results = new Map<string, unknown>([["open", { id: "INC-*" }]]);
  const where = { path: "/{{open.id}}/*" };
  expect(differences(where, { path: "/INC-*/events" }, "v", results)).toEqual([]);
  expect(differences(where, { path: "/INC-7/events" }, "v", results)).toHaveLength(1);
});

test("a star does not count the same text twice", () => {
  expect(differences("ab*ba", "aba", "v")).toHaveLength(1);
});

test("places are filled from the last result of a tool, and those without a value are named", () => {
  const results = new Map<string, unknown>([["open", { id: "INC-1", who: { name: "Ada" }, n: 2 }]]);
  expect(fillIn("{{open.id}} by {{ open.who.name }}: {{open.n}}", results)).toEqual({
    text: "INC-1 by Ada: 2",
    missing: [],
  });
  expect(fillIn("{{open.title}}", results).missing).toEqual(["open.title"]);
  expect(fillIn("{{other.id}}", results).missing).toEqual(["other.id"]);
});

test("places are filled in every text of a value, at any depth, and nothing else changes", () => {
  const results = new Map<string, unknown>([["open", { id: "INC-1" }]]);
  const given = {
    body: { parameters: ["{{open.id}}", 7, null], "{{open.id}}": true },
    path: "/x/{{open.id}}",
  };
  expect(fillInAll(given, results)).toEqual({
    value: { body: { parameters: ["INC-1", 7, null], "{{open.id}}": true }, path: "/x/INC-1" },
    missing: [],
  });
  expect(fillInAll({ a: ["{{open.x}}"], b: "{{close.y}}" }, results).missing).toEqual(["open.x", "close.y"]);
});

test("an unclosed place takes linear time", () => {
  const text = `{{${" ".repeat(LONG)}`;
  expectLinearTime(() => expect(fillIn(text, new Map())).toEqual({ text, missing: [] }));
});
