import { afterAll, beforeAll, expect, test } from "vitest";
import { benchNowMs, type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench([], { range: { earliestMs: 1_000, latestMs: undefined } });
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;

const input = [
  { k: "a", x: 1, y: "2", _time: 100 },
  { k: "b", x: 3, y: "none", _time: 200 },
];

test("rule 67: addtotals adds up the numbers of a row, internal fields apart", async () => {
  expect((await rows(input, "addtotals")).map(({ Total }) => Total)).toEqual([3, 3]);
  expect((await rows(input, "addtotals fieldname=sum x")).map(({ sum }) => sum)).toEqual([1, 3]);
  expect((await rows(input, "addtotals k nowhere")).map(({ Total }) => Total)).toEqual([0, 0]);
  expect((await rows([{ ab: 1, ac: 2, b: 4 }], "addtotals a*"))[0]).toMatchObject({ Total: 3 });
});

test("rule 67: addtotals col=t adds a row of the columns' totals, with a label", async () => {
  expect(await rows(input, "fields - _time | addtotals col=t labelfield=k label=All")).toEqual([
    { k: "a", x: 1, y: "2", Total: 3 },
    { k: "b", x: 3, y: "none", Total: 3 },
    { k: "All", x: 4, y: "2", Total: 6 },
  ]);
  expect((await rows(input, "addtotals row=f col=t x")).at(-1)).toEqual({ x: 4 });
});

test("rule 67: addcoltotals adds one row, whose label stands in a field that may be new", async () => {
  expect((await rows(input, "addcoltotals")).at(-1)).toEqual({ x: 4, y: "2" });
  expect((await rows(input, "addcoltotals labelfield=what x")).at(-1)).toEqual({ x: 4, what: "Total" });
  expect((await rows(input, `addcoltotals labelfield=x label="sum" x`)).map(({ x }) => x)).toEqual([
    "1",
    "3",
    "sum",
  ]);
  expect(await rows([], "addcoltotals")).toEqual([]);
});

test("accum adds up what is a number, and leaves the rest", async () => {
  const values = [{ x: 1 }, { x: 2 }, { y: 1 }, { x: 4 }];
  expect(await rows(values, "accum x")).toEqual([{ x: 1 }, { x: 3 }, { y: 1 }, { x: 7 }]);
  expect(await rows([{ x: "1" }, { x: "n/a" }, { x: "2.5" }], "accum x")).toEqual([
    { x: "1" },
    { x: "n/a" },
    { x: "3.5" },
  ]);
  expect(await rows([{ x: "1" }, { x: "n/a" }], "accum x AS sum")).toEqual([
    { x: "1", sum: 1 },
    { x: "n/a" },
  ]);
  expect((await rows(values, "reverse | accum x as s")).map(({ s }) => s)).toEqual([4, undefined, 6, 7]);
});

test("delta is the difference to a row before, in the rows' order", async () => {
  const values = [{ x: 1 }, { x: 3 }, { x: "n/a" }, { x: 10 }];
  expect((await rows(values, "delta x")).map((row) => row["delta(x)"])).toEqual([
    ...[undefined, 2, undefined, undefined],
  ]);
  expect((await rows(values, "delta x AS d p=2")).map(({ d }) => d)).toEqual([
    undefined,
    undefined,
    undefined,
    7,
  ]);
  expect((await rows(values, "delta p=3 x as d")).map(({ d }) => d)).toEqual([
    undefined,
    undefined,
    undefined,
    9,
  ]);
  expect(await bench.refusal("| makeresults | delta x p=0")).toContain("Error in 'delta' command:");
});

test("autoregress copies values of rows before", async () => {
  const values = [{ x: "a" }, { x: "b" }, { x: "c" }];
  expect(await rows(values, "autoregress x")).toEqual([
    { x: "a" },
    { x: "b", x_p1: "a" },
    { x: "c", x_p1: "b" },
  ]);
  expect((await rows(values, "autoregress x p=1-2")).at(-1)).toEqual({ x: "c", x_p1: "b", x_p2: "a" });
  expect((await rows(values, "autoregress x AS old p=2")).at(-1)).toEqual({ x: "c", old: "a" });
  expect(await bench.refusal("| makeresults | autoregress x as y p=1-2")).toContain(
    "Error in 'autoregress' command:",
  );
});

test("addinfo says what the search's range and sid are", async () => {
  expect(await rows([{ a: 1 }], "addinfo")).toEqual([
    {
      a: 1,
      info_min_time: "1.000",
      info_max_time: "+Infinity",
      info_sid: "1768478400.1",
      info_search_time: (benchNowMs / 1000).toFixed(3),
    },
  ]);
});
