/** Commands that look at all rows at once, over events whose texts are several times what the store may keep in memory. */

import { OutOfMemory } from "@offhook/log-store/store/log-store";
import { processorMsSince } from "@offhook/platform/testing/processor-time";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ManyEvents, manyEvents } from "../../support/many-events.ts";
import { type SplBench, splBench } from "../../support/spl.ts";

const EVENTS = 90_000;
/** The texts have twice that and more. */
const MEMORY = 64_000_000;

let many: ManyEvents;
let bench: SplBench;

beforeAll(async () => {
  many = await manyEvents(EVENTS, MEMORY);
  bench = await splBench([], { store: many.store });
});

afterAll(() => many?.close());

/** The first rows: `n`, and what a command has made. Their long texts have to be there. */
async function first(commands: string, count = 3) {
  const { rows } = await bench.search(`search index=main | ${commands} | head ${count}`);
  return rows.map(({ n, made, text, _raw }) => {
    expect(String(text)).toHaveLength(512);
    expect(String(_raw)).toContain(`"n":${n},`);
    return made === undefined ? [n] : [n, made];
  });
}

const last = EVENTS - 1;

test("delta, accum and autoregress look at one field of all events, and need the others of those that are shown", async () => {
  expect(await first("reverse | delta n AS made")).toEqual([[0], [1, 1], [2, 1]]);
  expect(await first("accum n AS made", 2)).toEqual([
    [last, last],
    [last - 1, 2 * last - 1],
  ]);
  expect(await first("autoregress n AS made")).toEqual([[last], [last - 1, last], [last - 2, last - 1]]);
});

test("streamstats counts, sums and looks at windows of all events by what it reads of them", async () => {
  expect(await first("streamstats sum(n) AS made", 2)).toEqual([
    [last, last],
    [last - 1, 2 * last - 1],
  ]);
  expect(await first("reverse | streamstats count AS made by k | where made > 2", 2)).toEqual([
    [22, 3],
    [23, 3],
  ]);
  expect(await first("reverse | streamstats window=2 avg(n) AS made", 2)).toEqual([
    [0, 0],
    [1, 0.5],
  ]);
  expect(
    await first("where n < 2000 | reverse | streamstats time_window=2s count AS made | where n > 5", 1),
  ).toEqual([[6, 2]]);
  expect(await first("reverse | streamstats reset_on_change=t count AS made by k | where n > 5", 2)).toEqual([
    [6],
    [7, 1],
  ]);
});

test("eventstats puts the aggregates of a group into each of its events", async () => {
  expect(await first("eventstats max(n) AS made", 2)).toEqual([
    [last, last],
    [last - 1, last],
  ]);
  const [newest] = await first("where n < 1000 | eventstats count AS made by k | where isnotnull(k)", 1);
  expect(newest).toEqual([998, 96]);
  const lists = "eventstats values(k) AS all first(u) AS newest by k | eval made=all.newest";
  expect(await first(`${lists} | where isnotnull(k)`, 2)).toEqual([
    [last, `k${last % 7}u${last}`],
    [last - 1, `k${(last - 1) % 7}u${last - 1}`],
  ]);
  // A window would have the list in each of its rows.
  expect(await first("eventstats values(k) AS all | eval made=mvcount(all)", 2)).toEqual([
    [last, 7],
    [last - 1, 7],
  ]);
});

test("trendline's averages are of the numbers alone", async () => {
  expect(await first("reverse | trendline sma3(n) AS made | where n > 1", 1)).toEqual([[2, 1]]);
  expect(await first("reverse | trendline wma2(n) AS made | where n > 2", 1)).toEqual([[3, 8 / 3]]);
  expect(await first("reverse | trendline ema3(n) AS made | where n > 1", 2)).toEqual([
    [2, 1.25],
    [3, 2.125],
  ]);
});

test("filldown of a field looks at that field", async () => {
  expect(await first("reverse | filldown k | eval made=k | where n > 2", 2)).toEqual([
    [3, "k2"],
    [4, "k4"],
  ]);
});

test("filldown of all fields looks for the events that have what others lack", async () => {
  const some =
    "eval a=if(n%2=0,u,null()), b=if(n%3=0,u,null()), c=if(n%4=0,text,null()), made=if(n%5=0,n,null())";
  expect(await first(`reverse | ${some} | filldown | where n > 6`, 5)).toEqual([
    ...[7, 8, 9].map((n) => [n, 5]),
    ...[10, 11].map((n) => [n, 10]),
  ]);
});

test("dedup keeps all events, or the first of each run, without their texts in memory", async () => {
  expect(await first("reverse | dedup keepevents=t k | where isnotnull(k) | eval made=k", 9)).toEqual(
    [1, 2, 4, 5, 7, 10, 13].map((n) => [n, `k${n % 7}`]),
  );
  expect(await first("reverse | eval made=floor(n/4) | dedup consecutive=t made")).toEqual([
    [0, 0],
    [4, 1],
    [8, 2],
  ]);
});

test("mvcombine compares the events that may agree alone, and reads the fields of those that are shown", async () => {
  expect(await first("mvcombine k", 2)).toEqual([[last], [last - 1]]);
  const { rows } = await bench.search("search index=main | fields k | fields - _* | mvcombine k");
  expect(rows).toMatchObject([{ k: { length: EVENTS - EVENTS / 3 } }]);
});

test("all events are put in order, turned around and cut at their end by their keys", async () => {
  expect(await first("sort 0 n")).toEqual([[0], [1], [2]]);
  expect(await first("sort 0 - u", 2)).toEqual([[9_999], [9_998]]);
  expect(await first("reverse")).toEqual([[0], [1], [2]]);
  expect(await first("tail 2000")).toEqual([[0], [1], [2]]);
});

test("a command after another takes what the other has made", async () => {
  const commands =
    "reverse | streamstats count AS number | eval twice=number*2 | delta twice AS step | accum step AS made";
  expect(await first(commands)).toEqual([[0], [1, 2], [2, 4]]);
  expect(await first(`${commands} | rename text AS other | eval text=other | sort 0 - made`, 2)).toEqual([
    [last, 2 * last],
    [last - 1, 2 * last - 2],
  ]);
});

test("transaction puts rows together by their keys, and reads the fields of the transactions that are shown", async () => {
  const newest = await bench.search("search index=main | transaction k maxevents=2 | head 1");
  const text = /^[0-9a-f]{512}$/;
  expect(newest.rows).toMatchObject([
    { k: "k0", n: [last - 7, last], text: [expect.stringMatching(text), expect.stringMatching(text)] },
  ]);
  expect(newest.rows).toMatchObject([{ eventcount: 2, duration: 7, closed_txn: 1, field_match_sum: 2 }]);
  const oldest = await bench.search(
    "search index=main | transaction k maxspan=10s | sort 0 _time | head 2 | table k n duration",
  );
  expect(oldest.rows).toEqual([
    { k: "k1", n: [1, 8], duration: 7 },
    { k: "k2", n: [2], duration: 0 },
  ]);
});

test("transaction looks at one event after the other where some lack a field, and reads those that are shown", async () => {
  const { rows } = await bench.search(
    `search index=main n<30000 | eval half=if(n%2=0,"even",null()) | transaction k half maxspan=14s | sort 0 _time | head 1`,
  );
  expect(rows).toMatchObject([{ n: [0, 1, 6, 8], eventcount: 4, half: "even", duration: 8 }]);
  expect(String(rows[0]?._raw)).toMatch(/"n":0,.*"n":1,.*"n":6,.*"n":8,/s);
});

test("rule 41: a window of streamstats holds the last events of all groups together", async () => {
  const { rows } = await bench.search(
    "search index=main k=* | reverse | streamstats window=8 count AS near by k | stats count min(near) max(near) by k | head 2",
  );
  expect(rows).toEqual([
    { k: "k0", count: 8_572, "min(near)": 1, "max(near)": 2 },
    { k: "k1", count: 8_572, "min(near)": 1, "max(near)": 2 },
  ]);
});

test("a search that needs more memory than there is fails of that", async () => {
  await expect(bench.refusal("search index=main | stats values(text) AS texts")).rejects.toThrow(OutOfMemory);
});

/** Processor time. Unended each of them takes many times as much; a process that is held up takes none. */
const MOST_AFTER_MS = 1_000;

const endless = [
  ...[
    "delta n",
    "accum n",
    "autoregress n",
    "filldown k",
    "reverse | streamstats count",
    "eventstats count by u",
  ],
  ...[
    "streamstats window=100 dc(u) by k",
    "trendline wma100(n)",
    "dedup keepevents=t u",
    "dedup consecutive=t k",
  ],
  ...["spath path=n output=i | stats count by i", "extract"],
  ...["sort 0 u", "tail 300000", "transaction u", "transaction k u", "mvcombine k", "trendline ema3(n)"],
].map((commands) => `search index=main | eval i=mvrange(0,12) | mvexpand i | ${commands}`);

let large: ManyEvents;

beforeAll(async () => {
  large = await manyEvents(EVENTS, 256_000_000, "disk");
});

afterAll(() => large?.close());

test.each(endless)("max_time ends it within a second, and so does a cancellation: %s", async (text) => {
  const limited = await splBench([], { store: large.store, deadlineMs: 60 });
  const start = process.cpuUsage();
  await expect(limited.search(text)).rejects.toMatchObject({ name: "QueryInterrupted", reason: "deadline" });
  expect(processorMsSince(start)).toBeLessThan(MOST_AFTER_MS);

  const ending = new AbortController();
  const cancelled = await splBench([], { store: large.store, signal: ending.signal });
  const search = cancelled.search(text);
  let end = process.cpuUsage();
  const timer = setTimeout(() => {
    end = process.cpuUsage();
    ending.abort();
  }, 60);
  await expect(search).rejects.toMatchObject({ name: "QueryInterrupted", reason: "cancelled" });
  clearTimeout(timer);
  expect(processorMsSince(end)).toBeLessThan(MOST_AFTER_MS);
});
