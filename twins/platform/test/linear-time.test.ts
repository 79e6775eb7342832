/**
 * The time that a text from outside takes grows with its length, not with the square of it.
 * Proves a part of twins/SECURITY.md.
 */
import { expect, test } from "vitest";
import { splitList } from "../base/split-list.ts";
import { matchesPattern } from "../base/star-pattern.ts";
import { readAuthorization } from "../http/authorization.ts";
import { expectLinearTime, LONG } from "../testing/linear-time.ts";

const many = (text: string) => text.repeat(LONG);
const afterBrackets = (text: string, at: number) =>
  text[at] === "<" ? text.indexOf(">", at) + 1 || -1 : undefined;

test.each<[what: string, work: () => unknown]>([
  ["blanks of an Authorization header", () => readAuthorization(`Splunk ${many("\t")}x${many("\t")}y`)],
  ["openings in a list that are not closed", () => [...splitList(many("<"), ",", afterBrackets)]],
  ["stars of a pattern", () => matchesPattern(`${many("a")}b`, `${many("*a")}*c*`)],
])("%s take as long as they are many", (_, work) => {
  work();
  expectLinearTime(work);
});

test.each([
  ["Splunk abc", "splunk", "abc"],
  ["  Basic \t a b  ", "basic", "a b"],
  ["Splunk", "splunk", ""],
  ["", "", ""],
])("the header %j has the scheme %j and the credentials %j", (header, scheme, credentials) => {
  expect(readAuthorization(header)).toEqual({ scheme, credentials });
});

test.each([
  ["a,<b,c>,d", ["a", "<b,c>", "d"]],
  [",a,,b,", ["a", "b"]],
  ["a<b,c", ["a<b", "c"]],
  ["<a>,<b,c", ["<a>", "<b", "c"]],
  ["", []],
])("the list %j is %j", (text, parts) => {
  expect([...splitList(text, ",", afterBrackets)]).toEqual(parts);
});
