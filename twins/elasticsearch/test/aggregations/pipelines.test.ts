import type { LogStore } from "@offhook/log-store/store/log-store";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileScript } from "../../aggregations/pipeline/script.ts";
import { VendorError } from "../../vendor/error.ts";
import { aggregated, answered, refusal, storeOf } from "./support.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    { at: "2026-01-01T00:00:00Z", host: "a", n: 2 },
    { at: "2026-01-01T12:00:00Z", host: "b", n: 4 },
    { at: "2026-01-02T00:00:00Z", host: "a", n: 10 },
    { at: "2026-01-04T00:00:00Z", host: "c", n: 1 },
  ]);
});
afterAll(() => store.close());

const n = { sum: { field: "n" } };
const mean = { avg: { field: "n" } };
const days = (aggs: object, options: object = {}) => ({
  days: { date_histogram: { field: "at", calendar_interval: "day", format: "dd", ...options }, aggs },
});

async function dayBuckets(aggs: object, name: string, options?: object): Promise<unknown[]> {
  const answer = await answered(store, days(aggs, options));
  return (answer.days?.buckets ?? []).map(
    (bucket) => (bucket[name] as { value: unknown } | undefined)?.value,
  );
}

describe("over their enclosing buckets", () => {
  test("derivative, with gaps skipped, filled, and by a unit", async () => {
    expect(await dayBuckets({ n, d: { derivative: { buckets_path: "n" } } }, "d")).toEqual([
      undefined,
      4,
      null,
      null,
    ]);
    expect(
      await dayBuckets({ n, d: { derivative: { buckets_path: "n", gap_policy: "insert_zeros" } } }, "d"),
    ).toEqual([undefined, 4, -10, 1]);
    expect(await dayBuckets({ d: { derivative: { buckets_path: "_count" } } }, "d")).toEqual([
      undefined,
      -1,
      -1,
      1,
    ]);
    expect(
      await aggregated(
        store,
        days({ n, d: { derivative: { buckets_path: "n", unit: "1h", format: "0.0" } } }),
      ),
    ).toContain(
      '"d":{"value":4.0,"value_as_string":"4.0","normalized_value":0.16666666666666666,"normalized_value_as_string":"0.2"}',
    );
  });

  test("a derivative of a derivative, whatever their order in the request", async () => {
    const aggs = {
      second: { derivative: { buckets_path: "first" } },
      first: { derivative: { buckets_path: "_count" } },
    };
    expect(await dayBuckets(aggs, "second")).toEqual([undefined, undefined, null, null]);
  });

  test("cumulative_sum", async () => {
    expect(await dayBuckets({ n, c: { cumulative_sum: { buckets_path: "n" } } }, "c")).toEqual([
      6, 16, 16, 17,
    ]);
  });

  test("bucket_script skips buckets without a value", async () => {
    const script = { buckets_path: { n: "n", count: "_count" }, script: "params.n / params.count" };
    expect(await dayBuckets({ n, s: { bucket_script: script } }, "s")).toEqual([3, 10, undefined, 1]);
    const zeros = {
      ...script,
      gap_policy: "insert_zeros",
      script: { source: "params.n * params.factor + 1", params: { factor: 2 } },
    };
    expect(await dayBuckets({ n, s: { bucket_script: zeros } }, "s")).toEqual([13, 21, 1, 3]);
  });

  test("bucket_selector filters buckets", async () => {
    expect(
      await dayBuckets(
        { n, s: { bucket_selector: { buckets_path: { n: "n" }, script: "params.n > 5 && params.n < 10" } } },
        "n",
      ),
    ).toEqual([6]);
  });

  test("bucket_sort sorts and truncates", async () => {
    expect(
      await dayBuckets({ n, s: { bucket_sort: { sort: [{ n: { order: "desc" } }], size: 2 } } }, "n"),
    ).toEqual([10, 6]);
    expect(
      await dayBuckets({ n, s: { bucket_sort: { sort: [{ _key: "desc" }], from: 1, size: 2 } } }, "n"),
    ).toEqual([0, 10]);
    expect(await dayBuckets({ n, s: { bucket_sort: { from: 3 } } }, "n")).toEqual([1]);
  });

  test("they see the results of sibling pipelines in a bucket", async () => {
    const answer = await answered(store, {
      hosts: {
        terms: { field: "host" },
        aggs: {
          ...days({ n }),
          best: { max_bucket: { buckets_path: "days>n" } },
          twice: { bucket_script: { buckets_path: { best: "best" }, script: "params.best * 2" } },
        },
      },
    });
    expect(answer.hosts?.buckets.map(({ key, twice, best }) => [key, twice, best])).toEqual([
      ["a", { value: 20 }, { value: 10, keys: ["02"] }],
      ["b", { value: 8 }, { value: 4, keys: ["01"] }],
      ["c", { value: 2 }, { value: 1, keys: ["04"] }],
    ]);
  });
});

describe("over sibling buckets", () => {
  test.each([
    [{ avg_bucket: { buckets_path: "days>n" } }, '{"value":5.666666666666667}'],
    [
      { avg_bucket: { buckets_path: "days>n", gap_policy: "insert_zeros", format: "0.0" } },
      '{"value":4.25,"value_as_string":"4.2"}',
    ],
    [{ sum_bucket: { buckets_path: "days._count" } }, '{"value":4.0}'],
    [{ min_bucket: { buckets_path: "days>n" } }, '{"value":1.0,"keys":["04"]}'],
    [{ max_bucket: { buckets_path: "days>mean.value" } }, '{"value":10.0,"keys":["02"]}'],
    [
      { stats_bucket: { buckets_path: "days>n" } },
      '{"count":3,"min":1.0,"max":10.0,"avg":5.666666666666667,"sum":17.0}',
    ],
    [
      { percentiles_bucket: { buckets_path: "days>n", percents: [50, 99] } },
      '{"values":{"50.0":6.0,"99.0":10.0}}',
    ],
  ])("%j is %s", async (aggregation, expected) => {
    const text = await aggregated(store, { ...days({ n, mean }), a: aggregation });
    expect(text.slice(text.indexOf('"a":') + 4, -1)).toBe(expected);
  });

  test("values over no buckets are null", async () => {
    const aggs = {
      none: { terms: { field: "unknown" }, aggs: { n } },
      avg: { avg_bucket: { buckets_path: "none>n" } },
      max: { max_bucket: { buckets_path: "none>n" } },
      sum: { sum_bucket: { buckets_path: "none>n" } },
    };
    const { avg, max, sum } = await answered(store, aggs);
    expect([avg, max, sum]).toEqual([{ value: null }, { value: null, keys: [] }, { value: 0 }]);
  });
});

test.each([
  [
    days({ d: { derivative: { buckets_path: "n" } } }),
    "Validation Failed: 1: No aggregation found for path [n];",
  ],
  [
    { ...days({}), a: { avg_bucket: { buckets_path: "days>n" } } },
    "Validation Failed: 1: No aggregation [n] found for path [days>n];",
  ],
  [
    { a: { bucket_script: { buckets_path: { c: "_count" }, script: "1" } } },
    "bucket_script aggregation [a] must be declared inside of another aggregation",
  ],
  [
    { h: { terms: { field: "host" }, aggs: { d: { derivative: { buckets_path: "_count" } } } } },
    "derivative aggregation [d] must have a histogram, date_histogram or auto_date_histogram as parent",
  ],
  [
    days({ d: { derivative: { buckets_path: "_count" } } }, { min_doc_count: 1 }),
    "parent histogram of derivative aggregation [d] must have min_doc_count of 0",
  ],
  [
    days({ a: { cumulative_sum: { buckets_path: "b" } }, b: { cumulative_sum: { buckets_path: "a" } } }),
    "Cyclical dependency found with pipeline aggregator [a]",
  ],
  [days({ n, s: { bucket_sort: {} } }), "[s] is configured to perform nothing"],
  [
    days({ m: { moving_fn: { buckets_path: "_count", window: 2, script: "MovingFunctions.max(values)" } } }),
    "[moving_fn] aggregations are not supported",
  ],
  [days({ n, d: { derivative: { buckets_path: "n", gap_policy: "jump" } } }), "Invalid gap policy: [jump]"],
])("%j is refused", async (aggs, message) => {
  expect(await refusal(store, aggs)).toContain(message);
});

describe("scripts", () => {
  const run = (source: string, params: Record<string, number | bigint | null> = {}, lang = "painless") =>
    compileScript(source, lang).run(new Map(Object.entries(params)));

  test.each([
    ["1 + 2 * 3", 7n],
    ["7 / 2", 3n],
    ["7 / 2.0", 3.5],
    ["-7 % 3", -1n],
    ["(double) 7 / 2", 3.5],
    ["(int) 3.9", 3n],
    ["params.a > 2 ? params['a'] : 0", 3],
    ["params.a >= 3 && !(params.b == null) || false", false],
    ["params.b ?: 9", 9n],
    ["Math.max(params.a, 5) + Math.abs(-1)", 6],
    ["return params.a == 3;", true],
    ["1e3 + 5L", 1005],
  ])("%s", (source, value) => {
    expect(run(source, { a: 3, b: null })).toBe(value);
  });

  test("expressions use bare variable names", () => {
    expect(run("a * 2 + max(a, 1)", { a: 3 }, "expression")).toBe(9);
  });

  test.each([
    "for (int i = 0; i < 9; ++i) {}",
    "doc['x'].value",
    "params.a.toString()",
    "new ArrayList()",
    "1 +",
    "'x",
    "Math.random()",
    "x",
    `${"(".repeat(5000)}1`,
    `${"-".repeat(5000)}1`,
  ])("%.40s is refused", (source) => {
    expect(() => run(source)).toThrow(expect.objectContaining({ message: "compile error" }));
  });

  test("a missing value and a division by zero are errors of the script", () => {
    expect(() => run("params.x + 1")).toThrow(expect.objectContaining({ message: "runtime error" }));
    expect(() => run("1 / 0")).toThrow(expect.objectContaining({ message: "runtime error" }));
  });

  test("any source ends in a value or the vendor's error", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            "1",
            "2.5",
            "params.a",
            "+",
            "-",
            "*",
            "/",
            "%",
            "(",
            ")",
            "?",
            ":",
            "<",
            "==",
            "&&",
            "!",
            "Math.max(",
            ",",
            "x",
            "'",
            "return ",
            ";",
          ),
          { maxLength: 25 },
        ),
        (pieces) => {
          try {
            run(pieces.join(""), { a: 1 });
          } catch (error) {
            expect(error).toBeInstanceOf(VendorError);
          }
        },
      ),
    );
  });
});
