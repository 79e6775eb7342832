/** `dedup` of many events in the store: finds the row numbers of the remaining events first, then reads only these in full. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

interface Event {
  _time: number;
  n: number;
  k: string;
  few?: string;
  m: string[];
}

/** Every three consecutive events have the same time. */
const stored = Array.from({ length: 2_400 }, (_, n): Event => {
  const few = n % 5 === 0 ? {} : { few: `f${(n * 7) % 11}` };
  return { _time: 1_768_000_000 + Math.floor(n / 3), n, k: `k${n % 2_200}`, ...few, m: [`a${n % 3}`, "b"] };
});
/** Newest first; among equal times, the last written first. */
const newestFirst = stored.toReversed();

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench(stored);
});
afterAll(() => bench.close());

const search = async (text: string) => {
  const { rows, statements } = await bench.search(`search * | ${text} | table n _raw`);
  const whole = rows.every(({ n, _raw }) => _raw === JSON.stringify(stored[Number(n)]));
  const asked = statements.some((statement) => statement.includes('AS "#row"'));
  return { numbers: rows.map(({ n }) => n), whole, asked };
};

const firstOf = (events: readonly Event[], keys: (event: Event) => (string | undefined)[], most = 1) => {
  const seen = new Map<string, number>();
  return events.filter((event) => {
    const values = keys(event);
    if (values.includes(undefined)) return false;
    const key = JSON.stringify(values);
    seen.set(key, (seen.get(key) ?? 0) + 1);
    return (seen.get(key) ?? 0) <= most;
  });
};

const byFew = ({ few }: Event) => [few];
const inFull = (events: readonly Event[]) => ({
  numbers: events.map(({ n }) => n),
  whole: true,
  asked: true,
});

test("rule 54: dedup keeps the newest event of each value in full; among equal times, the first one", async () => {
  expect(await search("dedup few")).toEqual(inFull(firstOf(newestFirst, byFew)));
  expect(await search("dedup 3 few")).toEqual(inFull(firstOf(newestFirst, byFew, 3)));
  expect(await search("dedup few m")).toEqual(inFull(firstOf(newestFirst, ({ few, m }) => [few, m.join()])));
  expect(await search("search n<1000 few=f* | dedup few")).toEqual(
    inFull(firstOf(newestFirst, ({ n, few }) => [n < 1_000 ? few : undefined])),
  );
  expect(await search("reverse | dedup few")).toEqual(inFull(firstOf(stored, byFew)));
});

test("rule 54: dedup keeps what a sort before it put first, and its order", async () => {
  const sorted = newestFirst.toSorted((a, b) => (a.n % 7) - (b.n % 7));
  expect(await search("eval r=n%7 | sort 0 r | dedup few")).toEqual(inFull(firstOf(sorted, byFew)));
  expect(await search("eval r=n%7 | dedup few sortby r")).toEqual(inFull(firstOf(sorted, byFew)));
});

test("a sort after dedup orders the remaining events only", async () => {
  const expected = firstOf(newestFirst, byFew).toSorted((a, b) => a.n - b.n);
  expect(await search("dedup few | sort n")).toEqual(inFull(expected));
});

test("rule 54: dedup keeps as many events as there are values: some, hundreds, thousands", async () => {
  const byBoth = ({ few, m }: Event) => [few, m[0]];
  expect(await search("eval first=mvindex(m,0) | dedup few first")).toEqual(
    inFull(firstOf(newestFirst, byBoth)),
  );
  const byHundreds = ({ n }: Event) => [`${n % 300}`];
  expect(await search("eval r=n%300 | dedup r")).toEqual(inFull(firstOf(newestFirst, byHundreds)));
  expect(await search("dedup k")).toEqual(inFull(firstOf(newestFirst, ({ k }) => [k])));
});

test("dedup after mvexpand keeps one row of each value", async () => {
  const { rows } = await bench.search("search * | mvexpand m | dedup m | table n m");
  expect(rows).toEqual([
    { n: 2_399, m: "a2" },
    { n: 2_399, m: "b" },
    { n: 2_398, m: "a1" },
    { n: 2_397, m: "a0" },
  ]);
});
