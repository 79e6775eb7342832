/**
 * Measured rules of ES|QL: answers of a server to these queries, and 8.15's source where the server was of another
 * version. Each case stands for a class; `vendor` fidelity.
 */

import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Asked, ask, refusal, rows, storeOf } from "./events.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    { id: 1, n: 10, m: [1.5, 1.5, 2], f: [true, false, true], tags: ["a", "b"], sep: "-", word: "x1y" },
    { id: 2, n: 20, m: 3, f: true, tags: "c", word: "zz" },
    { id: 3, m: 4 },
  ]);
});
afterAll(() => store.close());

const vendor: Asked = { fidelity: "vendor" };

describe("several values", () => {
  it.each([
    [
      "STATS c = COUNT(*) BY m | SORT m",
      [
        [1, 1.5],
        [1, 2],
        [1, 3],
        [1, 4],
      ],
    ],
    [
      "STATS c = COUNT(*) BY f | SORT f",
      [
        [1, false],
        [2, true],
        [1, null],
      ],
    ],
  ])("are each a group once: %s", async (commands, expected) => {
    expect(await rows(store, `FROM logs | ${commands}`, vendor)).toEqual(expected);
  });

  it.each([
    ["WEIGHTED_AVG(m, 2)", 2.4],
    ["WEIGHTED_AVG(n, [1, 2])", 15],
    ["WEIGHTED_AVG([1, 2], 2)", 1.5],
    ["WEIGHTED_AVG(n, m)", 60 / 12],
  ])("of a weighted average count as its sums count them: %s", async (aggregate, expected) => {
    expect(await rows(store, `FROM logs | STATS v = ${aggregate}`, vendor)).toEqual([[expected]]);
  });

  it.each([
    ["f AND id == 1", [null, false, false]],
    ["f OR id == 1", [null, true, null]],
    ["(f OR id == 3) AND id == 3", [false, false, true]],
    ["f AND true", [[false, true, true], true, null]],
    ["f OR true", [true, true, true]],
    ["f AND false", [false, false, false]],
  ])(
    "make AND and OR unknown, whatever the other side, unless that decides: %s",
    async (condition, expected) => {
      const query = `FROM logs | SORT id | EVAL v = ${condition} | KEEP v | LIMIT 3`;
      const { values, warnings } = await ask(store, query, vendor);
      expect(values).toEqual(expected.map((value) => [value]));
      expect(warnings).toEqual([]);
    },
  );

  it.each([
    ["f", [2]],
    ["f OR id == 1", [2]],
    ["NOT (f OR id == 1)", []],
  ])("are nothing that WHERE takes for true: %s", async (condition, expected) => {
    const query = `FROM logs | WHERE ${condition} | SORT id | KEEP id`;
    expect(await rows(store, query, vendor)).toEqual(expected.map((id) => [id]));
  });

  it.each(["CEIL", "FLOOR", "ROUND"])("stay as they are in %s of whole numbers", async (name) => {
    const { values, warnings } = await ask(store, `ROW n = [1, 2] | EVAL v = ${name}(n) | LIMIT 1`);
    expect(values).toEqual([
      [
        [1, 2],
        [1, 2],
      ],
    ]);
    expect(warnings).toEqual([]);
    expect(await rows(store, `ROW n = [1.5, 2.5] | EVAL v = ${name}(n) | KEEP v | LIMIT 1`)).toEqual([
      [null],
    ]);
  });

  it("are no condition of CASE: they count as false, and the condition is named", async () => {
    const { values, warnings } = await ask(
      store,
      'FROM logs | SORT id | EVAL v = CASE(f, "yes", "no") | KEEP v | LIMIT 3',
      vendor,
    );
    expect(values).toEqual([["no"], ["yes"], ["no"]]);
    expect(warnings).toEqual([
      "Line 1:37: evaluation of [f] failed, treating result as false. Only first 20 failures recorded.",
      "Line 1:37: java.lang.IllegalArgumentException: CASE expects a single-valued boolean",
    ]);
  });
});

describe("what is missing", () => {
  it.each([
    ["MV_CONCAT(tags, sep)", ["a-b", null, null]],
    ["MV_CONCAT(word, sep)", ["x1y", null, null]],
    ["MV_ZIP(tags, word, sep)", [["a-x1y", "b"], null, null]],
    ["SPLIT(word, sep)", ["x1y", null, null]],
    ['word LIKE "*"', [true, true, false]],
    ['word RLIKE ".*"', [true, true, false]],
  ])("%s", async (expression, expected) => {
    const query = `FROM logs | SORT id | EVAL v = ${expression} | KEEP v | LIMIT 3`;
    expect(await rows(store, query, vendor)).toEqual(expected.map((value) => [value]));
  });
});

describe("GROK", () => {
  it.each([
    ['ROW t = "" | GROK t "%{DATA:v}"', ""],
    ['ROW t = "x" | GROK t "(?<v>y*)"', ""],
    ['ROW t = "x" | GROK t "x(?:a|b|)(?<v>)"', ""],
    ['ROW t = "x" | GROK t "x((?<v>y))?"', null],
    ['ROW t = "x" | GROK t "(?<w>x|(?<v>y))"', null],
    ['ROW t = "x" | GROK t "(?:(?<v>y)){0,1}[)(?]*"', null],
  ])(
    "has an empty text where a group matched one, and none where it took no part: %s",
    async (query, expected) => {
      expect(await rows(store, `${query} | KEEP v`)).toEqual([[expected]]);
    },
  );

  it("takes a pattern without fields, which adds no column", async () => {
    expect(await rows(store, 'ROW t = "x" | GROK t "x"')).toEqual([["x"]]);
  });
});

it("IP_PREFIX takes lengths of rows, and warns of those that are none", async () => {
  const { values, warnings } = await ask(
    store,
    'FROM logs | SORT id | EVAL v = IP_PREFIX("10.1.2.3"::ip, TO_INTEGER(n), 64) | KEEP v | LIMIT 3',
  );
  expect(values).toEqual([["10.0.0.0"], ["10.1.0.0"], [null]]);
  expect(warnings).toEqual([]);
  const wrong = await ask(store, 'ROW v = IP_PREFIX("::1"::ip, 0, 129), w = IP_PREFIX("10.1.2.3"::ip, 0, 0)');
  expect(wrong.values).toEqual([[null, "0.0.0.0"]]);
  expect(wrong.warnings[2]).toBe(
    "Line 1:9: java.lang.IllegalArgumentException: Prefix length v6 must be in range [0, 128], found 129",
  );
});

it("a sum of constants that is too large is none", async () => {
  const query = "FROM logs | STATS a = SUM(9223372036854775807), b = SUM([1, 2]), c = SUM(0.5)";
  expect(await rows(store, query)).toEqual([[null, 9, 1.5]]);
});

it("PERCENTILE has nothing below of 0 or above of 100", async () => {
  expect(await rows(store, "FROM logs | STATS a = PERCENTILE(n, -1), b = PERCENTILE(n, 101)")).toEqual([
    [null, null],
  ]);
});

it("PERCENTILE cuts the percentage to a whole one", async () => {
  expect(await rows(store, "FROM logs | STATS a = PERCENTILE(n, 50.9), b = PERCENTILE(n, 50)")).toEqual([
    [15, 15],
  ]);
});

describe("bounds of MV_SLICE", () => {
  it.each([
    ["1, -1", "Start offset is greater than end offset"],
    ["-2, 1", "Start and end offset have different signs"],
  ])("are refused when they are constants: %s", async (bounds, message) => {
    expect(await refusal(store, `FROM logs | EVAL v = MV_SLICE(m, ${bounds})`)).toBe(message);
  });

  it("are warned of in the rows that have them", async () => {
    const { values, warnings } = await ask(
      store,
      "FROM logs | SORT id | EVAL v = MV_SLICE(m, TO_INTEGER(id), 2) | KEEP v | LIMIT 3",
    );
    expect(values.map(([value]) => value === null)).toEqual([false, true, true]);
    expect(warnings).toContain(
      "Line 1:32: org.elasticsearch.xpack.esql.core.InvalidArgumentException: Start offset is greater than end offset",
    );
  });
});

it("an empty text is an empty date in warnings", async () => {
  const { warnings } = await ask(store, 'ROW v = TO_DATETIME("")');
  expect(warnings[2]).toBe("Line 1:9: java.lang.IllegalArgumentException: cannot parse empty datetime");
});

it("numbers in warnings are as Java prints them", async () => {
  const { warnings } = await ask(store, "ROW v = TO_INTEGER(3.0E10)");
  expect(warnings[2]).toBe(
    "Line 1:9: org.elasticsearch.xpack.esql.core.InvalidArgumentException: [3.0E10] out of [integer] range",
  );
});

describe("refusals", () => {
  const problem = (line: string) => `Found 1 problem\n${line}`;
  it.each([
    [
      "EVAL v = NOT (1 + 2)",
      problem("line 1:22: argument of [NOT (1 + 2)] must be [boolean], found value [1 + 2] type [integer]"),
    ],
    [
      "EVAL v = true AND id",
      problem("line 1:22: second argument of [true AND id] must be [boolean], found value [id] type [long]"),
    ],
    [
      "WHERE n == null",
      problem(
        "line 1:19: first argument of [n == null] is [numeric] so second argument must also be [numeric] but was [null]",
      ),
    ],
    [
      'WHERE "a" > null',
      problem(
        'line 1:19: first argument of ["a" > null] is [keyword] so second argument must also be [keyword] but was [null]',
      ),
    ],
    ["EVAL v = nosuch + nosuch", problem("line 1:22: Unknown column [nosuch]")],
    [
      "EVAL v = CONCAT(word, id)",
      problem("line 1:22: argument of [CONCAT(word, id)] must be [string], found value [id] type [long]"),
    ],
    ["EVAL v = SUM(*)", "line 1:23: error building [sum]: expects exactly one argument"],
    ["RENAME id AS x*", "line 1:21: Using wildcards [*] in RENAME is not allowed [id AS x*]"],
    ['EVAL v = SPLIT(word, "ab")', "delimiter must be single byte for now"],
    ["STATS v = VALUES(1)", "Does not support yet aggregations over constants - [VALUES(1)]"],
    ['STATS v = TOP(1, 1, "asc")', 'Does not support yet aggregations over constants - [TOP(1, 1, "asc")]'],
  ])("%s", async (commands, message) => {
    expect(await refusal(store, `FROM logs | ${commands}`, vendor)).toBe(message);
  });

  it("report the problems of the query before failures of constant computations", async () => {
    const query =
      'FROM logs | EVAL v = SPLIT(word, "ab"), w = MV_SLICE(m, 2, 1), x = word RLIKE "*", y = nosuch';
    expect(await refusal(store, query)).toBe(problem("line 1:88: Unknown column [nosuch]"));
  });

  it("name a metadata field that stands twice, and an index that is not there beside one that is", async () => {
    expect(await refusal(store, "FROM logs METADATA _id, _id")).toBe(
      "line 1:26: metadata field [_id] already declared [@1:20]",
    );
    expect(await refusal(store, "FROM logs, nosuch", vendor)).toBe("no such index [nosuch]");
  });
});
