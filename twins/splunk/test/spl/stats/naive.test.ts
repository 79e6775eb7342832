/** The commands against naive row-by-row evaluators. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

interface Row {
  _time: number;
  host?: string;
  code?: string | string[];
  n?: string;
}

const START = 1_768_000_000;
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 4 });
const word = fc.constantFrom("a", "b", "c", "10", "9", "x y", "OTHERS");
const rowArbitrary: fc.Arbitrary<Row> = fc
  .record({
    _time: fc.integer({ min: START, max: START + 5_000 }),
    host: optional(word),
    code: optional(fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 3 }))),
    n: optional(fc.oneof(fc.integer({ min: -50, max: 50 }).map(String), fc.constant("none"))),
  })
  .map(({ _time, host, code, n }) => ({
    _time,
    ...(host === undefined ? {} : { host }),
    ...(code === undefined ? {} : { code }),
    ...(n === undefined ? {} : { n }),
  }));
const rowsArbitrary = fc.array(rowArbitrary, { minLength: 1, maxLength: 25 });

/** Every field occurs, so no column is missing from all rows. */
const complete: Row = { _time: START, host: "a", code: ["a"], n: "1" };

const listOf = (value: string | string[] | undefined) => (value === undefined ? [] : [value].flat());
const isNumber = (text: string) => text !== "none" && /^-?\d+$/.test(text);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Numbers before texts. */
function compare(a: string, b: string): number {
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function groupBy<Item>(items: readonly Item[], key: (item: Item) => readonly string[]): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) for (const one of key(item)) groups.set(one, [...(groups.get(one) ?? []), item]);
  return groups;
}

function present(entries: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}

function quantile(sorted: readonly number[], part: number): unknown {
  const at = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (below === undefined || above === undefined) return undefined;
  return expect.closeTo(below + (above - below) * (at - Math.floor(at)), 9);
}

function naiveStats(rows: readonly Row[]) {
  const groups = groupBy(rows, ({ code }) => listOf(code));
  const areNumbers = [...groups.keys()].every(isNumber);
  return [...groups]
    .sort(([a], [b]) => (areNumbers ? compare(a, b) : a < b ? -1 : 1))
    .map(([code, group]) => {
      const texts = group.flatMap(({ n }) => listOf(n));
      const numbers = texts.filter(isNumber).map(Number);
      const sorted = [...numbers].sort((a, b) => a - b);
      const hosts = group.flatMap(({ host }) => listOf(host));
      const byText = [...texts].sort((a, b) => (a < b ? -1 : 1));
      const latest = [...group].sort((a, b) => b._time - a._time).find(({ host }) => host !== undefined);
      return present({
        code,
        count: group.length,
        values: texts.length,
        hosts: new Set(hosts).size,
        sum: numbers.length === 0 ? undefined : sum(numbers),
        mean: numbers.length === 0 ? undefined : sum(numbers) / numbers.length,
        least: sorted.length > 0 ? String(sorted[0]) : byText[0],
        most: sorted.length > 0 ? String(sorted.at(-1)) : byText.at(-1),
        p75: quantile(sorted, 0.75),
        names: hosts.length === 0 ? undefined : [...new Set(hosts)].sort(),
        list: hosts.length === 0 ? undefined : hosts,
        first: hosts[0],
        last: hosts.at(-1),
        newest: latest?.host,
        // Text that is no number compares with 10 as text.
        large: texts.filter((text) => (isNumber(text) ? Number(text) > 10 : text > "10")).length,
      });
    });
}

function naiveTimechart(rows: readonly Row[], limit: number) {
  const of = ({ host }: Row) => host ?? "NULL";
  const totals = groupBy(
    rows.filter(({ host }) => host !== undefined),
    (row) => [of(row)],
  );
  const kept = [...totals]
    .sort(([a, first], [b, second]) => second.length - first.length || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([host]) => host);
  const series = (row: Row) => (row.host === undefined || kept.includes(of(row)) ? of(row) : "OTHER");
  const names = [...new Set(rows.map(series))];
  const bucket = ({ _time }: Row) => Math.floor(_time / 600) * 600;
  const starts = rows.map(bucket);
  const table: Record<string, unknown>[] = [];
  for (let at = Math.min(...starts); at <= Math.max(...starts); at += 600) {
    const here = rows.filter((row) => bucket(row) === at);
    const cells = names.map((name) => [name, here.filter((row) => series(row) === name).length]);
    table.push({ _time: at, ...Object.fromEntries(cells), _span: 600 });
  }
  return table;
}

function naiveTop(rows: readonly Row[], limit: number) {
  const groups = [...groupBy(rows, ({ code }) => listOf(code))];
  const total = sum(groups.map(([, group]) => group.length));
  return groups
    .sort(([a, first], [b, second]) => second.length - first.length || (String(a) > String(b) ? -1 : 1))
    .slice(0, limit)
    .map(([code, group]) => ({
      code,
      count: group.length,
      percent: ((group.length * 100) / total).toFixed(6),
      _tc: total,
    }));
}

describe("aggregates do on random rows what naive evaluators do", () => {
  let bench: SplBench;
  beforeAll(async () => {
    bench = await splBench();
  });
  afterAll(() => bench.close());
  const run = async (rows: readonly Row[], text: string) => (await bench.searchRows(rows, text)).rows;
  const runs = { numRuns: 40 };

  test("stats", async () => {
    const aggregates = [
      ...["count", "count(n) AS values", "dc(host) AS hosts", "sum(n) AS sum", "avg(n) AS mean"],
      ...[
        "min(n) AS least",
        "max(n) AS most",
        "p75(n) AS p75",
        "values(host) AS names",
        "list(host) AS list",
      ],
      ...[
        "first(host) AS first",
        "last(host) AS last",
        "latest(host) AS newest",
        "count(eval(n>10)) AS large",
      ],
    ];
    await fc.assert(
      fc.asyncProperty(rowsArbitrary, async (given) => {
        const rows = [complete, ...given];
        expect(await run(rows, `stats ${aggregates.join(" ")} by code`)).toEqual(naiveStats(rows));
      }),
      runs,
    );
  });

  test("timechart", async () => {
    await fc.assert(
      fc.asyncProperty(rowsArbitrary, fc.integer({ min: 1, max: 6 }), async (given, limit) => {
        const rows = [complete, ...given];
        expect(await run(rows, `timechart span=10m limit=${limit} count by host`)).toEqual(
          naiveTimechart(rows, limit),
        );
      }),
      runs,
    );
  });

  test("top", async () => {
    await fc.assert(
      fc.asyncProperty(rowsArbitrary, fc.integer({ min: 1, max: 6 }), async (given, limit) => {
        const rows = [complete, ...given];
        const found = await run(rows, `top limit=${limit} code`);
        expect(found).toEqual(naiveTop(rows, limit));
      }),
      runs,
    );
  });
});
