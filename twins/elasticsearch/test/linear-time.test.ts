/**
 * Parsing of untrusted text takes time linear in its length.
 * Proves a part of twins/SECURITY.md.
 */

import { expectLinearTime, LONG } from "@offhook/platform/testing/linear-time";
import { expect, test } from "vitest";
import { readDecimalFormat } from "../aggregations/decimal-format.ts";
import { readPath } from "../aggregations/order.ts";
import { readPathElements } from "../aggregations/pipeline/path.ts";
import { readDissect } from "../esql/commands/dissect-pattern.ts";
import { splitExpression } from "../indices/expression.ts";
import { minimumShouldMatch } from "../query/compile/minimum-should-match.ts";
import { numberOf } from "../query/compile/values.ts";

const nowhere = { line: 1, column: 1, start: 0, end: 0 };
const many = (text: string) => text.repeat(LONG);

test.each<[what: string, work: () => unknown]>([
  ["brackets of a path to order by", () => readPath(`a${many("[]")}[`)],
  ["brackets of a path of buckets", () => readPathElements(`"${many("[")}\n`)],
  ["dates in names that are not closed", () => splitExpression(many("<"))],
  ["keys of DISSECT that are not closed", () => attempt(() => readDissect(many("%{"), nowhere))],
  ["blanks in minimum_should_match", () => attempt(() => minimumShouldMatch(`1${many("\t")}x<1`, 1))],
  ["digits that end in a letter, as a number", () => attempt(() => numberOf(`${many("0")}x`))],
  ["commas of a number's format", () => attempt(() => readDecimalFormat(`${many(",")}'`))],
])("%s take as long as they are many", (_, work) => {
  work();
  expectLinearTime(work);
});

function attempt(work: () => unknown): void {
  expect(work).toThrow();
}
