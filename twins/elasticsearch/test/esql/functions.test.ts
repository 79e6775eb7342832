/** ES|QL functions, with values computed by hand. */
import { readFileSync } from "node:fs";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { functionList } from "../../esql/functions/list.ts";
import { functions } from "../../esql/functions/registry.ts";
import { ask, nowMs, refusal, rows, storeOf } from "./events.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    { g: "a", n: 1, w: 1, x: 0.5, d: "2026-01-15T10:00:00Z", m: [1, 2] },
    { g: "a", n: 2, w: 3, x: 1.5, d: "2026-01-15T11:30:00Z", m: [2, 3] },
    { g: "b", n: 3, w: 1, x: -2, d: "2026-02-01T00:00:00Z" },
    { g: "b", n: 4, w: 0 },
  ]);
});
afterAll(() => store.close());

const examples: [expression: string, value: unknown][] = [
  // Math
  ["ABS(-5)", 5],
  ["ABS(-1.5)", 1.5],
  ["ROUND(ACOS(0.5), 6)", 1.047198],
  ["ACOS(2)", null],
  ["ROUND(ASIN(1), 6)", 1.570796],
  ["ROUND(ATAN(1), 6)", 0.785398],
  ["ROUND(ATAN2(1, -1), 6)", 2.356194],
  ["CBRT(27)", 3],
  ["CEIL(1.1)", 2],
  ["CEIL(7)", 7],
  ["COS(0)", 1],
  ["COSH(0)", 1],
  ["COSH(1000)", null],
  ["E()", Math.E],
  ["FLOOR(-1.1)", -2],
  ["LOG(1)", 0],
  ["LOG(2, 8)", 3],
  ["LOG(0)", null],
  ["LOG10(1000)", 3],
  ["PI()", Math.PI],
  ["POW(2, 10)", 1024],
  ["POW(10, 400)", null],
  ["ROUND(2.5)", 3],
  ["ROUND(-2.5)", -3],
  ["ROUND(1234.567, 1)", 1234.6],
  ["ROUND(1250, -2)", 1300],
  ["SIGNUM(-3.5)", -1],
  ["SIN(0)", 0],
  ["SINH(0)", 0],
  ["SQRT(16)", 4],
  ["SQRT(-1)", null],
  ["TAN(0)", 0],
  ["TANH(0)", 0],
  ["TAU()", 2 * Math.PI],
  // Strings
  ['CONCAT("a", "b", "c")', "abc"],
  ['CONCAT("a", null)', null],
  ['ENDS_WITH("abc", "bc")', true],
  ['FROM_BASE64("YWJj")', "abc"],
  ['FROM_BASE64("%")', null],
  ['LEFT("héllo", 2)', "hé"],
  ['LEFT("abc", -1)', ""],
  ['LENGTH("😀é")', 2],
  ['LOCATE("hello", "l")', 3],
  ['LOCATE("hello", "l", 4)', 4],
  ['LOCATE("hello", "z")', 0],
  ['LTRIM("\\t a ")', "a "],
  ['REPEAT("ab", 3)', "ababab"],
  ['REPLACE("foo123bar", "[0-9]+", "#")', "foo#bar"],
  ['REPLACE("ab", "(a)(b)", "$2$1")', "ba"],
  ['RIGHT("abc", 2)', "bc"],
  ['RTRIM(" a \\n")', " a"],
  ['SPLIT("a;b;c", ";")', ["a", "b", "c"]],
  ['SPLIT("abc", ";")', "abc"],
  ['STARTS_WITH("abc", "ab")', true],
  ['SUBSTRING("hello", 2, 3)', "ell"],
  ['SUBSTRING("hello", -3)', "llo"],
  ['SUBSTRING("hello", 0, 2)', "he"],
  ['TO_BASE64("abc")', "YWJj"],
  ['TO_LOWER("AbC")', "abc"],
  ['TO_UPPER("AbC")', "ABC"],
  ['TRIM("  a ")', "a"],
  // Dates
  ['DATE_DIFF("day", "2026-01-01T00:00:00Z"::date, "2026-01-03T23:00:00Z"::date)', 2],
  ['DATE_DIFF("months", "2026-01-31"::date, "2026-02-28"::date)', 0],
  ['DATE_DIFF("year", "2025-12-31"::date, "2026-01-01"::date)', 1],
  ['DATE_DIFF("hours", "2026-01-02"::date, "2026-01-01"::date)', -24],
  ['DATE_DIFF("ms", "1900-01-01"::date, "2026-01-01"::date)', null],
  ['DATE_EXTRACT("year", "2026-01-15T10:20:30.456Z"::date)', 2026],
  ['DATE_EXTRACT("day_of_week", "2026-01-15"::date)', 4],
  ['DATE_EXTRACT("hour_of_day", "2026-01-15T10:20:30.456Z"::date)', 10],
  ['DATE_EXTRACT("milli_of_second", "2026-01-15T10:20:30.456Z"::date)', 456],
  ['DATE_EXTRACT("epoch_day", "1970-01-11"::date)', 10],
  ['DATE_FORMAT("yyyy-MM-dd", "2026-01-05T10:00:00Z"::date)', "2026-01-05"],
  ['DATE_FORMAT("d/M/yy H:mm:ss.SSS", "2026-01-05T03:04:05.006Z"::date)', "5/1/26 3:04:05.006"],
  ['DATE_FORMAT("EEE, dd MMMM", "2026-01-05"::date)', "Mon, 05 January"],
  ['DATE_FORMAT("2026-01-05"::date)', "2026-01-05T00:00:00.000Z"],
  ['DATE_PARSE("yyyy-MM-dd", "2026-01-05")', "2026-01-05T00:00:00.000Z"],
  ['DATE_PARSE("dd/MM/yyyy HH:mm", "05/01/2026 10:30")', "2026-01-05T10:30:00.000Z"],
  ['DATE_PARSE("yyyy-MM-dd", "nothing")', null],
  ['DATE_TRUNC(1 hour, "2026-01-15T10:20:30Z"::date)', "2026-01-15T10:00:00.000Z"],
  ['DATE_TRUNC(1 week, "2026-01-15"::date)', "2026-01-12T00:00:00.000Z"],
  ['DATE_TRUNC(3 months, "2026-05-15"::date)', "2026-04-01T00:00:00.000Z"],
  ['DATE_TRUNC(15 minutes, "1969-12-31T23:59:00Z"::date)', "1969-12-31T23:45:00.000Z"],
  ["NOW()", new Date(nowMs).toISOString()],
  ["NOW() - 1 day", new Date(nowMs - 86_400_000).toISOString()],
  ['"2026-01-31"::date + 1 month', "2026-02-28T00:00:00.000Z"],
  // Choices
  ["CASE(false, 1, true, 2, 3)", 2],
  ["CASE(false, 1)", null],
  ["CASE(null, 1, 2)", 2],
  ["COALESCE(null, null, 3)", 3],
  ["GREATEST(1, 3, 2)", 3],
  ['LEAST("b", "a")', "a"],
  ["GREATEST([1, 9], 3)", 9],
  // Addresses
  ['CIDR_MATCH("10.1.2.3"::ip, "192.168.0.0/16", "10.0.0.0/8")', true],
  ['CIDR_MATCH("::1"::ip, "10.0.0.0/8")', false],
  ['IP_PREFIX("192.168.77.5"::ip, 16, 0)', "192.168.0.0"],
  ['IP_PREFIX("fe80::cae2:65ff:fece:feb9"::ip, 0, 64)', "fe80::"],
  // Conversions
  ['TO_BOOLEAN("TRUE")', true],
  ["TO_BOOLEAN(0)", false],
  ['TO_DATETIME("2026-01-05T10:00:00+02:00")', "2026-01-05T08:00:00.000Z"],
  ["TO_DATETIME(86400000)", "1970-01-02T00:00:00.000Z"],
  ['TO_DATETIME("soon")', null],
  ["ROUND(TO_DEGREES(PI()), 6)", 180],
  ["ROUND(TO_RADIANS(90.0), 6)", 1.570796],
  ['TO_DOUBLE("1.5e3")', 1500],
  ['TO_INTEGER("42")', 42],
  ['TO_INTEGER("4.6")', 5],
  ["TO_INTEGER(5000000000)", null],
  ['TO_INTEGER("x")', null],
  ["TO_LONG(2.5)", 3],
  ['TO_LONG("2026-01-01"::date)', Date.UTC(2026, 0, 1)],
  ['TO_IP("::FFFF:1.2.3.4")', "1.2.3.4"],
  ['TO_STRING("2001:DB8:0:0:0:0:0:1"::ip)', "2001:db8::1"],
  ["TO_STRING(1.0)", "1.0"],
  ["TO_STRING([1, 2])", ["1", "2"]],
  ["TO_STRING(true)", "true"],
  ["TO_UNSIGNED_LONG(5)", 5],
  ["TO_UNSIGNED_LONG(-5)", null],
  ['TO_VERSION("1.10.0") > TO_VERSION("1.9.0")', true],
  ['TO_VERSION("1.0.0-rc1") < TO_VERSION("1.0.0")', true],
  ['TO_INTEGER(["1", "x", "3"])', [1, 3]],
  // Several values
  ["MV_APPEND([1, 2], 3)", [1, 2, 3]],
  ["MV_AVG([1, 2, 4])", 7 / 3],
  ['MV_CONCAT(["a", "b"], "+")', "a+b"],
  ["MV_COUNT([1, 1, 2])", 3],
  ["MV_COUNT(null)", null],
  ["MV_DEDUPE([1, 2, 1])", [1, 2]],
  ["MV_FIRST([3, 1])", 3],
  ["MV_LAST([3, 1])", 1],
  ["MV_MAX([3, 5, 1])", 5],
  ["MV_MEDIAN([1, 2, 10])", 2],
  ["MV_MEDIAN([1, 2])", 1],
  ["MV_MIN([3, 5, 1])", 1],
  ["MV_SLICE([1, 2, 3, 4], 1, 2)", [2, 3]],
  ["MV_SLICE([1, 2, 3, 4], -2, -1)", [3, 4]],
  ["MV_SLICE([1, 2], 5)", null],
  ['MV_SORT([3, 1, 2], "DESC")', [3, 2, 1]],
  ["MV_SUM([1, 2, 3])", 6],
  ["MV_SUM([2147483647, 1])", null],
  ['MV_ZIP(["a", "b", "c"], ["1", "2"], "-")', ["a-1", "b-2", "c"]],
];

const aggregates: [expression: string, value: unknown][] = [
  ["COUNT()", 4],
  ["COUNT(*)", 4],
  ["COUNT(x)", 3],
  ["COUNT(m)", 4],
  ["COUNT_DISTINCT(g)", 2],
  ["COUNT_DISTINCT(m)", 3],
  ["SUM(n)", 10],
  ["SUM(x)", 0],
  ["SUM(m)", 8],
  ["AVG(n)", 2.5],
  ["AVG(m)", 2],
  ["MIN(x)", -2],
  ["MAX(d)", "2026-02-01T00:00:00.000Z"],
  ["MEDIAN(n)", 2.5],
  ["PERCENTILE(n, 100)", 4],
  ["MEDIAN_ABSOLUTE_DEVIATION(n)", 1],
  ["VALUES(g)", ["a", "b"]],
  ["VALUES(m)", [1, 2, 3]],
  ['TOP(n, 2, "desc")', [4, 3]],
  ["WEIGHTED_AVG(n, w)", 2],
  ["MAX(n) - MIN(n) + 1", 4],
];

describe("functions", () => {
  it.each(examples)("%s", async (expression, value) => {
    expect(await rows(store, `ROW given = 1 | EVAL value = ${expression} | KEEP value | LIMIT 1`)).toEqual([
      [value],
    ]);
  });

  it.each(aggregates)("%s", async (expression, value) => {
    expect(await rows(store, `FROM logs | STATS value = ${expression} | LIMIT 1`)).toEqual([[value]]);
  });

  it("groups by BUCKET, of a size or of a number of buckets", async () => {
    const grouped = (bucket: string) =>
      rows(store, `FROM logs | STATS n = COUNT(*) BY b = ${bucket} | SORT b | LIMIT 10`);
    expect(await grouped("BUCKET(n, 2.)")).toEqual([
      [1, 0],
      [2, 2],
      [1, 4],
    ]);
    expect(await grouped("BUCKET(n, 4, 0, 4)")).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [1, 4],
    ]);
    expect(await grouped("BUCKET(d, 1 month)")).toEqual([
      [2, "2026-01-01T00:00:00.000Z"],
      [1, "2026-02-01T00:00:00.000Z"],
      [1, null],
    ]);
    expect(await grouped('BUCKET(d, 10, "2026-01-01", "2026-03-01")')).toEqual([
      [2, "2026-01-12T00:00:00.000Z"],
      [1, "2026-01-26T00:00:00.000Z"],
      [1, null],
    ]);
  });

  it("are listed as they are declared", () => {
    const file = new URL("../../esql/FUNCTIONS.md", import.meta.url);
    expect(readFileSync(file, "utf8")).toBe(functionList());
  });

  it("are all tested", () => {
    const tried = JSON.stringify([...examples, ...aggregates]).toLowerCase();
    const untried = functions.filter(({ name }) => name !== "bucket" && !tried.includes(`${name}(`));
    expect(untried.map(({ name }) => name)).toEqual([]);
  });

  it.each([
    ["ABS()", "line 1:12: error building [abs]: expects exactly one argument"],
    ["ROUND(1, 2, 3)", "line 1:12: error building [round]: expects one or two arguments"],
    ['CONCAT("a")', "line 1:12: error building [concat]: expects at least two arguments"],
    ["PI(1)", "line 1:12: error building [pi]: expects no arguments"],
    [
      'ABS("x")',
      'Found 1 problem\nline 1:11: argument of [ABS("x")] must be [numeric], found value ["x"] type [keyword]',
    ],
    [
      "LEFT(1, 2)",
      "Found 1 problem\nline 1:11: first argument of [LEFT(1, 2)] must be [string], found value [1] type [integer]",
    ],
    [
      'LENGHT("x")',
      "Found 1 problem\nline 1:11: Unknown function [lenght], did you mean any of [length, least, left, right]?",
    ],
    [
      "COUNT(1)",
      "Found 1 problem\nline 1:11: aggregate function [COUNT(1)] not allowed outside STATS command",
    ],
    ["1::nothing", "line 1:15: Unknown data type named [nothing]"],
  ])("refuses %s", async (expression, message) => {
    expect(await refusal(store, `ROW val = ${expression}`)).toBe(message);
  });

  it("warns where a value cannot be computed", async () => {
    const { warnings } = await ask(store, "FROM logs | EVAL r = SQRT(x) | LIMIT 10");
    expect(warnings).toEqual([
      "Line 1:22: evaluation of [SQRT(x)] failed, treating result as null. Only first 20 failures recorded.",
      "Line 1:22: java.lang.ArithmeticException: Square root of negative",
    ]);
  });

  it("has no value for several values where one is meant, and warns", async () => {
    const { warnings, values } = await ask(store, "FROM logs | EVAL r = m + 1 | KEEP r | LIMIT 1");
    expect(values).toEqual([[null]]);
    expect(warnings[1]).toBe(
      "Line 1:22: java.lang.IllegalArgumentException: single-value function encountered multi-value",
    );
  });
});
