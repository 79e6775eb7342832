import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

const noon = Date.UTC(2026, 0, 15, 12) / 1000;
/** Rows at a number of seconds before noon. */
const rowsBeforeNoon = (rows: readonly (readonly [number, object])[]) =>
  rows.map(([seconds, row]) => ({ _time: noon - seconds, ...row }));

describe("timechart", () => {
  let bench: SplBench;
  let hour: SplBench;
  beforeAll(async () => {
    bench = await splBench();
    hour = await splBench([], { range: { earliestMs: (noon - 3_600) * 1000, latestMs: noon * 1000 } });
  });
  afterAll(async () => {
    await bench.close();
    await hour.close();
  });

  test.each(["earliest=0", "earliest=0 latest=now", "starttimeu=0"])(
    "%s is all time: rows begin with the events",
    async (time) => {
      const events = rowsBeforeNoon([[60, { a: 1 }]]).map(({ _time }) => ({
        _time: new Date(_time * 1000).toISOString(),
      }));
      const one = await splBench(events, { nowMs: noon * 1000 });
      const { rows } = await one.search(`search index=* ${time} | timechart count`);
      await one.close();
      expect(rows.length).toBeLessThan(100);
      expect(rows[0]).toMatchObject({ _time: noon - 60, count: 1 });
    },
  );

  test("rule 44: without a span there are at most a hundred rows, of a usual span", async () => {
    const spanOf = async (minutes: number) => {
      const range = { earliestMs: (noon - minutes * 60) * 1000, latestMs: noon * 1000 };
      const one = await splBench([], { range });
      const { rows } = await one.searchRows(rowsBeforeNoon([[1, { a: 1 }]]), "timechart count");
      await one.close();
      return { span: rows[0]?._span, rows: rows.length };
    };
    expect(await spanOf(15)).toEqual({ span: 10, rows: 90 });
    expect(await spanOf(60)).toEqual({ span: 60, rows: 60 });
    expect(await spanOf(4 * 60)).toEqual({ span: 300, rows: 48 });
    expect(await spanOf(24 * 60)).toEqual({ span: 1_800, rows: 48 });
    expect(await spanOf(7 * 24 * 60)).toEqual({ span: 86_400, rows: 8 });
    expect((await spanOf(30 * 24 * 60)).span).toBe(86_400);
    // January to January: each bucket has the length of its month.
    expect((await spanOf(365 * 24 * 60)).span).toBe(31 * 86_400);
  });

  test("rule 45: the ten series with the greatest sum are shown, others are OTHER, rows without are NULL", async () => {
    const rows = rowsBeforeNoon(
      Array.from({ length: 12 }, (_, n) => n).flatMap((n) =>
        Array.from({ length: n + 1 }, () => [60, { host: `h${String(n).padStart(2, "0")}` }] as const),
      ),
    ).concat(rowsBeforeNoon([[60, { other: 1 }]]));
    const { fields, rows: all } = await bench.searchRows(rows, "timechart span=1h count by host");
    const ten = Array.from({ length: 10 }, (_, n) => `h${String(n + 2).padStart(2, "0")}`);
    expect(fields).toEqual(["_time", ...ten, "NULL", "OTHER", "_span"]);
    expect(all).toEqual([
      {
        _time: noon - 3_600,
        ...Object.fromEntries(ten.map((name, n) => [name, n + 3])),
        NULL: 1,
        OTHER: 3,
        _span: 3_600,
      },
    ]);
    const names = async (text: string) =>
      (await bench.searchRows(rows, `timechart span=1h ${text}`)).fields.filter(
        (name) => !name.startsWith("_"),
      );
    expect(await names("limit=2 count by host usenull=f otherstr=rest")).toEqual(["h10", "h11", "rest"]);
    expect(await names("limit=2 useother=f nullstr=none count by host")).toEqual(["h10", "h11", "none"]);
    expect(await names("limit=bottom1 useother=f usenull=f count by host")).toEqual(["h00"]);
    expect((await names("limit=0 count by host")).length).toBe(13);
    expect(await names("count by host where sum in top1 useother=f usenull=f")).toEqual(["h11"]);
    expect(await names("count by host where max > 11 usenull=f useother=f")).toEqual(["h11"]);
    expect(await names("count by host where max notin top11 usenull=f useother=f")).toEqual(["h00"]);
    // Averages of parts cannot be merged.
    const { rows: averages } = await bench.searchRows(
      rows.map((row, n) => ({ ...row, n })),
      "timechart span=1h limit=1 usenull=f avg(n) by host",
    );
    expect(averages).toEqual([{ _time: noon - 3_600, h11: 71.5, OTHER: 32.5, _span: 3_600 }]);
  });

  test("rule 45: series whose partial aggregates cannot be merged are computed from all their rows", async () => {
    const rows = rowsBeforeNoon([
      ...["b", "a", "a", "NULL"].map((host, n) => [60, { host, n, user: `u${n}` }] as const),
      [60, { n: 9, user: "u9" }],
      [120, { host: "b", n: 4, user: "u1" }],
    ]);
    const cells = async (text: string) => {
      const found = await bench.searchRows(rows, `timechart span=1h ${text}`);
      return found.rows.map(({ _time, _span, ...row }) => row);
    };
    const [a, b] = [2, 2];
    expect(await cells("dc(user) by host nullstr=none")).toEqual([{ a, b, NULL: 1, none: 1 }]);
    // Rows without the field join a series whose value equals `nullstr`.
    expect(await cells("dc(user) by host")).toEqual([{ a, b, NULL: 2 }]);
    expect(await cells("dc(user) by host usenull=f")).toEqual([{ a, b, NULL: 1 }]);
    expect(await cells("limit=2 dc(user) by host nullstr=none")).toEqual([{ a, b, OTHER: 1, none: 1 }]);
    expect(await cells("limit=2 useother=f dc(user) by host nullstr=none")).toEqual([{ a, b, none: 1 }]);
    expect(await cells("limit=1 useother=f usenull=f values(user) median(n) by host")).toEqual([
      { "values(user): a": ["u1", "u2"], "median(n): a": 2 },
    ]);
    const { statements } = await bench.searchRows(rows, "timechart span=1h dc(user) by host nullstr=none");
    expect(statements.filter((text) => text.includes("DISTINCT"))).toHaveLength(1);
  });

  test("rule 46: rows without events are there, with counts of 0; partial=f drops those that are cut", async () => {
    const rows = rowsBeforeNoon([
      [10, { v: 3 }],
      [3_500, { v: 4 }],
    ]);
    const { rows: all } = await hour.searchRows(rows, "timechart span=15m count sum(v) dc(v) AS values");
    expect(all).toEqual([
      { _time: noon - 3_600, count: 1, "sum(v)": 4, values: 1, _span: 900 },
      { _time: noon - 2_700, count: 0, values: 0, _span: 900 },
      { _time: noon - 1_800, count: 0, values: 0, _span: 900 },
      { _time: noon - 900, count: 1, "sum(v)": 3, values: 1, _span: 900 },
    ]);
    expect((await hour.searchRows(rows, "timechart cont=f span=15m count")).rows).toHaveLength(2);
    expect((await hour.searchRows(rows, "timechart span=25m count")).rows).toHaveLength(3);
    expect((await hour.searchRows(rows, "timechart span=25m partial=f count")).rows).toHaveLength(1);
    expect((await hour.searchRows(rows, "timechart fixedrange=f span=1m count")).rows).toHaveLength(59);
    expect(
      (await hour.searchRows(rows.slice(0, 1), "timechart fixedrange=f span=1m count")).rows,
    ).toHaveLength(1);
    const { rows: split } = await hour.searchRows(rows, "timechart span=30m count by v");
    expect(split).toEqual([
      { _time: noon - 3_600, "3": 0, "4": 1, _span: 1_800 },
      { _time: noon - 1_800, "3": 1, "4": 0, _span: 1_800 },
    ]);
    expect((await hour.searchRows(rows, "where v>99 | timechart count")).rows).toEqual([]);
    await expect(
      bench.searchRows(
        rowsBeforeNoon([
          [1, {}],
          [1e6, {}],
        ]),
        "timechart span=1s count",
      ),
    ).rejects.toThrow("The specified span would result in too many (>50000) rows.");
  });

  test("rule 47: several aggregates name their columns, as do values that begin with _", async () => {
    const rows = rowsBeforeNoon([
      [10, { v: 3, k: "a" }],
      [20, { v: 5, k: "_b" }],
    ]);
    const fields = async (text: string) => (await bench.searchRows(rows, `timechart span=1h ${text}`)).fields;
    expect(await fields("count by k")).toEqual(["_time", "VALUE_b", "a", "_span"]);
    expect(await fields("count sum(v) AS s by k")).toEqual([
      "_time",
      "count: _b",
      "count: a",
      "s: _b",
      "s: a",
      "_span",
    ]);
    expect(await fields('sep="-" count sum(v) AS s by k')).toEqual([
      "_time",
      "count-_b",
      "count-a",
      "s-_b",
      "s-a",
      "_span",
    ]);
    expect(await fields('format="$VAL$/$AGG$" count sum(v) AS s by k limit=1')).toContain("OTHER/s");
  });

  test("rule 48: span=1d is a day of the calendar", async () => {
    const paris = await splBench([], { timeZone: "Europe/Paris" });
    const { rows } = await paris.searchRows(
      rowsBeforeNoon([
        [0, {}],
        [86_400, {}],
      ]),
      "timechart span=1d count",
    );
    expect(rows).toEqual([
      { _time: Date.UTC(2026, 0, 13, 23) / 1000, count: 1, _span: 86_400, _spandays: 1 },
      { _time: Date.UTC(2026, 0, 14, 23) / 1000, count: 1, _span: 86_400, _spandays: 1 },
    ]);
    await paris.close();
  });

  test("an expression of aggregates is one column; the span of per_second is that of a row", async () => {
    const rows = rowsBeforeNoon([
      [10, { v: 3, k: "a" }],
      [20, { v: 6, k: "a" }],
      [20, { v: 7, k: "b" }],
    ]);
    const { rows: all } = await bench.searchRows(
      rows,
      "timechart span=1m eval(sum(v)/count) AS mean by k limit=1",
    );
    expect(all).toEqual([{ _time: noon - 60, b: 7, OTHER: 4.5, _span: 60 }]);
    const { rows: rates } = await bench.searchRows(rows, "timechart span=1m per_second(v) per_hour(v)");
    expect(rates).toEqual([{ _time: noon - 60, "per_second(v)": 16 / 60, "per_hour(v)": 960, _span: 60 }]);
  });
});

describe("chart", () => {
  let bench: SplBench;
  beforeAll(async () => {
    bench = await splBench();
  });
  afterAll(() => bench.close());
  const rows = [
    { host: "a", code: "200", size: 5 },
    { host: "a", code: "500", size: 15 },
    { host: "b", code: "200", size: 25 },
    { host: "b", size: 35 },
  ];
  const chart = async (text: string) => (await bench.searchRows(rows, `chart ${text}`)).rows;

  test("rule 49: over a by b is a table, as is by a b; without a second field it is a list", async () => {
    const table = [
      { host: "a", "200": 1, "500": 1, NULL: 0 },
      { host: "b", "200": 1, "500": 0, NULL: 1 },
    ];
    expect(await chart("count over host by code")).toEqual(table);
    expect(await chart("count by host, code")).toEqual(table);
    expect(await chart("sum(size) AS s max(size) by host")).toEqual([
      { host: "a", s: 20, "max(size)": 15 },
      { host: "b", s: 60, "max(size)": 35 },
    ]);
    expect(await chart("count")).toEqual([{ count: 4 }]);
    expect(await chart("limit=1 usenull=f count over host by code")).toEqual([
      { host: "a", "200": 1, OTHER: 1 },
      { host: "b", "200": 1, OTHER: 0 },
    ]);
    expect(await bench.refusal("| chart count by a b c")).toBe(
      "Error in 'chart' command: Only one field can split the series.",
    );
  });

  test("rule 49: the row's field can be in bins", async () => {
    expect(await chart("count over size span=20 by host")).toEqual([
      { size: "0-20", a: 2, b: 0 },
      { size: "20-40", a: 0, b: 2 },
    ]);
  });

  test("a table of too many series is refused before it is made", async () => {
    const series = (count: number) =>
      `makeresults count=${count} | streamstats count AS n | chart limit=0 count over n by n`;
    await expect(bench.search(`| ${series(1_500)} | stats count`)).rejects.toThrow(
      "Error in 'chart' command: The result would have 1500 rows of 1500 columns, and a table has at most 5000 columns and 2000000 values; use 'limit' or a wider 'span'.",
    );
    expect((await bench.search(`| ${series(20)} | stats count`)).rows).toEqual([{ count: 20 }]);
  });
});
