import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

const rows = [
  { _time: 500, host: "a", n: 1 },
  { _time: 490, host: "b", n: 2 },
  { _time: 400, n: 100 },
  { _time: 380, host: "a", n: 4 },
  { _time: 370, host: "a", n: 8 },
  { _time: 100, host: "b", n: 16 },
];

describe("eventstats and streamstats", () => {
  let bench: SplBench;
  beforeAll(async () => {
    bench = await splBench();
  });
  afterAll(() => bench.close());
  const column = async (text: string, name = "x") =>
    (await bench.searchRows(rows, text)).rows.map((row) => row[name] ?? null);

  test("rule 41: eventstats adds the aggregates of all rows, or of the group, to each row", async () => {
    expect(await column("eventstats sum(n) AS x")).toEqual([131, 131, 131, 131, 131, 131]);
    expect(await column("eventstats sum(n) AS x by host")).toEqual([13, 18, null, 13, 13, 18]);
    expect(await column("eventstats first(n) AS x by host")).toEqual([1, 2, null, 1, 1, 2]);
    const options = ["allnum=t sum(n) AS x limit=2 by host", "sum(n) AS x by host limit=2"];
    for (const given of options)
      expect(await column(`eventstats ${given}`)).toEqual([13, 18, null, 13, 13, 18]);
    expect(await bench.refusal("| makeresults | eventstats count nosucharg=1")).toBe(
      "Error in 'eventstats' command: The argument 'nosucharg=1' is invalid.",
    );
    expect(await column("eventstats latest(host) AS x")).toEqual(["a", "a", "a", "a", "a", "a"]);
    expect(await column("eventstats values(host) AS x | head 1")).toEqual([["a", "b"]]);
    const { fields, rows: all } = await bench.searchRows(rows, "eventstats count | head 1");
    expect([fields, all]).toEqual([["_time", "host", "n", "count"], [{ ...rows[0], count: 6 }]]);
    expect(await column("eventstats median(n) AS n", "n")).toEqual([6, 6, 6, 6, 6, 6]);
  });

  test("rule 41: streamstats covers the rows so far, including the current one unless current=f", async () => {
    expect(await column("streamstats sum(n) AS x")).toEqual([1, 3, 103, 107, 115, 131]);
    expect(await column("streamstats current=f sum(n) AS x")).toEqual([null, 1, 3, 103, 107, 115]);
    expect(await column("streamstats count AS x by host")).toEqual([1, 1, null, 2, 3, 2]);
    expect(await column("streamstats dc(host) AS x")).toEqual([1, 2, 2, 2, 2, 2]);
    expect(await column("streamstats current=f last(n) AS x by host")).toEqual([null, null, null, 1, 4, 2]);
    expect(await column("streamstats list(n) AS x | tail 1")).toEqual([["1", "2", "100", "4", "8", "16"]]);
  });

  test("rule 41: a window counts rows, including those of other groups unless global=f", async () => {
    expect(await column("streamstats window=2 sum(n) AS x")).toEqual([1, 3, 102, 104, 12, 24]);
    expect(await column("streamstats window=1 current=f last(n) AS x")).toEqual([null, 1, 2, 100, 4, 8]);
    expect(await column("streamstats window=2 sum(n) AS x by host")).toEqual([1, 2, null, 4, 12, 16]);
    expect(await column("streamstats sum(n) AS x by host window=2")).toEqual([1, 2, null, 4, 12, 16]);
    expect(await column("streamstats window=2 global=f sum(n) AS x by host")).toEqual([
      1,
      2,
      null,
      5,
      12,
      18,
    ]);
    expect(await column("streamstats window=3 current=f global=t sum(n) AS x by host")).toEqual([
      null,
      null,
      null,
      1,
      5,
      2,
    ]);
  });

  test("rule 41: time_window excludes rows exactly as old as the window, in either order", async () => {
    expect(await column("streamstats time_window=2m sum(n) AS x")).toEqual([1, 3, 103, 106, 112, 16]);
    expect(await column("reverse | streamstats time_window=2m sum(n) AS x")).toEqual([
      16, 8, 12, 112, 106, 103,
    ]);
    expect(await column("streamstats time_window=2m window=2 sum(n) AS x")).toEqual([1, 3, 102, 104, 12, 16]);
    expect(await column("streamstats time_window=2m current=f sum(n) AS x")).toEqual([
      null,
      1,
      3,
      102,
      104,
      null,
    ]);
  });

  test("rule 41: time_window needs rows with times", async () => {
    expect(await bench.refusal("| makeresults | fields - _time | streamstats time_window=1h count")).toBe(
      "Error in 'streamstats' command: time_window can only be used on input that is sorted in time order (both ascending and descending order are ok).",
    );
    expect(await bench.refusal("| makeresults | streamstats time_window=soon count")).toBe(
      "Error in 'streamstats' command: time_window must be a valid time span.",
    );
  });

  test("rule 41: resets forget what was before", async () => {
    expect(await column('streamstats reset_before="(n==4)" sum(n) AS x')).toEqual([1, 3, 103, 4, 12, 28]);
    expect(await column('streamstats reset_before="("n==4")" sum(n) AS x')).toEqual([1, 3, 103, 4, 12, 28]);
    expect(await column("streamstats reset_after=(n=4) sum(n) AS x")).toEqual([1, 3, 103, 107, 8, 24]);
    expect(await column("streamstats reset_on_change=t sum(n) AS x by host")).toEqual([
      1,
      2,
      null,
      4,
      12,
      16,
    ]);
    expect(await column("streamstats reset_before=(n=4) window=2 sum(n) AS x")).toEqual([
      1, 3, 102, 4, 12, 24,
    ]);
    await expect(bench.searchRows(rows, "streamstats reset_after=(x>4) sum(n) AS x")).rejects.toThrow(
      "A reset by 'x', which the command computes itself, is not served here.",
    );
  });
});
