import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { statsFunctionList } from "../../../spl/stats/functions/list.ts";
import { type SplBench, splBench } from "../../support/spl.ts";

const requests = [
  { _time: 1004, host: "b", code: "500", bytes: 40, user: "eve", tags: ["x", "y"] },
  { _time: 1003, host: "a", code: "200", bytes: 10, user: "bob", tags: ["x", "x"] },
  { _time: 1002, host: "b", code: "200", bytes: 20, user: "eve" },
  { _time: 1001, host: "a", code: "404", bytes: 30 },
  { _time: 1000, code: "n/a", bytes: 5, user: "amy", tags: ["z"] },
];

describe("stats", () => {
  let bench: SplBench;
  const stats = async (text: string, rows: readonly object[] = requests) =>
    (await bench.searchRows(rows, `stats ${text}`)).rows;
  beforeAll(async () => {
    bench = await splBench();
  });
  afterAll(() => bench.close());

  test("rule 33: rows without a BY field are dropped; a multi-value counts for each of its values", async () => {
    expect(await stats("count by host")).toEqual([
      { host: "a", count: 2 },
      { host: "b", count: 2 },
    ]);
    expect(await stats("count by host user")).toEqual([
      { host: "a", user: "bob", count: 1 },
      { host: "b", user: "eve", count: 2 },
    ]);
    expect(await stats("count by tags")).toEqual([
      { tags: "x", count: 3 },
      { tags: "y", count: 1 },
      { tags: "z", count: 1 },
    ]);
    expect(await stats("count by tags dedup_splitvals=t")).toEqual([
      { tags: "x", count: 2 },
      { tags: "y", count: 1 },
      { tags: "z", count: 1 },
    ]);
    expect(await stats("count by nowhere")).toEqual([]);
  });

  test("rule 34: count is of rows, count(f) of values, and eval counts what is true", async () => {
    expect(await stats("count c count(user) c(tags) dc(tags) distinct_count(user)")).toEqual([
      { count: 5, c: 5, "count(user)": 4, "c(tags)": 5, "dc(tags)": 3, "distinct_count(user)": 3 },
    ]);
    expect(
      await stats(
        'count(eval(bytes>15)) AS large, sum(eval(bytes*2)) AS twice, dc(eval(user="eve")) AS eves',
      ),
    ).toEqual([{ large: 3, twice: 210, eves: 1 }]);
    expect(await bench.refusal("| stats round(avg(bytes))")).toBe(
      "Error in 'stats' command: The argument 'round(avg(bytes))' is invalid.",
    );
    expect(await bench.refusal("| stats nosuch(bytes)")).toBe(
      "Error in 'stats' command: The argument 'nosuch(bytes)' is invalid.",
    );
  });

  test("rule 35: values that are no numbers are skipped, unless allnum=t; min and max prefer numbers to texts", async () => {
    expect(await stats("sum(code) avg(code) range(code) min(code) max(code)")).toEqual([
      { "sum(code)": 1304, "avg(code)": 326, "range(code)": 300, "min(code)": "200", "max(code)": "500" },
    ]);
    expect(await stats("allnum=t sum(code) sum(bytes) count(code)")).toEqual([
      { "sum(bytes)": 105, "count(code)": 5 },
    ]);
    const digits = [{ n: "9" }, { n: "10" }, { n: "1.50" }];
    expect(await stats("min(n) max(n)", digits)).toEqual([{ "min(n)": "1.50", "max(n)": "10" }]);
    const lists = [{ n: ["9", "10"] }, { n: ["100"] }];
    expect(await stats("min(n) max(n) sum(n) avg(n)", lists)).toEqual([
      { "min(n)": "9", "max(n)": "100", "sum(n)": 119, "avg(n)": 119 / 3 },
    ]);
  });

  test("rule 38: the median of two middle values is their mean, an exact half rounded up", async () => {
    const medians: [number[], number][] = [
      [[1, 2], 2],
      [[1, 4], 3],
      [[0, 1], 1],
      [[1, 2, 3, 4], 3],
      [[10, 20, 30, 40, 50, 60], 35],
      [[1.2, 1.4], 1.3],
      [[1.5], 1.5],
    ];
    for (const [numbers, median] of medians) {
      const rows = numbers.map((n) => ({ n }));
      expect(await stats("median(n)", rows)).toEqual([{ "median(n)": expect.closeTo(median, 9) }]);
    }
  });

  test("rule 39: without groups, a row whose aggregates are all missing is dropped", async () => {
    const words = [{ g: "a" }, { g: "b" }];
    expect(await stats("sum(g)", words)).toEqual([]);
    expect(await stats("first(nowhere) values(nowhere)", words)).toEqual([]);
    expect(await stats("count sum(g)", words)).toEqual([{ count: 2 }]);
    expect(await stats("sum(g) by g", words)).toEqual([{ g: "a" }, { g: "b" }]);
    expect(await stats("dc(nowhere)", words)).toEqual([{ "dc(nowhere)": 0 }]);
    expect((await bench.search("| makeresults count=0 | stats sum(n)")).rows).toEqual([]);
  });

  test("rule 40: groups sort as numbers if all are numbers, else as texts", async () => {
    const groups = async (values: string[]) =>
      (
        await stats(
          "count by v",
          values.map((v) => ({ v })),
        )
      ).map(({ v }) => v);
    expect(await groups(["9", "10", "1"])).toEqual(["1", "9", "10"]);
    expect(await groups(["9", "10", "-", "113972", "1030"])).toEqual(["-", "10", "1030", "113972", "9"]);
  });

  test("rule 36: a column is named as it is written, or by AS", async () => {
    const { fields } = await bench.searchRows(
      requests,
      'stats sum(bytes), count(code) p95(bytes) AS "95th percentile" by host',
    );
    expect(fields).toEqual(["host", "sum(bytes)", "count(code)", "95th percentile"]);
    for (const command of ["stats", "eventstats", "streamstats"]) {
      expect(await bench.refusal(`| makeresults | ${command} count(eval(code="200")) by host`)).toBe(
        `Error in '${command}' command: You must specify a rename for the aggregation specifier on the dynamically evaluated field 'count(eval(code="200"))'.`,
      );
    }
    await expect(stats("count AS host by host")).rejects.toThrow(
      "The output field 'host' cannot have the same name as a group-by field.",
    );
  });

  test("rule 37: values are sorted and distinct, list keeps row order up to 100; first and last follow rows, earliest and latest _time", async () => {
    expect(await stats("values(user) list(user) values(tags) list(tags)")).toEqual([
      {
        "values(user)": ["amy", "bob", "eve"],
        "list(user)": ["eve", "bob", "eve", "amy"],
        "values(tags)": ["x", "y", "z"],
        "list(tags)": ["x", "y", "x", "x", "z"],
      },
    ]);
    expect(
      await stats("first(host) last(host) earliest(host) latest(host) earliest_time(host) latest_time(user)"),
    ).toEqual([
      {
        "first(host)": "b",
        "last(host)": "a",
        "earliest(host)": "a",
        "latest(host)": "b",
        "earliest_time(host)": 1001,
        "latest_time(user)": 1004,
      },
    ]);
    const upwards = [...requests].reverse();
    expect(await stats("first(host) earliest(host) latest(host) first(tags) latest(tags)", upwards)).toEqual([
      {
        "first(host)": "a",
        "earliest(host)": "a",
        "latest(host)": "b",
        "first(tags)": "z",
        "latest(tags)": "x",
      },
    ]);
    const many = Array.from({ length: 300 }, (_, n) => ({ n }));
    const [row] = await stats("list(n) values(n)", many);
    expect(row?.["list(n)"]).toEqual(Array.from({ length: 100 }, (_, n) => String(n)));
    expect(row?.["values(n)"]).toHaveLength(300);
  });

  test("rule 37: among rows of the same time, the first is the latest; rows without a time are neither", async () => {
    const same = ["a", "b", "c"].map((host) => ({ _time: 1000, host }));
    const text = "first(host) AS f last(host) AS l earliest(host) AS e latest(host) AS t";
    expect(await stats(text, [{ host: "none" }, ...same])).toEqual([{ f: "none", l: "c", e: "c", t: "a" }]);
    expect(
      (await bench.searchRows([...same, { _time: 999, host: "d" }], `reverse | stats ${text}`)).rows,
    ).toEqual([{ f: "d", l: "a", e: "d", t: "c" }]);
    const events = await splBench(same);
    // Among events of the same time, the last written comes first.
    expect((await events.search(`search * | stats ${text}`)).rows).toEqual([
      { f: "c", l: "a", e: "a", t: "c" },
    ]);
    await events.close();
  });

  test("sums and averages of whole numbers in the store are exact, however large these are", async () => {
    const large = "9007199254740993";
    const events = await splBench([]);
    await events.store.write(
      [large, large, "-4", "null"].map((n, id) => ({
        id: `e${id}`,
        index: "main",
        source: `{"_time":${id},"host":"h${id % 2}","n":${n}}`,
      })),
    );
    const { rows } = await events.search(
      "search * | stats sum(n) AS sum avg(n) AS avg count(n) AS count by host",
    );
    expect(rows).toEqual([
      { host: "h0", sum: 9007199254740989, avg: 4503599627370494.5, count: 2 },
      { host: "h1", sum: 9007199254740992, avg: 9007199254740992, count: 1 },
    ]);
    const doubled = await events.search("search * | eval n=n*1024 | stats sum(n) AS sum");
    expect(doubled.rows).toEqual([{ sum: (2 * 9007199254740992 - 4) * 1024 }]);
    await events.close();
  });

  test("rule 38: percentiles lie in proportion between the nearest ranks, spread of one number is 0", async () => {
    const ten = Array.from({ length: 10 }, (_, n) => ({ n: String(n + 1), many: [n + 1, 100] }));
    expect(
      await stats("p95(n) perc50(n) median(n) exactperc25(n) upperperc99.9(n) p0(n) p100(n)", ten),
    ).toEqual([
      {
        "p95(n)": expect.closeTo(9.55, 9),
        "perc50(n)": 5.5,
        "median(n)": 6,
        "exactperc25(n)": 3.25,
        "upperperc99.9(n)": expect.closeTo(9.991, 9),
        "p0(n)": 1,
        "p100(n)": 10,
      },
    ]);
    expect(await stats("median(many) mode(many) dc(many) estdc(many) stdevp(many)", ten)).toEqual([
      {
        "median(many)": 55,
        "mode(many)": "100",
        "dc(many)": 11,
        "estdc(many)": 11,
        "stdevp(many)": expect.closeTo(47.29, 2),
      },
    ]);
    expect(
      await stats("stdev(n) var(n) stdevp(n) varp(n) sumsq(n) range(n) mode(n) estdc_error(n)", [{ n: "3" }]),
    ).toEqual([
      {
        "stdev(n)": 0,
        "var(n)": 0,
        "stdevp(n)": 0,
        "varp(n)": 0,
        "sumsq(n)": 9,
        "range(n)": 0,
        "mode(n)": "3",
        "estdc_error(n)": 0,
      },
    ]);
    const whole = Array.from({ length: 50 }, (_, n) => ({ n: String(n % 24), many: [n, n + 1] }));
    expect(await stats("sumsq(n) sumsq(many)", whole)).toEqual([{ "sumsq(n)": 8649, "sumsq(many)": 83350 }]);
    const [spread] = await stats("stdev(bytes) var(bytes) rate(bytes) per_minute(bytes)");
    expect(spread).toEqual({
      "stdev(bytes)": expect.closeTo(14.3178, 4),
      "var(bytes)": expect.closeTo(205, 6),
      "rate(bytes)": 35 / 4,
      "per_minute(bytes)": (105 * 60) / 4,
    });
  });

  test("rule 39: without rows there is one row of zeros and nothing; with BY there is none", async () => {
    const none = "head 0 | stats";
    expect((await bench.searchRows(requests, `${none} count`)).rows).toEqual([{ count: 0 }]);
    expect((await bench.searchRows(requests, `${none} count dc(user) sum(bytes) values(user)`)).rows).toEqual(
      [{ count: 0, "dc(user)": 0 }],
    );
    expect((await bench.searchRows(requests, `${none} count by host`)).rows).toEqual([]);
    expect(await stats("sum(nowhere) count(nowhere)")).toEqual([{ "count(nowhere)": 0 }]);
  });

  test("rule 40: rows come in the order of the BY fields, numbers as numbers where all are", async () => {
    const rows = ["9", "b", "10", "a"].map((key) => ({ key, other: 1 }));
    expect((await stats("count by key", rows)).map(({ key }) => key)).toEqual(["10", "9", "a", "b"]);
    const numbers = [30, 4, 200].map((key) => ({ key }));
    expect((await stats("count by key", numbers)).map(({ key }) => key)).toEqual([4, 30, 200]);
  });

  test("rule 42: wildcards stand for fields, in AS too; not for those of BY", async () => {
    const rows = [{ in_b: 1, out_b: 2, host: "h", _time: 1 }];
    expect(await stats("sum(*_b) AS *_t by host", rows)).toEqual([{ host: "h", in_t: 1, out_t: 2 }]);
    expect(await stats("values(*) AS * by host", rows)).toEqual([{ host: "h", in_b: ["1"], out_b: ["2"] }]);
    expect(await stats("max by host", rows)).toEqual([{ host: "h", "max(in_b)": 1, "max(out_b)": 2 }]);
    expect(await bench.refusal("| stats sum(*) AS x")).toBe(
      "Error in 'stats' command: The number of wildcards between field specifier '*' and rename specifier 'x' do not match. Note: empty field specifiers implies all fields, e.g. sum() == sum(*).",
    );
  });

  test("the table of aggregates is made from their declarations", async () => {
    const file = new URL("../../../spl/stats/FUNCTIONS.md", import.meta.url);
    expect(await readFile(file, "utf8")).toBe(statsFunctionList());
  });

  test("a delimiter is what nomv puts between the values", async () => {
    const text =
      'stats delim=":" values(user) AS users list(host) AS hosts BY code | nomv users | fields users | head 1';
    expect((await bench.searchRows(requests, text)).rows).toEqual([{ users: "bob:eve" }]);
  });
});
