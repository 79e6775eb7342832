import { Slices } from "@offhook/log-store/slices";
import type { QueryResult } from "@offhook/log-store/store/log-store";
import { CursorTable } from "@offhook/log-store/store/result-cursor";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());
const rows = async (given: readonly object[], text: string) => (await bench.searchRows(given, text)).rows;
const numbers = [1, 2, 6, 4, 5].map((x) => ({ x }));

describe("trendline", () => {
  test("simple and weighted averages cover the latest rows; the field is named as written", async () => {
    expect(await rows(numbers, "trendline sma2(x), wma3(x) AS w | fields - x")).toEqual([
      {},
      { "sma2(x)": 1.5 },
      { "sma2(x)": 4, w: 23 / 6 },
      { "sma2(x)": 5, w: 26 / 6 },
      { "sma2(x)": 4.5, w: 29 / 6 },
    ]);
  });

  test("an exponential average covers all preceding rows", async () => {
    const found = await rows(numbers, "trendline ema3(x) as e | fields e");
    expect(found).toEqual([{}, {}, { e: 3.75 }, { e: 3.875 }, { e: 4.4375 }]);
  });

  test("computing exponential averages yields to other work", async () => {
    const over = vi.spyOn(Slices.prototype, "over", "get").mockReturnValue(true);
    const next = vi.spyOn(Slices.prototype, "next");
    onTestFinished(() => {
      over.mockRestore();
      next.mockRestore();
    });
    await bench.search(
      "| makeresults count=10000 | streamstats count AS x | trendline ema2(x) AS e | stats max(e)",
    );
    // One yield for every two thousand values fetched, and one for every thousand averages.
    expect(next.mock.calls.length).toBeGreaterThanOrEqual(20);
  });

  test("the rows' order counts; a missing field changes nothing", async () => {
    expect(await rows(numbers, "sort - x | trendline sma5(x) as s | tail 1")).toEqual([{ x: 1, s: 3.6 }]);
    expect(await rows([{ y: 1 }], "trendline sma5(x)")).toEqual([{ y: 1 }]);
  });

  test("a weighted average equals the naive one for every period, and is missing while a value is", async () => {
    const values = fc.array(fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { freq: 9 }), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(values, fc.integer({ min: 2, max: 9 }), async (given, period) => {
        const input = given.map((x, n) => ({ n, ...(x === null ? {} : { x }) }));
        const found = await rows([...input, { x: 0 }], `trendline wma${period}(x) AS w`);
        for (const [n, { w }] of found.slice(0, -1).entries()) {
          const window = given.slice(Math.max(0, n + 1 - period), n + 1);
          if (window.length < period || window.includes(null)) expect(w).toBeUndefined();
          else {
            const sum = window.reduce<number>((all, x, index) => all + (index + 1) * (x ?? 0), 0);
            expect(Math.abs(Number(w) - sum / ((period * (period + 1)) / 2))).toBeLessThan(1e-8);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  test("an invalid trend is refused", async () => {
    expect(await bench.refusal("trendline max5(x)")).toBe(
      "Error in 'trendline' command: The trend 'max5(x)' is invalid.",
    );
    expect(await bench.refusal("trendline sma1(x)")).toContain("must be between 2 and 10000");
    expect(await bench.refusal("trendline")).toContain("Missing a trend");
  });
});

describe("contingency", () => {
  const given = [
    { a: "x", b: 1 },
    { a: "x", b: 1 },
    { a: "x", b: 2 },
    { a: "y", b: 2 },
    { a: "z", b: 3 },
    { a: "z" },
  ];

  test("it counts value pairs, most frequent first, with totals", async () => {
    const found = await bench.searchRows(given, "contingency a b");
    expect(found.fields).toEqual(["a", "1", "2", "3", "TOTAL"]);
    expect(found.rows).toEqual([
      { a: "x", 1: 2, 2: 1, 3: 0, TOTAL: 3 },
      { a: "y", 1: 0, 2: 1, 3: 0, TOTAL: 1 },
      { a: "z", 1: 0, 2: 0, 3: 1, TOTAL: 1 },
      { a: "TOTAL", 1: 2, 2: 2, 3: 1, TOTAL: 5 },
    ]);
  });

  test("values can be limited by their number and by what they cover", async () => {
    expect(await rows(given, "ctable usetotal=f maxrows=1 mincolcover=0.8 a, b")).toEqual([
      { a: "x", 1: 2, 2: 1 },
    ]);
    expect(await rows(given, 'contingency totalstr="all" maxcols=1 a b maxrows=2')).toEqual([
      { a: "x", 1: 2, all: 2 },
      { a: "y", 1: 0, all: 0 },
      { a: "all", 1: 2, all: 2 },
    ]);
    expect(await rows(given, "counttable a gone usetotal=f")).toEqual([]);
  });

  test("a matrix of many values has every count where its values meet", async () => {
    const { rows } = await bench.search(
      '| makeresults count=2800 | streamstats count AS i | eval a="row ".(i%400), b="say \\"".(i%7)."\\"" | contingency a b',
    );
    const columns = [0, 1, 2, 3, 4, 5, 6].map((n) => `say "${n}"`);
    const line = (a: string, each: number) => ({
      a,
      ...Object.fromEntries(columns.map((column) => [column, each])),
      TOTAL: 7 * each,
    });
    expect(rows).toHaveLength(401);
    const counted = rows.slice(0, 400);
    expect(counted).toEqual(counted.map(({ a }) => line(String(a), 1)));
    expect(rows.at(-1)).toEqual(line("TOTAL", 400));
  });

  test("of many values, only those in the result leave the database", async () => {
    const asked = vi.spyOn(CursorTable.prototype, "query");
    onTestFinished(() => asked.mockRestore());
    const { rows } = await bench.search(
      '| makeresults count=6000 | streamstats count AS i | eval a="row ".if(i<3, 1, i), b=i%2 | contingency maxrows=30 a b',
    );
    expect(rows).toHaveLength(31);
    expect(rows[0]).toEqual({ a: "row 1", 0: 1, 1: 1, TOTAL: 2 });
    const found = await Promise.all(asked.mock.results.map(({ value }) => value));
    expect(found.map((one: QueryResult) => one.rows.length)).toEqual([30, 2, 31]);
  });

  test("rows with lists, quotes and missing values go into the next command as they are", async () => {
    const given = [
      { a: ['say "x"', "\\", ""], b: "line\nline" },
      { b: "", c: 0.1 },
      { a: ["y"], c: -2 },
    ];
    expect(await rows(given, "table a b c")).toEqual(given);
  });

  test("each value of a multi-value counts", async () => {
    expect(await rows([{ a: ["x", "y"], b: "k" }], "contingency a b usetotal=f")).toEqual([
      { a: "x", k: 1 },
      { a: "y", k: 1 },
    ]);
  });
});
