/** Commands that tell about events: `fieldsummary`, `metadata`, `typeahead`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench([
    {
      _time: "2026-01-15T09:00:00.500Z",
      host: "web1",
      sourcetype: "access",
      _indextime: 1768467700,
      _raw: "GET /login timeout",
    },
    {
      _time: "2026-01-15T10:00:00Z",
      host: "web2",
      sourcetype: "access",
      _indextime: 1768471300,
      _raw: "GET /logout timeout",
    },
    {
      _time: "2026-01-15T11:00:00Z",
      host: "web1",
      sourcetype: "error",
      _indextime: 1768474900,
      _raw: "log timeouts",
    },
  ]);
});
afterAll(() => bench.close());

test("fieldsummary: a row of statistics for each field, with its most frequent values", async () => {
  const rows = [
    { a: "x", n: 1, m: ["p", "q"] },
    { a: "x", n: 2 },
    { a: "7", n: 2, m: ["p", "p"], _h: 1 },
  ];
  expect((await bench.searchRows(rows, "fieldsummary")).rows).toEqual([
    {
      field: "a",
      count: 3,
      distinct_count: 2,
      is_exact: 1,
      max: 7,
      mean: 7,
      min: 7,
      numeric_count: 1,
      stdev: 0,
      values: '[{"value":"x","count":2},{"value":"7","count":1}]',
    },
    {
      field: "m",
      count: 2,
      distinct_count: 2,
      is_exact: 1,
      numeric_count: 0,
      values: '[{"value":"p","count":3},{"value":"q","count":1}]',
    },
    {
      field: "n",
      count: 3,
      distinct_count: 2,
      is_exact: 1,
      max: 2,
      mean: 5 / 3,
      min: 1,
      numeric_count: 3,
      stdev: expect.closeTo(0.57735, 5),
      values: '[{"value":"2","count":2},{"value":"1","count":1}]',
    },
  ]);
  expect((await bench.searchRows(rows, "fieldsummary maxvals=1 a* _h")).rows).toMatchObject([
    { field: "_h", distinct_count: 1, is_exact: 1 },
    { field: "a", distinct_count: 2, is_exact: 0, values: '[{"value":"x","count":2}]' },
  ]);
});

test("metadata: hosts, sources or source types with the times of their events", async () => {
  const hosts = await bench.search("| metadata type=hosts");
  expect(hosts.fields).toEqual(["firstTime", "host", "lastTime", "recentTime", "totalCount", "type"]);
  expect(hosts.rows).toEqual([
    {
      firstTime: 1768467600,
      host: "web1",
      lastTime: 1768474800,
      recentTime: 1768474900,
      totalCount: 2,
      type: "hosts",
    },
    {
      firstTime: 1768471200,
      host: "web2",
      lastTime: 1768471200,
      recentTime: 1768471300,
      totalCount: 1,
      type: "hosts",
    },
  ]);
  const types = await bench.search(
    "| metadata type=sourcetypes index=main index=other | table sourcetype totalCount",
  );
  expect(types.rows).toEqual([
    { sourcetype: "access", totalCount: 2 },
    { sourcetype: "error", totalCount: 1 },
  ]);
  expect((await bench.search("| metadata type=hosts index=nowhere")).rows).toEqual([]);
  expect(await bench.refusal("| metadata index=main")).toContain(
    "You must specify a 'type' argument to 'metadata', as in 'type=hosts'.",
  );
});

test("typeahead: terms and field values that complete a prefix", async () => {
  const contents = async (text: string) =>
    (await bench.search(`| typeahead ${text}`)).rows.map(({ content, count }) => [content, count]);
  expect(await contents("prefix=lo count=10")).toEqual([
    ["login", 1],
    ["logout", 1],
  ]);
  expect(await contents("prefix=lo count=10 collapse=f")).toEqual([
    ["log", 1],
    ["login", 1],
    ["logout", 1],
  ]);
  expect(await contents('prefix="index=main time" count=1')).toEqual([["timeout", 2]]);
  expect(await contents('prefix="host=" count=10')).toEqual([
    ['host="web1"', 2],
    ['host="web2"', 1],
  ]);
  expect(await contents("prefix=sourcet count=10")).toEqual([
    ['sourcetype="access"', 2],
    ['sourcetype="error"', 1],
  ]);
  expect(await contents('prefix=lo count=10 banned_segments="*out*"')).toEqual([["login", 1]]);
  expect(await contents("prefix=time count=10 starttimeu=1768471200 endtimeu=1768474800")).toEqual([
    ["timeout", 1],
  ]);
  expect(await bench.refusal("| typeahead count=1")).toContain("prefix");
});
