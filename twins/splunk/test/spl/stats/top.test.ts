import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

const rows = [
  ...Array.from({ length: 6 }, () => ({ url: "/a", code: 200, host: "x" })),
  ...Array.from({ length: 3 }, () => ({ url: "/b", code: 200, host: "y" })),
  ...Array.from({ length: 2 }, () => ({ url: "/c", code: 500, host: "y" })),
  { url: "/d", code: 500 },
  { code: 404 },
];

describe("top and rare", () => {
  let bench: SplBench;
  beforeAll(async () => {
    bench = await splBench();
  });
  afterAll(() => bench.close());
  const run = async (text: string) => (await bench.searchRows(rows, text)).rows;

  test("rule 50: top gives the ten most frequent values with their count, percent of all rows that have the field in six places, and how many those are", async () => {
    expect(await run("top url")).toEqual([
      { url: "/a", count: 6, percent: "50.000000", _tc: 12 },
      { url: "/b", count: 3, percent: "25.000000", _tc: 12 },
      { url: "/c", count: 2, percent: "16.666667", _tc: 12 },
      { url: "/d", count: 1, percent: "8.333333", _tc: 12 },
    ]);
    expect(await run("top 1 url")).toEqual([{ url: "/a", count: 6, percent: "50.000000", _tc: 12 }]);
    expect(await run("top limit=1 url useother=t otherstr=rest")).toEqual([
      { url: "/a", count: 6, percent: "50.000000", _tc: 12 },
      { url: "rest", count: 6, percent: "50.000000", _tc: 12 },
    ]);
    expect(await run("top url showperc=f countfield=hits limit=1")).toEqual([
      { url: "/a", hits: 6, _tc: 12 },
    ]);
    expect(await run("top url by gone limit=1")).toEqual([]);
    expect(await run("top limit=1 showcount=f percentfield=share url")).toEqual([
      { url: "/a", share: "50.000000", _tc: 12 },
    ]);
    const many = Array.from({ length: 30 }, (_, n) => ({ n }));
    expect((await bench.searchRows(many, "top n")).rows).toHaveLength(10);
    expect((await bench.searchRows(many, "top limit=0 n")).rows).toHaveLength(30);
  });

  test("rule 50: of several fields, combinations; by fields, for each of their values", async () => {
    expect(await run("top 2 code, host")).toEqual([
      { code: 200, host: "x", count: 6, percent: "54.545455", _tc: 11 },
      { code: 200, host: "y", count: 3, percent: "27.272727", _tc: 11 },
    ]);
    expect(await run("top limit=1 url by host useother=t")).toEqual([
      { host: "x", url: "/a", count: 6, percent: "100.000000", _tc: 6 },
      { host: "y", url: "/b", count: 3, percent: "60.000000", _tc: 5 },
      { host: "y", url: "OTHER", count: 2, percent: "40.000000", _tc: 5 },
    ]);
    const { fields } = await bench.searchRows(rows, "top url by host");
    expect(fields).toEqual(["host", "url", "count", "percent", "_tc"]);
  });

  test("rule 50: a field behind BY alone is a group, not a value", async () => {
    expect(await run("top host by host")).toEqual([
      { host: "x", count: 6, percent: "100.000000", _tc: 6 },
      { host: "y", count: 5, percent: "100.000000", _tc: 5 },
    ]);
    expect(await run("rare limit=1 code by host, code useother=t")).toHaveLength(3);
  });

  test("rule 50: of values that are equally frequent, the last in the order of texts comes first", async () => {
    const users = ["Alex", "Kai", "Morgan"];
    const places = ["Orlando", "Dallas", "Atlanta"];
    const each = places.flatMap((location) => users.map((user) => ({ location, user })));
    expect((await bench.searchRows(each, "top limit=1 location by user")).rows).toEqual(
      users.map((user) => ({ user, location: "Orlando", count: 1, percent: "33.333333", _tc: 3 })),
    );
    const numbers = [9, 10, 8].map((n) => ({ n }));
    expect((await bench.searchRows(numbers, "top n")).rows.map(({ n }) => n)).toEqual([9, 8, 10]);
    expect((await bench.searchRows(numbers, "rare limit=1 n")).rows.map(({ n }) => n)).toEqual([9]);
  });

  test("rule 50: rare gives the least frequent first", async () => {
    expect(await run("rare limit=2 url")).toEqual([
      { url: "/d", count: 1, percent: "8.333333", _tc: 12 },
      { url: "/c", count: 2, percent: "16.666667", _tc: 12 },
    ]);
    expect(await run("rare nowhere")).toEqual([]);
  });

  test("each value of a multi-value counts", async () => {
    const lists = [{ tags: ["x", "y"] }, { tags: ["x"] }];
    expect((await bench.searchRows(lists, "top tags")).rows).toEqual([
      { tags: "x", count: 2, percent: "66.666667", _tc: 3 },
      { tags: "y", count: 1, percent: "33.333333", _tc: 3 },
    ]);
  });
});
