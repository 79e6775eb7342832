import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultLimits } from "../../../spl/context/search-context.ts";
import { boundsOf } from "../../../spl/context/subsearch-options.ts";
import { benchNowMs, type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;
const nowSeconds = benchNowMs / 1000;

test("rule 65: makeresults makes rows with _time alone", async () => {
  expect((await bench.search("| makeresults")).rows).toEqual([{ _time: nowSeconds }]);
  expect((await bench.search("| makeresults count=3")).rows).toHaveLength(3);
  expect((await bench.search("| makeresults count=0 | eval a=1")).rows).toEqual([]);
});

test("rule 65: makeresults annotate=t has the other default fields", async () => {
  const { fields, rows: found } = await bench.search("| makeresults annotate=true splunk_server=local");
  expect(fields).toEqual([
    ...["_time", "_raw", "host", "source", "sourcetype", "splunk_server", "splunk_server_group"],
  ]);
  expect(found).toEqual([{ _time: nowSeconds, splunk_server: "splunk" }]);
});

test("rule 65: makeresults takes rows as CSV", async () => {
  const { rows: found } = await bench.search(
    `| makeresults format=csv data="name,age\nAda,36\n\\"Lovelace, A\\",\nB,\\"4\\"\\"5\\"\n"`,
  );
  expect(found).toEqual([{ name: "Ada", age: "36" }, { name: "Lovelace, A" }, { name: "B", age: `4"5` }]);
});

test("rule 65: makeresults takes rows as JSON", async () => {
  const { rows: found } = await bench.search(
    `| makeresults format=json data="[{\\"a\\":1,\\"b\\":[\\"x\\",\\"y\\"]},{\\"a\\":2.5,\\"c\\":{\\"d\\":true}}]"`,
  );
  expect(found).toEqual([
    { _raw: `{"a":1,"b":["x","y"]}`, _time: nowSeconds, a: 1, b: `["x","y"]` },
    { _raw: `{"a":2.5,"c":{"d":true}}`, _time: nowSeconds, a: 2.5, c: `{"d":true}` },
  ]);
  expect((await bench.search(`| makeresults format=json data="none"`)).rows).toEqual([]);
  expect(await bench.refusal(`| makeresults format=json data="[1]"`)).toBe(
    "Incorrectly-formatted JSON data detected. The data entry '1' is not permitted in the 'data' option. Only comma-separated JSON objects are permitted.",
  );
  expect(await bench.refusal(`| makeresults format=json data="{}"`)).toBe(
    "Incorrectly-formatted JSON data detected. Make sure your JSON-formatted data starts with '[' and ends with ']' and consists of JSON objects.",
  );
  const words = "Error in 'MakeResultsProcessor':";
  expect(await bench.refusal("| makeresults format=json")).toContain(
    `${words} You must specify both 'format' and 'data'`,
  );
  expect(await bench.refusal(`| makeresults format=csv data="a" count=2`)).toContain(
    `${words} When 'makeresults' generates events from inline data, it does not allow`,
  );
  expect(await bench.refusal(`| makeresults format=xml data="a"`)).toBe(
    `${words} An invalid 'format' was specified: xml. Valid 'format' options are 'csv' and 'json'.`,
  );
  // Unknown arguments are ignored.
  expect((await bench.search("| makeresults nosuch=1 count=2")).rows).toHaveLength(1);
  expect(await bench.refusal("| makeresults | makeresults")).toContain("must be the first command");
});

test("rule 61: append puts a subsearch's rows after those there are, and adds its fields", async () => {
  expect(await rows([{ a: 2 }, { a: 1 }], `append [| makeresults | eval a="x", b=3 | table a b]`)).toEqual([
    { a: "2" },
    { a: "1" },
    { a: "x", b: 3 },
  ]);
  expect(
    await rows([{ a: 2 }], "append [| makeresults count=5 | eval a=1 | fields - _time] | sort a | head 1"),
  ).toEqual([{ a: 1 }]);
});

test("append takes at most maxout rows, and reports what it left out", async () => {
  const found = await bench.searchRows(
    [{ a: 1 }],
    "append maxout=2 [| makeresults count=5 | eval a=2 | table a]",
  );
  expect(found.rows).toEqual([{ a: 1 }, { a: 2 }, { a: 2 }]);
  expect(found.messages).toEqual(["[subsearch]: Subsearch produced 5 results, truncating to maxout 2."]);
});

test("extendtimerange=t makes the subsearch's time a part of the search's", async () => {
  const from = Date.UTC(2026, 0, 15, 11) / 1000;
  const hour = await splBench([{ _time: from + 1, a: 1 }], {
    range: { earliestMs: from * 1000, latestMs: (from + 3600) * 1000 },
  });
  const before = `[search earliest=${from - 3600} latest=${from}]`;
  for (const command of ["append", "union"]) {
    const hours = async (option: string) =>
      (await hour.search(`search * | ${command} ${option} ${before} | timechart span=1h count`)).rows;
    expect(await hours("")).toHaveLength(1);
    expect(await hours("extendtimerange=t")).toHaveLength(2);
  }
  await hour.close();
});

test("a subsearch that exceeds its time is finalized with a message", async () => {
  const hurried = await splBench([], { limits: { subsearchMaxMs: 0.001 } });
  const slow = "[| makeresults count=100000 | eval a=md5(random()) | sort 0 a]";
  for (const command of ["append", "appendcols"]) {
    const found = await hurried.search(
      `| makeresults | eval a=1 | ${command} maxtime=10 ${slow} | stats count`,
    );
    expect(found.rows).toEqual([{ count: 1 }]);
    expect(found.messages).toEqual([
      "[subsearch]: The search auto-finalized after it reached its time limit: 0.000001 seconds.",
    ]);
  }
  await hurried.close();
  const limits = { ...defaultLimits, joinMaxRows: 100 };
  expect(boundsOf({ maxtime: 5, timeout: 3, maxout: 1000 }, limits)).toEqual({ maxRows: 100, maxMs: 3000 });
  expect(boundsOf({ maxtime: 0, maxout: 0 }, limits)).toEqual({ maxRows: 100, maxMs: 0 });
});

test("rule 61: appendpipe adds what commands make of the rows", async () => {
  expect(
    await rows(
      [
        { k: "a", n: 1 },
        { k: "b", n: 2 },
      ],
      `appendpipe [stats sum(n) as n | eval k="all"]`,
    ),
  ).toEqual([
    { k: "a", n: 1 },
    { k: "b", n: 2 },
    { k: "all", n: 3 },
  ]);
  expect(
    await rows([{ n: 1 }], "appendpipe run_in_preview=f [eval n=n+1 | appendpipe [eval n=n*10]]"),
  ).toEqual([{ n: 1 }, { n: 2 }, { n: 20 }]);
});

test("rule 61: appendcols puts rows side by side; what there is already counts unless override=t", async () => {
  const sub = `[| makeresults count=2 | eval b="y", c="z", _d=1]`;
  expect(await rows([{ a: 1, b: "x" }, { a: 2 }, { a: 3 }], `appendcols ${sub}`)).toEqual([
    { a: 1, b: "x", c: "z" },
    { a: 2, b: "y", c: "z" },
    { a: 3 },
  ]);
  expect(await rows([{ a: 1, b: "x" }], `appendcols override=true ${sub}`)).toEqual([
    { a: 1, b: "y", c: "z" },
    { b: "y", c: "z" },
  ]);
});

test("append without a subsearch is refused", async () => {
  for (const command of ["append", "appendcols", "appendpipe"]) {
    expect(await bench.refusal(`| makeresults | ${command}`)).toContain(`Error in '${command}' command:`);
  }
});

test("top-N of concatenated searches is pushed down into each of them", async () => {
  const events = Array.from({ length: 12 }, (_, n) => ({ _time: 1_000 + ((n * 5) % 12), n, k: `k${n % 3}` }));
  const many = await splBench(events);
  try {
    for (const text of [
      "search n<9 | append [search n>4 | eval extra=n]",
      "search n<5 | sort n | append [search k=k1] | append [search k=k2 | stats count by k]",
      "search k=k0 | appendpipe [stats sum(n) AS n by k] | appendpipe [eval n=n*2]",
      "search k=k0 | addcoltotals n",
      "search n<4 | append [search n>99] | where n<3",
      "search n<4 | append [search n>2] | sort - n | streamstats count AS place",
    ]) {
      const all = (await many.search(text)).rows;
      expect(all.length).toBeGreaterThan(1);
      for (const count of [1, 3, 4, 7, 50]) {
        expect((await many.search(`${text} | head ${count}`)).rows, `${text} | head ${count}`).toEqual(
          all.slice(0, count),
        );
      }
    }
    // Each side sorts its events by keys alone.
    const { statements } = await many.search("search n>1 | appendpipe [eval n=n*2] | head 2");
    expect(statements.at(-1)?.match(/AS MATERIALIZED/g)).toHaveLength(2);
  } finally {
    await many.close();
  }
});
