import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

const at = (text: string) => Date.parse(text) / 1000;

describe("bin", () => {
  let bench: SplBench;
  let paris: SplBench;
  beforeAll(async () => {
    bench = await splBench();
    paris = await splBench([], { timeZone: "Europe/Paris" });
  });
  afterAll(async () => {
    await bench.close();
    await paris.close();
  });

  const binned = async (values: readonly unknown[], options: string) => {
    const { rows } = await bench.searchRows(
      values.map((v, n) => ({ v, n })),
      `bin ${options}`,
    );
    return rows.map(({ v }) => v);
  };
  const timed = async (times: readonly string[], options: string, on = bench) => {
    const { rows } = await on.searchRows(
      times.map((time) => ({ _time: at(time) })),
      `bin ${options}`,
    );
    return rows.map((row) => new Date(Number(row._time) * 1000).toISOString());
  };

  test("rule 51: a numeric span gives ranges; what is no number stays", async () => {
    expect(await binned([0, 9.5, 10, -3, 505], "span=10 v")).toEqual([
      "0-10",
      "0-10",
      "10-20",
      "-10-0",
      "500-510",
    ]);
    expect(await binned(["7", "x"], "v span=5")).toEqual(["5-10", "x"]);
    expect(await binned([0.25, 0.3], "v span=0.1")).toEqual(["0.2-0.3", "0.3-0.4"]);
    expect(await binned([5, 15, 1000, 0], "v span=log")).toEqual(["1-10", "10-100", "1000-10000", "0-0"]);
    expect(await binned([5, 9], "v span=2log4")).toEqual(["2-8", "8-32"]);
    const { fields, rows } = await bench.searchRows([{ v: 3 }], "bucket span=2 v AS w");
    expect([fields, rows]).toEqual([["v", "w"], [{ v: 3, w: "2-4" }]]);
  });

  test("rule 51: bins are the smallest sufficient power of ten; start and end widen", async () => {
    const hours = Array.from({ length: 24 }, (_, hour) => hour);
    expect(new Set(await binned(hours, "v bins=12"))).toEqual(new Set(["0-10", "10-20", "20-30"]));
    expect(new Set(await binned(hours, "v bins=24")).size).toBe(24);
    expect(new Set(await binned(hours, "v"))).toHaveProperty("size", 24);
    expect(new Set(await binned(hours, "v bins=10 end=1000"))).toEqual(new Set(["0-1000"]));
  });

  test("rule 51: _time stays a number", async () => {
    expect(await timed(["2026-03-04T05:06:07.5Z"], "span=5m _time")).toEqual(["2026-03-04T05:05:00.000Z"]);
    expect(await timed(["2026-03-04T05:06:07.56Z"], "span=100ms _time")).toEqual([
      "2026-03-04T05:06:07.500Z",
    ]);
    expect(await timed(["2026-03-04T05:06:07Z"], "span=30 _time")).toEqual(["2026-03-04T05:06:00.000Z"]);
    // Eleven hours: thirty minutes is the smallest usual span with at most a hundred buckets.
    expect(await timed(["2026-03-04T05:06:07Z", "2026-03-04T16:07:00Z"], "_time")).toEqual([
      "2026-03-04T05:00:00.000Z",
      "2026-03-04T16:00:00.000Z",
    ]);
    expect(await timed(["2026-03-04T05:06:07Z"], "_time span=4h aligntime=@d+3h")).toEqual([
      "2026-03-04T03:00:00.000Z",
    ]);
  });

  test("rule 48: days and longer are those of the calendar where the search is, weeks count from the epoch or as they are told", async () => {
    const moment = ["2026-07-15T22:30:00Z"];
    expect(await timed(moment, "_time span=1d", paris)).toEqual(["2026-07-15T22:00:00.000Z"]);
    expect(await timed(moment, "_time span=24h", paris)).toEqual(["2026-07-15T00:00:00.000Z"]);
    expect(await timed(moment, "_time span=1mon", paris)).toEqual(["2026-06-30T22:00:00.000Z"]);
    expect(await timed(moment, "_time span=1q")).toEqual(["2026-07-01T00:00:00.000Z"]);
    expect(await timed(moment, "_time span=1y")).toEqual(["2026-01-01T00:00:00.000Z"]);
    // 9 July 2026 is a Thursday, like the epoch.
    expect(await timed(["2026-07-15T12:00:00Z"], "_time span=1w")).toEqual(["2026-07-09T00:00:00.000Z"]);
    expect(await timed(["2026-07-15T12:00:00Z"], "_time span=1w@w1")).toEqual(["2026-07-13T00:00:00.000Z"]);
    expect(await timed(["2026-07-15T12:00:00Z"], "_time span=1w@w0")).toEqual(["2026-07-12T00:00:00.000Z"]);
    expect(await timed(["2026-03-29T12:00:00Z", "2026-10-25T12:00:00Z"], "_time span=1d", paris)).toEqual([
      "2026-03-28T23:00:00.000Z",
      "2026-10-24T22:00:00.000Z",
    ]);
  });

  test("rule 51: edges have the places of the span, and whole numbers are not parted", async () => {
    expect(await binned([1, 2], "v span=0.5")).toEqual(["1.0-1.5", "2.0-2.5"]);
    expect(await binned([1, 2, 3, 4], "v")).toEqual(["1-2", "2-3", "3-4", "4-5"]);
    expect(await binned([1, 2, 3, 4], "v bins=2")).toEqual(["0-10", "0-10", "0-10", "0-10"]);
    expect(await bench.refusal("| makeresults | bin")).toBe(
      "Error in 'bin' command: You must specify a field to discretize.",
    );
  });

  test("an invalid span is refused", async () => {
    expect(await bench.refusal("| bin _time span=5parsecs")).toBe(
      "Error in 'bin' command: The value for option span (5parsecs) is invalid.",
    );
  });
});
