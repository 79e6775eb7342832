/** Time spans, constants, groups, lists and multi-valued rows in 8.15, derived from the vendor's rules. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compactJson } from "../../json/write.ts";
import { ask, refusal, rows, storeOf } from "./events.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    {
      g: "a",
      n: 1,
      x: 0.5,
      d: "2026-01-15T10:00:00Z",
      m: [1, 2],
      t: ["k=v one", "none", "q=w two"],
      ok: true,
    },
    { g: "a", n: 2, x: 1.5, d: "2026-01-15T11:30:00Z", m: [2, 3], t: "e=f three", ok: false },
    { g: "b", n: 3, x: -2, d: "2026-02-01T00:00:00Z" },
    { g: "b", n: 4 },
  ]);
});
afterAll(() => store.close());

/** Columns with their types, and rows. */
async function answer(query: string): Promise<[columns: string, rows: unknown[][]]> {
  const { columns, values } = await ask(store, query);
  return [columns.map(({ name, type }) => `${name}:${type}`).join(" "), JSON.parse(compactJson(values))];
}

describe("an expression has the value and the type of 8.15", () => {
  it.each<[expression: string, type: string, value: unknown]>([
    // Time spans combine before they apply to a date.
    ['4 years + 3 months + "2026-01-31"::date', "date", "2030-04-30T00:00:00.000Z"],
    ['"2026-01-31"::date + (1 month + 2 days)', "date", "2026-03-02T00:00:00.000Z"],
    ['"2026-01-31"::date - (2 hours - 30 minutes)', "date", "2026-01-30T22:30:00.000Z"],
    ['-(1 week) + "2026-01-08"::date', "date", "2026-01-01T00:00:00.000Z"],
    ['"2026-01-08"::date + null', "date", null],
    ['null - 1 day + "2026-01-08"::date', "date", null],
    ['"2026-01-08" + 1 day', "date", "2026-01-09T00:00:00.000Z"],
    ['DATE_TRUNC(3 days - 2 days, "2026-01-08T10:00:00Z"::date)', "date", "2026-01-08T00:00:00.000Z"],
    ["1 day IS NULL", "boolean", false],
    // A signed number is one literal.
    ["-1::string", "keyword", "-1"],
    ["-9223372036854775808", "long", Number(-(2n ** 63n))],
    // A list of numbers takes the widest type of its members.
    ["[1, 9223372036854775808]", "unsigned_long", [1, 2 ** 63]],
    ["[1, 9223372036854775808, 2.5]", "double", [1, 2 ** 63, 2.5]],
    ["[1, 5000000000]", "long", [1, 5e9]],
    ["[-1, +2]", "integer", [-1, 2]],
    // Constant arguments may be computed from constants, and from columns that are constant.
    ['DATE_FORMAT(CONCAT("yyyy", "-MM"), "2026-01-08"::date)', "keyword", "2026-01"],
    ["DATE_FORMAT(pattern, day)", "keyword", "08"],
    ["DATE_EXTRACT(TO_LOWER(unit), day)", "long", 2026],
    ['DATE_DIFF(SUBSTRING("xdays", 2), day, day + 1 week)', "integer", 7],
    ['DATE_PARSE(CONCAT("dd/", "MM/yyyy"), "05/01/2026")', "date", "2026-01-05T00:00:00.000Z"],
    ['REPLACE("aab", CONCAT("a", "+"), TO_UPPER("x"))', "keyword", "Xb"],
    ['MV_SORT([1, 3, 2], CONCAT("de", "sc"))', "integer", [3, 2, 1]],
    ['MV_SORT([1, 3, 2], "any")', "integer", [1, 2, 3]],
    ['CIDR_MATCH("10.0.0.1"::ip, CONCAT("10.0.0.0", "/8"))', "boolean", true],
    ["DATE_FORMAT(CONCAT(null, pattern), day)", "keyword", null],
    ['"1.10"::version > "1.9"', "boolean", true],
    ["LOG(1, 2)", "double", null],
  ])("%s is of type %s", async (expression, type, value) => {
    const row = 'ROW pattern = "dd", unit = "YEAR", day = "2026-01-08T10:00:00Z"::date';
    expect(await answer(`${row} | EVAL v = ${expression} | KEEP v | LIMIT 1`)).toEqual([
      `v:${type}`,
      [[value]],
    ]);
  });

  it.each([
    ["TO_UPPER(g)", "text"],
    ["TO_LOWER(g)", "text"],
    ["TRIM(g)", "text"],
    ["MV_MIN(t)", "text"],
    ["MV_MAX(t)", "text"],
    ["MV_FIRST(t)", "text"],
    ["MV_DEDUPE(t)", "text"],
    ["COALESCE(g, null)", "text"],
    ["CONCAT(g, g)", "keyword"],
    ["SUBSTRING(g, 1)", "keyword"],
    ["TO_BASE64(g)", "keyword"],
    ["TO_UPPER(g.keyword)", "keyword"],
  ])("%s of a text is %s", async (expression, type) => {
    expect((await answer(`FROM logs | EVAL v = ${expression} | KEEP v | LIMIT 1`))[0]).toBe(`v:${type}`);
  });
});

describe("STATS", () => {
  it.each<[stats: string, columns: string, values: unknown[][]]>([
    ["s = SUM(null), a = AVG(null)", "s:double a:double", [[null, null]]],
    ["c = COUNT(null), d = COUNT_DISTINCT(null)", "c:long d:long", [[0, 0]]],
    ["s = SUM(2), t = SUM([1, 2]), u = SUM(1 + 1)", "s:long t:long u:long", [[8, 12, 8]]],
    ["a = AVG([1, 2]), m = MAX([1, 3]), e = MEDIAN([1, 3])", "a:double m:integer e:double", [[1.5, 3, 2]]],
    ["c = COUNT(1), d = COUNT([1, 2]), e = COUNT_DISTINCT([1, 1])", "c:long d:long e:long", [[4, 8, 1]]],
    ["a = AVG(5)", "a:double", [[5]]],
    ["v = VALUES(g)", "v:text", [[["a", "b"]]]],
    ['p = PERCENTILE(n, 25 * 4), t = TOP(n, 1 + 1, CONCAT("de", "sc"))', "p:double t:long", [[4, [4, 3]]]],
    // The last definition of a name wins.
    ["a = MAX(n), b = 1 + MIN(n), a = MIN(n)", "b:long a:long", [[2, 1]]],
    // A group may be read by its name, and shadows a column of that name.
    [
      "m = MAX(k) BY k = n + 1",
      "m:long k:long",
      [
        [2, 2],
        [3, 3],
        [4, 4],
        [5, 5],
      ],
    ],
    [
      "m = MAX(n) BY n = n * 2",
      "m:long n:long",
      [
        [2, 2],
        [4, 4],
        [6, 6],
        [8, 8],
      ],
    ],
    [
      "m = SUM(n) + n BY n",
      "m:long n:long",
      [
        [2, 1],
        [4, 2],
        [6, 3],
        [8, 4],
      ],
    ],
    // A group wins over an aggregate of the same name, and the last of two groups wins.
    ["n = COUNT(*) BY n", "n:long", [[1], [2], [3], [4]]],
    [
      "c = COUNT(*) BY k = x, k = n",
      "c:long k:long",
      [
        [1, 1],
        [1, 2],
        [1, 3],
        [1, 4],
      ],
    ],
    // BUCKET may be part of an expression, and appear beside aggregates when it is a group.
    [
      "c = COUNT(*) BY k = ROUND(BUCKET(n, 2.))",
      "c:long k:double",
      [
        [1, 0],
        [2, 2],
        [1, 4],
      ],
    ],
    [
      "c = COUNT(*) + BUCKET(n, 2.) BY k = BUCKET(n,2.)",
      "c:double k:double",
      [
        [1, 0],
        [4, 2],
        [5, 4],
      ],
    ],
    [
      "c = MAX(BUCKET(n, 3.)) BY k = BUCKET(n, 2.)",
      "c:double k:double",
      [
        [0, 0],
        [3, 2],
        [3, 4],
      ],
    ],
    [
      "c = COUNT(*) BY k = BUCKET(n, 2 + 2, 0, 1 + 3)",
      "c:long k:double",
      [
        [1, 1],
        [1, 2],
        [1, 3],
        [1, 4],
      ],
    ],
    // A row with several values is in the group of each; an aggregate of the group's expression sees all of
    // them.
    [
      "c = COUNT(*), h = MAX(k) BY k = m",
      "c:long h:long k:long",
      [
        [1, 2, 1],
        [2, 3, 2],
        [1, 3, 3],
        [2, null, null],
      ],
    ],
  ])("%s", async (stats, columns, values) => {
    const key = /BY (\w)/.exec(stats)?.[1];
    const query = `FROM logs | STATS ${stats}${key ? ` | SORT ${key}` : ""} | LIMIT 10`;
    expect(await answer(query)).toEqual([columns, values]);
  });

  it("gives a constant's aggregate where there are no rows", async () => {
    const query = "FROM logs | WHERE n > 9 | STATS s = SUM(2), m = MAX(7), c = COUNT(1) | LIMIT 1";
    expect(await rows(store, query)).toEqual([[0, 7, 0]]);
  });

  it("takes bounds of BUCKET from columns that hold constants", async () => {
    const query =
      'FROM logs | EVAL lo = "2026-01-01T00:00:00Z"::date, hi = lo + 2 months | STATS c = COUNT(*) BY b = BUCKET(d, 3, lo, hi) | SORT b | LIMIT 9';
    expect(await rows(store, query)).toEqual([
      [2, "2026-01-01T00:00:00.000Z"],
      [1, "2026-02-01T00:00:00.000Z"],
      [1, null],
    ]);
  });

  it("chooses the shortest span of which so many reach beyond the last bound", async () => {
    const bucket = async (count: number, from: string, to: string) => {
      const query = `FROM logs | WHERE n == 2 | STATS c = COUNT(*) BY b = BUCKET(d, ${count}, "${from}", "${to}") | LIMIT 1`;
      return (await rows(store, query))[0]?.[1];
    };
    expect(await bucket(2, "2026-01-01", "2026-02-28")).toBe("2026-01-01T00:00:00.000Z");
    // Two months from January end in March, so March is within the bound.
    expect(await bucket(2, "2026-01-01", "2026-03-01")).toBe("2026-01-01T00:00:00.000Z");
    expect(await bucket(24, "2026-01-15T00:00:00Z", "2026-01-15T23:59:59Z")).toBe("2026-01-15T11:00:00.000Z");
    expect(await bucket(24, "2026-01-15T00:00:00Z", "2026-01-16T00:00:00Z")).toBe("2026-01-15T09:00:00.000Z");
  });
});

describe("DISSECT and GROK", () => {
  it.each([
    [
      'DISSECT t "%{k}=%{v} %{w}"',
      [
        ["k", "q"],
        ["v", "w"],
        ["one", "two"],
      ],
      ["e", "f", "three"],
    ],
    [
      'GROK t "%{WORD:k}=%{WORD:v} %{WORD:w}"',
      [
        ["k", "q"],
        ["v", "w"],
        ["one", "two"],
      ],
      ["e", "f", "three"],
    ],
    [
      'DISSECT t "%{k}=%{v} %{+v}" APPEND_SEPARATOR="-"| EVAL w = 1',
      [["k", "q"], ["v-one", "w-two"], 1],
      ["e", "f-three", 1],
    ],
  ])("read each of several values: %s", async (command, several, single) => {
    expect(await rows(store, `FROM logs | SORT n | ${command} | KEEP k, v, w | LIMIT 2`)).toEqual([
      several,
      single,
    ]);
  });

  it("convert the pieces of each value, in its order", async () => {
    const query =
      'ROW a = ["1 x 3", "z", "2 y 4"] | GROK a "%{NUMBER:n:int} %{WORD:b} %{NUMBER:n:int}" | LIMIT 1';
    expect(await answer(query)).toEqual([
      "a:keyword b:keyword n:integer",
      [
        [
          ["1 x 3", "z", "2 y 4"],
          ["x", "y"],
          [1, 3, 2, 4],
        ],
      ],
    ]);
  });
});

describe("a warning names the expression that failed", () => {
  const failed = (at: string, text: string, message: string) => [
    `Line ${at}: evaluation of [${text}] failed, treating result as null. Only first 20 failures recorded.`,
    `Line ${at}: ${message}`,
  ];
  const outOf = (value: string, type: string) =>
    `org.elasticsearch.xpack.esql.core.InvalidArgumentException: [${value}] out of [${type}] range`;
  const several = "java.lang.IllegalArgumentException: single-value function encountered multi-value";
  it.each([
    ["m + n", several],
    ["n + m", several],
    ["m == 1", several],
    ["ABS(m)", several],
    ["2147483647 + TO_INTEGER(n)", "java.lang.ArithmeticException: integer overflow"],
    ["LOG(1, n)", "java.lang.ArithmeticException: Log of base 1"],
    ["TO_INTEGER(n + 5000000000)", outOf("5000000001", "integer")],
    ["TO_INTEGER([1, 5000000000])", outOf("5000000000", "integer")],
    ["TO_LONG(9223372036854775808)", outOf("9223372036854775808", "long")],
    ["TO_UNSIGNED_LONG([-1])", outOf("-1", "unsigned_long")],
  ])("%s", async (expression, message) => {
    const { warnings } = await ask(store, `FROM logs | WHERE n == 1 | EVAL v = ${expression} | LIMIT 1`);
    expect(warnings).toEqual(failed("1:37", expression, message));
  });
});

describe("8.15 refuses", () => {
  it.each([
    ["ROW v = 1 day", "line 1:5: cannot use [1 day] directly in a row assignment"],
    [
      "FROM logs | EVAL v = 1 day",
      "line 1:18: EVAL does not support type [date_period] in expression [1 day]",
    ],
    [
      "ROW v = 1 day + 1 hour",
      "line 1:9: [+] has arguments with incompatible types [date_period] and [time_duration]",
    ],
    [
      "ROW v = 1 day - NOW()",
      "line 1:9: [-] arguments are in unsupported order: cannot subtract a [DATETIME] value [NOW()] from a [DATE_PERIOD] amount [1 day]",
    ],
    [
      "ROW v = 1 day * 2",
      "line 1:9: first argument of [1 day * 2] must be [numeric], found value [1 day] type [date_period]",
    ],
    ["ROW a = 1, b = a", "line 1:16: Unknown column [a]"],
    [
      'ROW a = 1 | EVAL b = a IN (2, "x")',
      'line 1:22: 2nd argument of [a IN (2, "x")] must be [integer], found value ["x"] type [keyword]',
    ],
    [
      'ROW a = 1 | EVAL b = a IN ("x")',
      'line 1:22: first argument of [a IN ("x")] is [numeric] so second argument must also be [numeric] but was [keyword]',
    ],
    [
      "ROW a = 9223372036854775808 + 1",
      "line 1:9: [+] has arguments with incompatible types [unsigned_long] and [integer]",
    ],
    ["FROM logs | STATS n BY n", "line 1:19: grouping key [n] already specified in the STATS BY clause"],
    [
      "FROM logs | STATS n + 1 BY n + 1",
      "line 1:19: grouping key [n + 1] already specified in the STATS BY clause",
    ],
    ["FROM logs | STATS n BY k = n + 1", "line 1:19: Cannot specify grouping expression [n] as an aggregate"],
    [
      "FROM logs | STATS v = MAX(x) + n BY k = n + 1",
      "line 1:32: column [n] cannot be used as an aggregate once declared in the STATS BY grouping key [k = n + 1]",
    ],
    [
      "FROM logs | STATS MAX(x) + n BY g",
      "line 1:28: column [n] must appear in the STATS BY clause or be used in an aggregate function",
    ],
    ["FROM logs | STATS 5", "line 1:19: expected an aggregate function but found [5]"],
    ["FROM logs | STATS COUNT(*) BY MAX(n)", "line 1:31: cannot use an aggregate [MAX(n)] for grouping"],
    [
      "FROM logs | STATS v = BUCKET(n, 2.) BY BUCKET(n, 2.)",
      "line 1:23: grouping function [BUCKET(n, 2.)] cannot be used as an aggregate once declared in the STATS BY clause",
    ],
    [
      "FROM logs | STATS v = 1 + BUCKET(n, 3.) BY n",
      "line 1:27: can only use grouping function [BUCKET(n, 3.)] part of the BY clause",
    ],
    [
      "FROM logs | EVAL v = BUCKET(n, 3.)",
      "line 1:22: cannot use grouping function [BUCKET(n, 3.)] outside of a STATS command",
    ],
    [
      "FROM logs | STATS c = COUNT(*) BY BUCKET(n, 2)",
      "line 1:35: function expects exactly four arguments when the first one is of type [LONG] and the second of type [INTEGER]",
    ],
    [
      "FROM logs | STATS c = COUNT(*) BY BUCKET(n, n, 1, 2)",
      "line 1:35: second argument of [BUCKET(n, n, 1, 2)] must be a constant, received [n]",
    ],
    [
      "FROM logs | STATS v = PERCENTILE(n, x)",
      "line 1:23: second argument of [PERCENTILE(n, x)] must be a constant, received [x]",
    ],
    [
      "FROM logs | STATS v = MAX(ok)",
      "line 1:23: argument of [MAX(ok)] must be [datetime or numeric except unsigned_long or counter types], found value [MAX(ok)] type [boolean]",
    ],
    [
      "FROM logs | EVAL v = TO_IP(n)",
      "line 1:22: argument of [TO_IP(n)] must be [ip or string], found value [n] type [long]",
    ],
    [
      'ROW a = "1.1.1.1"::ip | EVAL v = TO_LONG(a)',
      "line 1:34: argument of [TO_LONG(a)] must be [boolean or counter_integer or counter_long or datetime or numeric or string], found value [a] type [ip]",
    ],
    ["FROM logs | EVAL v = EXP(1)", "line 1:22: Unknown function [exp]"],
  ])("%s", async (query, message) => {
    expect(await refusal(store, query)).toBe(`Found 1 problem\n${message}`);
  });

  it.each([
    ["FROM logs | DROP *", "line 1:19: Removing all fields is not allowed [*]"],
    ["FROM logs | KEEP *, n, *", "line 1:25: Cannot specify [*] more than once"],
    ["FROM logs | STATS", "line 1:14: At least one aggregation or grouping expression required in [STATS]"],
    [
      "ROW v = 2147483647 days + 1 day",
      "arithmetic exception in expression [2147483647 days + 1 day]: [integer overflow]",
    ],
    ["ROW v = 2147483648 days", "line 1:10: Number [2147483648] outside of [days] range"],
    ["ROW v = [-1, 9223372036854775808]", "line 1:10: unsigned_long overflow"],
    ['ROW v = ["a", 1]', "line 1:15: mismatched input '1' expecting QUOTED_STRING"],
    ["ROW v = [1, true]", "line 1:13: no viable alternative at input '[1, true'"],
    ["ROW v = DATE_TRUNC(1 month + 1 day, NOW())", "Time interval with multiple periods is not supported"],
    ["ROW v = DATE_TRUNC(12 months, NOW())", "Time interval is not supported"],
    ['ROW v = DATE_EXTRACT("soon", NOW())', 'invalid date field for [DATE_EXTRACT("soon", NOW())]: soon'],
    ['ROW v = REPEAT("x", 2 - 3)', "Number parameter cannot be negative, found [-1]"],
    [
      'ROW a = "1 x" | GROK a "%{NUMBER:n:int} %{WORD:n}"',
      "line 1:18: Invalid GROK pattern [%{NUMBER:n:int} %{WORD:n}]: the attribute [n] is defined multiple times with different types",
    ],
  ])("%s, in words of their own", async (query, message) => {
    expect(await refusal(store, query)).toBe(message);
  });

  it.each([
    ['COALESCE(g, "x")', "second", '"x"'],
    ['CASE(n > 1, g, "x")', "third", '"x"'],
    ["MV_APPEND(g, g.keyword)", "second", "g.keyword"],
    ["GREATEST(g, g.keyword)", "second", "g.keyword"],
  ])("text beside keyword, in vendor fidelity: %s", async (expression, ordinal, found) => {
    const query = `FROM logs | EVAL v = ${expression} | LIMIT 1`;
    expect(await refusal(store, query, { fidelity: "vendor" })).toBe(
      `Found 1 problem\nline 1:22: ${ordinal} argument of [${expression}] must be [text], found value [${found}] type [keyword]`,
    );
    expect((await ask(store, query)).columns.at(-1)).toEqual({ name: "v", type: "text" });
  });
});

it("spans of time combine as what they are made of adds up", async () => {
  const span = fc.record({
    count: fc.integer({ min: 0, max: 400 }),
    unit: fc.constantFrom("day", "weeks", "d"),
  });
  const sum = fc.array(span, { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(sum, async (spans) => {
      const text = spans.map(({ count, unit }) => `${count} ${unit}`).join(" + ");
      const days = spans.reduce((total, { count, unit }) => total + count * (unit === "weeks" ? 7 : 1), 0);
      const moment = new Date(Date.UTC(2026, 0, 1) + days * 86_400_000).toISOString();
      const query = `ROW d = "2026-01-01"::date | EVAL a = d + (${text}), b = ${text} + d | KEEP a, b | LIMIT 1`;
      expect(await rows(store, query)).toEqual([[moment, moment]]);
    }),
    { numRuns: 30 },
  );
});
