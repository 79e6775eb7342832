import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

const noon = Date.UTC(2026, 0, 15, 12) / 1000;
const rows = [
  { _time: noon, host: "a", size: 5 },
  { _time: noon + 60, host: "a", size: 25 },
  { _time: noon + 240, host: "b", size: 105 },
];

describe("chart", () => {
  let bench: SplBench;
  beforeAll(async () => {
    bench = await splBench();
  });
  afterAll(() => bench.close());
  const run = async (text: string) => (await bench.searchRows(rows, text)).rows;

  test("rule 49: ranges come in the order of their numbers, as rows and as series", async () => {
    const counts = await run("chart cont=f count over size span=10");
    expect(counts.map(({ size }) => size)).toEqual(["0-10", "20-30", "100-110"]);
    const { fields } = await bench.searchRows(rows, "chart count over host by size span=10");
    expect(fields).toEqual(["host", "0-10", "20-30", "100-110"]);
    const below = await run("eval size=size-50 | chart cont=f count over size span=50");
    expect(below.map(({ size }) => size)).toEqual(["-50-0", "50-100"]);
  });

  test("bins without rows are there, unless cont=f", async () => {
    expect(await run("chart count sum(size) over size span=50")).toEqual([
      { size: "0-50", count: 2, "sum(size)": 30 },
      { size: "50-100", count: 0 },
      { size: "100-150", count: 1, "sum(size)": 105 },
    ]);
    expect(await run("chart cont=f count over size span=50")).toHaveLength(2);
    expect(await run("chart count over size span=50 by host")).toEqual([
      { size: "0-50", a: 2, b: 0 },
      { size: "50-100", a: 0, b: 0 },
      { size: "100-150", a: 0, b: 1 },
    ]);
    expect(await run("eval size=size/1000 | chart max(size) over size span=0.05")).toEqual([
      { size: "0.00-0.05", "max(size)": 0.025 },
      { size: "0.05-0.10" },
      { size: "0.10-0.15", "max(size)": 0.105 },
    ]);
    expect((await run("chart count over _time span=1m")).map(({ count }) => count)).toEqual([1, 1, 0, 0, 1]);
    expect(await run("chart cont=f count over _time span=1m")).toHaveLength(3);
    // Gaps that would exceed the size of a table are not filled.
    expect(await run("eval size=size*1000 | chart count over size span=1")).toHaveLength(3);
  });

  test("there are at most 300 bins unless their number or span is given", async () => {
    const many = Array.from({ length: 250 }, (_, size) => ({ size }));
    expect((await bench.searchRows(many, "chart count over size minspan=1")).rows).toHaveLength(250);
    expect((await bench.searchRows(many, "chart count over size bins=100")).rows).toHaveLength(25);
  });

  test("agg= sets the aggregate that ranks series, in chart and timechart", async () => {
    const most = [
      ...[1, 1, 1].map((v) => ({ _time: noon, host: "often", v })),
      { _time: noon, host: "large", v: 9 },
      { _time: noon + 60, host: "often", v: 8 },
    ];
    for (const command of [
      "chart limit=1 useother=f AGG sum(v) over _time by host",
      "timechart span=1m limit=1 useother=f AGG sum(v) by host",
    ]) {
      const fields = async (agg: string) =>
        (await bench.searchRows(most, command.replace("AGG", agg))).fields.filter(
          (name) => !name.startsWith("_"),
        );
      expect(await fields("")).toEqual(["often"]);
      expect(await fields("agg=max(v)")).toEqual(["large"]);
      expect(await fields("agg=max(v) as m")).toEqual(["large"]);
      expect(await fields("agg=sum")).toEqual(["often"]);
    }
  });

  test("stats needs no aggregate where there are groups", async () => {
    expect(await run("stats by host")).toEqual([{ host: "a" }, { host: "b" }]);
    expect(await bench.refusal("search * | stats")).toBe(
      "Error in 'stats' command: No aggregation is given.",
    );
  });
});
