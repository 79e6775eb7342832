import { sql } from "@offhook/log-store/sql";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readDecimalFormat } from "../../aggregations/decimal-format.ts";
import { aggregated, refusal, storeOf } from "./support.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    { at: "2026-01-01T00:00:00Z", n: 1, x: 1.5, ok: true, many: [1, 2, 2], words: ["a", "a", "b"] },
    { at: "2026-01-01T01:00:00Z", n: 51, x: 2.5, ok: false, many: [9] },
    { at: "2026-01-01T02:00:00Z", n: 101, x: 4.25, ok: true },
    { at: "2026-01-01T03:00:00Z", n: 151, words: ["c"] },
  ]);
});
afterAll(() => store.close());

const answer = async (aggregation: object, options = {}) => {
  const text = await aggregated(store, { a: aggregation }, options);
  return text.slice('{"a":'.length, -1);
};

test.each([
  [{ avg: { field: "n" } }, '{"value":76.0}'],
  [{ avg: { field: "x", missing: 3.75 } }, '{"value":3.0}'],
  [{ avg: { field: "n", format: "0.00" } }, '{"value":76.0,"value_as_string":"76.00"}'],
  [
    { avg: { field: "at" } },
    '{"value":1.7672310E12,"value_as_string":"2026-01-01T01:30:00.000Z"}'.replace("7672310E", "767231E"),
  ],
  [{ max: { field: "ok" } }, '{"value":1.0,"value_as_string":"true"}'],
  [{ sum: { field: "many" } }, '{"value":14.0}'],
  [{ min: { field: "many" } }, '{"value":1.0}'],
  [{ sum: { field: "nothing" } }, '{"value":0.0}'],
  [{ min: { field: "nothing" } }, '{"value":null}'],
  [{ max: { field: "nothing", missing: 7 } }, '{"value":7.0}'],
  [{ value_count: { field: "many" } }, '{"value":4}'],
  [{ value_count: { field: "words" } }, '{"value":3}'],
  [{ value_count: { field: "nothing" } }, '{"value":0}'],
  [{ cardinality: { field: "many", precision_threshold: 10 } }, '{"value":3}'],
  [{ cardinality: { field: "words", missing: "z" } }, '{"value":4}'],
  [{ stats: { field: "n" } }, '{"count":4,"min":1.0,"max":151.0,"avg":76.0,"sum":304.0}'],
  [
    { stats: { field: "at", format: "HH:mm" } },
    '{"count":4,"min":1.7672256E12,"max":1.7672364E12,"avg":1.767231E12,"sum":7.068924E12,"min_as_string":"00:00","max_as_string":"03:00","avg_as_string":"01:30","sum_as_string":"06:00"}',
  ],
  [{ stats: { field: "nothing" } }, '{"count":0,"min":null,"max":null,"avg":null,"sum":0.0}'],
  [
    { extended_stats: { field: "n", sigma: 1 } },
    '{"count":4,"min":1.0,"max":151.0,"avg":76.0,"sum":304.0,"sum_of_squares":35604.0,"variance":3125.0,"variance_population":3125.0,' +
      '"variance_sampling":4166.666666666667,"std_deviation":55.90169943749474,"std_deviation_population":55.90169943749474,' +
      '"std_deviation_sampling":64.54972243679029,"std_deviation_bounds":{"upper":131.90169943749476,"lower":20.09830056250526,' +
      '"upper_population":131.90169943749476,"lower_population":20.09830056250526,"upper_sampling":140.5497224367903,"lower_sampling":11.45027756320971}}',
  ],
  [{ percentiles: { field: "n", percents: [50, 75] } }, '{"values":{"50.0":76.0,"75.0":113.5}}'],
  [
    {
      percentiles: {
        field: "many",
        percents: [50],
        keyed: false,
        hdr: { number_of_significant_value_digits: 2 },
      },
    },
    '{"values":[{"key":50.0,"value":2.0}]}',
  ],
  [{ percentiles: { field: "nothing", percents: [1] } }, '{"values":{"1.0":null}}'],
  [
    { percentile_ranks: { field: "n", values: [0, 1, 26, 101, 200] } },
    '{"values":{"0.0":0.0,"1.0":12.5,"26.0":25.0,"101.0":62.5,"200.0":100.0}}',
  ],
  [{ percentile_ranks: { field: "many", values: [2] } }, '{"values":{"2.0":50.0}}'],
])("%j is %s", async (aggregation, expected) => {
  expect(await answer(aggregation)).toBe(expected);
});

test("metrics of dates print as dates, however large", async () => {
  const shown: unknown = JSON.parse(await answer({ extended_stats: { field: "at", format: "yyyy-MM-dd" } }));
  expect(shown).toMatchObject({
    variance_as_string: "2483-05-11",
    sum_of_squares_as_string: "+292278994-08-17",
  });
});

test("metrics without documents are as empty as the vendor's", async () => {
  const none = { predicate: sql`FALSE` };
  expect(await answer({ avg: { field: "at" } }, none)).toBe('{"value":null}');
  expect(await answer({ sum: { field: "at", format: "HH" } }, none)).toBe(
    '{"value":0.0,"value_as_string":"00"}',
  );
  expect(await answer({ extended_stats: { field: "n" } }, none)).toContain(
    '"std_deviation_bounds":{"upper":null,"lower":null',
  );
});

test.each([
  [{ percentiles: { field: "n", percents: [101] } }, "percent must be in [0,100]"],
  [{ percentiles: { field: "n", hdr: {}, tdigest: {} } }, "Only one percentiles method should be declared."],
  [{ percentile_ranks: { field: "n", values: [] } }, "[values] must not be an empty array"],
  [{ extended_stats: { field: "n", sigma: -1 } }, "[sigma] must be greater than or equal to 0"],
  [{ avg: { field: "n", missing: "many" } }, 'For input string: "many"'],
  [{ avg: { field: ["n"] } }, "[avg] field doesn't support values of type: START_ARRAY"],
])("%j is refused", async (aggregation, message) => {
  expect(await refusal(store, { a: aggregation })).toContain(message);
});

describe("decimal formats", () => {
  test.each([
    ["0.00", 1.005, "1.00"],
    ["0.00", 2.5, "2.50"],
    ["0", 2.5, "2"],
    ["0", 3.5, "4"],
    ["#,##0.0#", 1234567.891, "1,234,567.89"],
    ["000", 7, "007"],
    ["#.##", 0.5, ".5"],
    ["#", 0, "0"],
    ["0%", 0.256, "26%"],
    ["$0.0 'net'", -3.25, "-$3.2 net"],
    ["0;(0)", -4, "(4)"],
    ["0.###", 1e-7, "0"],
    ["abc", 1.5, "abc2"],
    ["", 1.5, "1.5"],
    ["", -20, "-20"],
  ])("%s prints %d as %s", (pattern, value, text) => {
    expect(readDecimalFormat(pattern)(value)).toBe(text);
  });
});

test("percentile ranks match the example in the vendor's documentation", async () => {
  const times = Array.from({ length: 100 }, (_, number) => ({
    ms: number % 10 === 0 ? number : number * 10,
  }));
  const loads = await storeOf(times);
  try {
    const ranks = { percentile_ranks: { field: "ms", values: [500, 600] } };
    const shown = '{"a":{"values":{"500.0":55.00000000000001,"600.0":64.0}}}';
    expect(await aggregated(loads, { a: ranks })).toBe(shown);
  } finally {
    await loads.close();
  }
});

/** Ranks by a real Elasticsearch 8.15.0. */
test.each<[values: number[], ranks: Record<string, number>]>([
  [
    [1, 2, 2, 2, 5, 5, 9, 12, 12, 20],
    {
      0: 0,
      1: 5,
      1.5: 10,
      2: 30,
      3: 36.666666666666664,
      5: 50,
      7: 60,
      9: 65.71428571428571,
      12: 80,
      20: 95,
      21: 100,
    },
  ],
  [[1, 51, 101, 151], { 1: 12.5, 26: 25, 101: 62.5, 151: 87.5 }],
  [[1, 2, 3, 3], { 2: 37.5, 3: 75 }],
  [[1, 2, 9, 9], { 8: 67.85714285714286, 9: 75 }],
  [[7, 7, 7, 7], { 6: 0, 7: 50, 8: 100 }],
])("of %j are ranked %j", async (values, ranks) => {
  const ranked = await storeOf(values.map((n) => ({ n })));
  const asked = Object.keys(ranks).map(Number);
  const answer = await aggregated(ranked, {
    a: { percentile_ranks: { field: "n", values: asked, keyed: false } },
  });
  const found: { key: number; value: number }[] = JSON.parse(answer).a.values;
  for (const { key, value } of found) expect(value).toBeCloseTo(ranks[key] ?? Number.NaN, 10);
  expect(found).toHaveLength(asked.length);
  await ranked.close();
});

test("stats print booleans without quotes, except deviations", async () => {
  const ok = await storeOf([{ ok: true }, { ok: false }]);
  const { a } = JSON.parse(await aggregated(ok, { a: { extended_stats: { field: "ok" } } }));
  expect(a).toMatchObject({ min_as_string: false, max_as_string: true, variance_as_string: true });
  expect(a).toMatchObject({
    std_deviation_as_string: "true",
    std_deviation_bounds_as_string: { upper: "true" },
  });
  await ok.close();
});
