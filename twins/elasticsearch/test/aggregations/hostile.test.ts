/** Aggregations that nobody means to send. Proves a part of twins/SECURITY.md. */
import type { LogStore } from "@offhook/log-store/store/log-store";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VendorError } from "../../vendor/error.ts";
import { aggregated, refusal, storeOf } from "./support.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    { at: "2026-01-01T00:00:00Z", word: "a", n: 1.5 },
    { at: "2026-01-02T00:00:00Z", word: "b", n: 1e300 },
  ]);
});
afterAll(() => store.close());

function nested(depth: number): object {
  let aggs: object = { m: { max: { field: "n" } } };
  for (let level = 0; level < depth; level++) aggs = { a: { terms: { field: "word" }, aggs } };
  return aggs;
}

const many = (count: number, one: (index: number) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, one(index)]));

/** Too many buckets: only the cause says so, as in the vendor. */
const tooMany = /^\nTrying to create too many buckets/;

describe("excess is refused", () => {
  test.each([
    ["aggregations in aggregations", nested(500), /nested depth/],
    ["aggregations", many(10_000, () => ({ max: { field: "n" } })), /10000 aggregations/],
    ["filters", { a: { filters: { filters: many(5_000, () => ({ match_all: {} })) } } }, /5000 filters/],
    [
      "percents",
      {
        a: { percentiles: { field: "n", percents: Array.from({ length: 5_000 }, (_, index) => index / 50) } },
      },
      /failed to parse field \[percents\]/,
    ],
    [
      "terms to include",
      { a: { terms: { field: "word", include: Array.from({ length: 70_000 }, String) } } },
      /70000 values/,
    ],
    ["a pattern", { a: { terms: { field: "word", include: "(a*)*".repeat(1_000) } } }, /length of regex/],
    ["an interval too small for its values", { a: { histogram: { field: "n", interval: 1e-9 } } }, tooMany],
    [
      "buckets",
      {
        a: {
          histogram: {
            field: "n",
            interval: 1e-9,
            hard_bounds: { max: 10 },
            extended_bounds: { min: 0, max: 5 },
          },
        },
      },
      tooMany,
    ],
    [
      "a script",
      {
        a: {
          histogram: { field: "n", interval: 1e300 },
          aggs: {
            s: { bucket_script: { buckets_path: { c: "_count" }, script: `${"(".repeat(100_000)}1` } },
          },
        },
      },
      /compile error/,
    ],
    ["a format", { a: { terms: { field: "at", format: "[".repeat(900) } } }, /nested too deeply/],
  ])("%s", async (_, aggs, message) => {
    expect(await refusal(store, aggs)).toMatch(message);
  });

  test("twenty levels of buckets work", async () => {
    expect(await aggregated(store, nested(20))).toContain('"m":{"value":1.0E300}');
  });

  test("three hundred aggregations work", async () => {
    const aggs = many(300, (index) =>
      index % 10 === 0 ? { terms: { field: "word" } } : { max: { field: "n" } },
    );
    expect(await aggregated(store, aggs)).toContain('"a299":{"value":1.0E300}');
  });
});

test("a pattern of exponential backtracking runs in linear time", async () => {
  await aggregated(store, { a: { terms: { field: "word", include: "(a+)+(b+)+(a+)+c" } } });
});

test("names and values are never part of the statement's text", async () => {
  const evil = `x"; DROP TABLE documents; --'`;
  const text = await aggregated(store, {
    [evil]: {
      terms: { field: "word", missing: evil, include: [evil, "a"] },
      aggs: { [`${evil}.y`]: { terms: { field: evil, missing: evil } } },
    },
  });
  expect(JSON.parse(text)).toMatchObject({
    [evil]: { buckets: [{ key: "a", [`${evil}.y`]: { buckets: [{ key: evil, doc_count: 1 }] } }] },
  });
});

test("for random options, the answer is JSON or the vendor's error", async () => {
  const types = [
    "terms",
    "date_histogram",
    "histogram",
    "range",
    "date_range",
    "filters",
    "missing",
    "composite",
    "avg",
    "percentiles",
    "extended_stats",
    "bucket_sort",
    "bucket_script",
    "derivative",
    "top_hits",
    "global",
  ];
  const options = [
    "field",
    "size",
    "order",
    "missing",
    "format",
    "interval",
    "calendar_interval",
    "fixed_interval",
    "ranges",
    "filters",
    "sources",
    "include",
    "keyed",
    "time_zone",
    "offset",
    "percents",
    "buckets_path",
    "script",
    "sort",
    "min_doc_count",
    "extended_bounds",
    "sigma",
    "from",
  ];
  const value = fc.oneof(
    fc.constantFrom(
      "at",
      "word",
      "n",
      "1d",
      "month",
      "_count",
      "asc",
      "yyyy",
      "Europe/Paris",
      "-0",
      "NaN",
      "9".repeat(400),
    ),
    fc.constantFrom<unknown>(
      0,
      1,
      -1,
      1e308,
      1e-308,
      null,
      true,
      [],
      {},
      [{ from: 1 }],
      { _key: "desc" },
      { min: 0, max: 1 },
      [{ a: { terms: { field: "n" } } }],
      2n ** 70n,
    ),
  );
  const definition = fc.tuple(
    fc.constantFrom(...types),
    fc.dictionary(fc.constantFrom(...options), value, { maxKeys: 5 }),
    fc.boolean(),
  );
  await fc.assert(
    fc.asyncProperty(definition, definition, async ([type, given, withField], [innerType, innerGiven]) => {
      const field = withField ? { field: type.startsWith("date") ? "at" : "n" } : {};
      const aggs = { a: { [type]: { ...field, ...given }, aggs: { b: { [innerType]: innerGiven } } } };
      try {
        JSON.parse(await aggregated(store, aggs));
      } catch (error) {
        expect(error, String(error)).toBeInstanceOf(VendorError);
      }
    }),
    { numRuns: 400 },
  );
});
