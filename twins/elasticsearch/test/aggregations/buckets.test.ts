import { sql } from "@offhook/log-store/sql";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, aggregated, answered, refusal, refused, storeOf } from "./support.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    {
      at: "2026-01-01T00:10:00Z",
      level: "error",
      host: "web-1",
      ms: 12.5,
      status: 500,
      ok: false,
      tags: ["a", "b"],
    },
    { at: "2026-01-01T00:50:00Z", level: "info", host: "web-1", ms: 2.5, status: 200, ok: true, tags: ["b"] },
    { at: "2026-01-02T23:30:00Z", level: "info", host: "web-2", ms: 5.25, status: 200, ok: true },
    { at: "2026-01-05T00:00:00Z", level: "warn", host: "db-1", ms: 7.25, status: 404, ok: true, tags: ["c"] },
    { at: "2026-02-01T12:00:00Z", level: "error", status: 503, ok: false },
  ]);
});
afterAll(() => store.close());

const keys = (answer: Record<string, Answer>, name = "a") =>
  (answer[name]?.buckets ?? []).map(({ key, key_as_string, doc_count }) => [key_as_string ?? key, doc_count]);
const bucketsOf = async (aggregation: object) => keys(await answered(store, { a: aggregation }));

describe("terms", () => {
  test.each([
    ["size", { size: 1 }, [["error", 2]]],
    [
      "order by key",
      { order: { _key: "desc" } },
      [
        ["warn", 1],
        ["info", 2],
        ["error", 2],
      ],
    ],
    [
      "order by count",
      { order: { _count: "asc" } },
      [
        ["warn", 1],
        ["error", 2],
        ["info", 2],
      ],
    ],
    [
      "several orders",
      { order: [{ _count: "asc" }, { _key: "desc" }] },
      [
        ["warn", 1],
        ["info", 2],
        ["error", 2],
      ],
    ],
    [
      "min_doc_count",
      { min_doc_count: 2 },
      [
        ["error", 2],
        ["info", 2],
      ],
    ],
    ["include as a list", { include: ["warn", "other"] }, [["warn", 1]]],
    [
      "include as a regular expression",
      { include: "[ew].*r.*" },
      [
        ["error", 2],
        ["warn", 1],
      ],
    ],
    [
      "exclude as a regular expression",
      { exclude: "inf.|@z" },
      [
        ["error", 2],
        ["warn", 1],
      ],
    ],
    [
      "execution_hint is accepted",
      { execution_hint: "map", collect_mode: "breadth_first", size: 1 },
      [["error", 2]],
    ],
  ])("%s", async (_, options, expected) => {
    expect(await bucketsOf({ terms: { field: "level", ...options } })).toEqual(expected);
  });

  test("documents without a value belong to the bucket of `missing`", async () => {
    expect(await bucketsOf({ terms: { field: "host", missing: "none", include: ["none", "db-1"] } })).toEqual(
      [
        ["db-1", 1],
        ["none", 1],
      ],
    );
    expect(await bucketsOf({ terms: { field: "unknown", missing: "x" } })).toEqual([["x", 5]]);
    expect(await bucketsOf({ terms: { field: "unknown" } })).toEqual([]);
  });

  test("every term is in one partition", async () => {
    const parts = await Promise.all(
      [0, 1, 2].map((partition) =>
        bucketsOf({ terms: { field: "host", include: { partition, num_partitions: 3 } } }),
      ),
    );
    expect(parts.flat().sort()).toEqual([
      ["db-1", 1],
      ["web-1", 2],
      ["web-2", 1],
    ]);
  });

  test.each([
    [{ num_partitions: 3 }, "Missing [partition] parameter for partition-based include"],
    [{ partition: 0 }, "Missing [num_partitions] parameter for partition-based include"],
    [{ partition: 3, num_partitions: 3 }, "Partition must be >=0 and < numPartition which is 3"],
    [{ partition: 0, num_partitions: 2, of: 1 }, "Unknown parameter in Include/Exclude clause: of"],
  ])("a partition is refused as the vendor refuses it: %j", async (include, reason) => {
    expect(await refusal(store, { a: { terms: { field: "host", include } } })).toContain(reason);
  });

  test("min_doc_count 0 lists terms of documents that the query does not match", async () => {
    const answer = await answered(
      store,
      { a: { terms: { field: "level", min_doc_count: 0 } } },
      { predicate: sql`d.status = 200` },
    );
    expect(keys(answer)).toEqual([
      ["info", 2],
      ["error", 0],
      ["warn", 0],
    ]);
  });

  test("min_doc_count 0 lists every term in empty buckets too, except in those that fill a histogram's gaps", async () => {
    const level = { terms: { field: "level", min_doc_count: 0, order: { _key: "asc" } } };
    const empty = [
      ["error", 0],
      ["info", 0],
      ["warn", 0],
    ];
    const within = async (outer: object) => {
      const predicate = sql`d.status = 200`;
      const { a } = await answered(store, { a: { ...outer, aggs: { level } } }, { predicate });
      const buckets = Object.values(a?.buckets ?? []);
      return buckets
        .filter(({ doc_count }) => doc_count === 0)
        .map(({ level }) => keys({ a: level as Answer }));
    };
    expect(await within({ terms: { field: "host", min_doc_count: 0 } })).toEqual([empty]);
    expect(await within({ range: { field: "status", ranges: [{ from: 900 }, { to: 900 }] } })).toEqual([
      empty,
    ]);
    const nowhere = { term: { host: "nowhere" } };
    expect(await within({ filters: { filters: { nowhere } } })).toEqual([empty]);
    expect(await within({ histogram: { field: "ms", interval: 1 } })).not.toHaveLength(0);
    expect((await within({ histogram: { field: "ms", interval: 1 } })).flat()).toEqual([]);
  });

  test("keys of numbers, dates and doubles print like the vendor's", async () => {
    expect(
      await aggregated(store, { a: { terms: { field: "ms", size: 1, order: { _key: "desc" } } } }),
    ).toContain('{"key":12.5,"doc_count":1}');
    expect(
      await aggregated(store, {
        a: { terms: { field: "at", size: 1, order: { _key: "asc" }, format: "yyyy-MM-dd" } },
      }),
    ).toContain('{"key":1767226200000,"key_as_string":"2026-01-01","doc_count":1}');
    expect(await aggregated(store, { a: { terms: { field: "status", include: [404] } } })).toContain(
      '{"key":404,"doc_count":1}',
    );
  });

  test("an order can be a path through single buckets", async () => {
    const aggs = { good: { filter: { term: { level: "info" } }, aggs: { s: { stats: { field: "ms" } } } } };
    const byPath = { terms: { field: "host", order: { "good>s.max": "desc" } }, aggs };
    expect((await bucketsOf(byPath)).map(([key]) => key)).toEqual(["web-2", "web-1", "db-1"]);
    expect(
      (await bucketsOf({ terms: { field: "host", order: { good: "asc" } }, aggs })).map(([key]) => key),
    ).toEqual(["db-1", "web-1", "web-2"]);
  });

  test.each([
    [{ terms: { field: "level", order: { nothing: "asc" } } }, /Invalid aggregation order path \[nothing\]/],
    [{ terms: { field: "level", size: 0 } }, /\[size\] must be greater than 0\. Found \[0\] in \[a\]/],
    [
      { terms: { field: "level", fields: "x" } },
      /\[terms\] unknown field \[fields\] did you mean \[field\]\?/,
    ],
    [{ terms: { field: "level", order: { _count: "up" } } }, /\[terms\] failed to parse field \[order\]/],
    [{ terms: {} }, /Required one of fields \[field, script\]/],
    [
      { terms: { field: "status", include: "4.*" } },
      /cannot support regular expression style include\/exclude/,
    ],
    [
      { terms: { field: "level" }, avg: { field: "ms" } },
      /Found two aggregation type definitions in \[a\]: \[terms\] and \[avg\]/,
    ],
    [{ meta: {} }, /Missing definition for aggregation \[a\]/],
    [{ significant_terms: { field: "level" } }, /\[significant_terms\] aggregations are not supported/],
    [
      { avg: { field: "ms" }, aggs: { b: { avg: { field: "ms" } } } },
      /Aggregator \[a\] of type \[avg\] cannot accept sub-aggregations/,
    ],
    [{ avg: { field: "level" } }, /all shards failed/],
  ])("%j is refused", async (aggregation, message) => {
    expect(await refusal(store, { a: aggregation })).toMatch(message);
  });

  test("a name with a bracket is refused", async () => {
    expect((await refused(store, { "a[0]": { avg: { field: "ms" } } })).message).toContain(
      "Invalid aggregation name [a[0]]",
    );
  });
});

describe("date_histogram", () => {
  const dates = (options: object) => bucketsOf({ date_histogram: { field: "at", ...options } });

  test.each([
    [
      "month",
      { calendar_interval: "month", format: "yyyy-MM" },
      [
        ["2026-01", 4],
        ["2026-02", 1],
      ],
    ],
    ["1q", { calendar_interval: "1q", format: "yyyy-MM" }, [["2026-01", 5]]],
    [
      "week",
      { calendar_interval: "1w", format: "MM-dd", min_doc_count: 1 },
      [
        ["12-29", 3],
        ["01-05", 1],
        ["01-26", 1],
      ],
    ],
    ["year", { calendar_interval: "year", format: "yyyy" }, [["2026", 5]]],
    [
      "fixed with an offset",
      { fixed_interval: "1d", offset: "+6h", format: "dd HH", min_doc_count: 1 },
      [
        ["31 06", 2],
        ["02 06", 1],
        ["04 06", 1],
        ["01 06", 1],
      ],
    ],
    [
      "a zone",
      { calendar_interval: "day", time_zone: "+01:00", min_doc_count: 1, format: "dd'T'HH XXX" },
      [
        ["01T00 +01:00", 2],
        ["03T00 +01:00", 1],
        ["05T00 +01:00", 1],
        ["01T00 +01:00", 1],
      ],
    ],
    [
      "hard_bounds",
      {
        calendar_interval: "day",
        hard_bounds: { min: Date.UTC(2026, 0, 2), max: Date.UTC(2026, 0, 4) },
        format: "dd",
      },
      [["02", 1]],
    ],
    [
      "order",
      { calendar_interval: "month", order: { _key: "desc" }, format: "MM" },
      [
        ["02", 1],
        ["01", 4],
      ],
    ],
    [
      "extended_bounds",
      {
        calendar_interval: "month",
        extended_bounds: { min: Date.UTC(2025, 11, 15), max: Date.UTC(2026, 2, 1) },
        format: "MM",
      },
      [
        ["12", 0],
        ["01", 4],
        ["02", 1],
        ["03", 0],
      ],
    ],
  ])("%s", async (_, options, expected) => {
    expect(await dates(options)).toEqual(expected);
  });

  test("keyed buckets are an object", async () => {
    expect(
      await aggregated(store, {
        a: { date_histogram: { field: "at", calendar_interval: "month", keyed: true, format: "yyyy-MM" } },
      }),
    ).toBe(
      '{"a":{"buckets":{"2026-01":{"key_as_string":"2026-01","key":1767225600000,"doc_count":4},"2026-02":{"key_as_string":"2026-02","key":1769904000000,"doc_count":1}}}}',
    );
  });

  test("days and hours follow clock changes", async () => {
    const spring = await storeOf(
      [
        "2026-03-28T22:30Z",
        "2026-03-28T23:30Z",
        "2026-03-29T00:30Z",
        "2026-03-29T01:30Z",
        "2026-03-29T22:30Z",
        "2026-10-24T23:30Z",
        "2026-10-25T00:30Z",
        "2026-10-25T01:30Z",
      ].map((at) => ({
        at: at.replace("Z", ":00Z"),
      })),
    );
    const zoned = { field: "at", time_zone: "Europe/Paris", min_doc_count: 1 };
    const days = await answered(spring, { a: { date_histogram: { ...zoned, calendar_interval: "day" } } });
    expect(keys(days)).toEqual([
      ["2026-03-28T00:00:00.000+01:00", 1],
      ["2026-03-29T00:00:00.000+01:00", 3],
      ["2026-03-30T00:00:00.000+02:00", 1],
      ["2026-10-25T00:00:00.000+02:00", 3],
    ]);
    const hours = await answered(spring, {
      a: {
        date_histogram: {
          ...zoned,
          calendar_interval: "hour",
          format: "dd HH XXX",
          hard_bounds: { min: Date.UTC(2026, 9, 1) },
        },
      },
    });
    expect(keys(hours)).toEqual([
      ["25 01 +02:00", 1],
      ["25 02 +02:00", 1],
      ["25 02 +01:00", 1],
    ]);
    const filled = await answered(spring, {
      a: {
        date_histogram: {
          field: "at",
          time_zone: "Europe/Paris",
          calendar_interval: "day",
          format: "dd XXX",
          hard_bounds: { max: Date.UTC(2026, 2, 31) },
        },
      },
    });
    expect(keys(filled)).toEqual([
      ["28 +01:00", 1],
      ["29 +01:00", 3],
      ["30 +02:00", 1],
    ]);
    await spring.close();
  });

  test.each([
    [{}, "Invalid interval specified, must be non-null and non-empty"],
    [
      { calendar_interval: "day", fixed_interval: "1d" },
      "Cannot use [fixed_interval] with [calendar_interval] configuration option.",
    ],
    [{ calendar_interval: "2d" }, "The supplied interval [2d] could not be parsed as a calendar interval."],
    [
      { fixed_interval: "1M" },
      /failed to parse setting \[date_histogram.fixedInterval\] with value \[1M\] as a time value/,
    ],
    [{ fixed_interval: "0d" }, "Zero or negative time interval not supported"],
    [{ calendar_interval: "day", time_zone: "Mars/Base" }, /Unknown time-zone ID/],
  ])("%j is refused", async (options, message) => {
    expect(await refusal(store, { a: { date_histogram: { field: "at", ...options } } })).toMatch(
      message instanceof RegExp ? message : new RegExp(message.replaceAll(/[[\]().]/g, "\\$&")),
    );
  });

  test("more buckets than the vendor allows are refused", async () => {
    const error = await refused(store, { a: { date_histogram: { field: "at", fixed_interval: "1s" } } });
    expect(error.status).toBe(400);
    expect(error.cause.caused_by).toMatchObject({ type: "too_many_buckets_exception", max_buckets: 65536 });
    await refused(store, {
      a: { date_histogram: { field: "at", fixed_interval: "1ms", extended_bounds: { min: 0, max: 9e15 } } },
    });
  });
});

describe("histogram", () => {
  test("fills gaps, with offset and bounds", async () => {
    expect(await aggregated(store, { a: { histogram: { field: "ms", interval: 5 } } })).toBe(
      '{"a":{"buckets":[{"key":0.0,"doc_count":1},{"key":5.0,"doc_count":2},{"key":10.0,"doc_count":1}]}}',
    );
    expect(await bucketsOf({ histogram: { field: "ms", interval: 5, offset: 2, min_doc_count: 1 } })).toEqual(
      [
        [2, 2],
        [7, 1],
        [12, 1],
      ],
    );
    expect(
      await bucketsOf({ histogram: { field: "ms", interval: 5, extended_bounds: { min: -5, max: 20 } } }),
    ).toEqual([
      [-5, 0],
      [0, 1],
      [5, 2],
      [10, 1],
      [15, 0],
      [20, 0],
    ]);
    expect(
      await bucketsOf({ histogram: { field: "ms", interval: 5, hard_bounds: { min: 5, max: 10 } } }),
    ).toEqual([
      [5, 2],
      [10, 1],
    ]);
    expect(
      await bucketsOf({
        histogram: { field: "status", interval: 100, missing: 0, format: "0.0", order: { _count: "desc" } },
      }),
    ).toEqual([
      ["200.0", 2],
      ["500.0", 2],
      ["400.0", 1],
      ["300.0", 0],
    ]);
  });

  test("an interval of zero is refused", async () => {
    expect(await refusal(store, { a: { histogram: { field: "ms", interval: 0 } } })).toContain(
      "[interval] must be >0",
    );
  });
});

describe("buckets by conditions", () => {
  test("range", async () => {
    expect(
      await aggregated(store, {
        a: {
          range: { field: "ms", ranges: [{ from: 5, to: 7.25 }, { to: 5 }, { from: 7.25, key: "slow" }] },
        },
      }),
    ).toBe(
      '{"a":{"buckets":[{"key":"*-5.0","to":5.0,"doc_count":1},{"key":"5.0-7.25","from":5.0,"to":7.25,"doc_count":1},{"key":"slow","from":7.25,"doc_count":2}]}}',
    );
    expect(
      await aggregated(store, { a: { range: { field: "status", keyed: true, ranges: [{ from: 500 }] } } }),
    ).toBe('{"a":{"buckets":{"500.0-*":{"from":500.0,"doc_count":2}}}}');
  });

  test("date_range, with date math", async () => {
    expect(
      await aggregated(store, {
        a: {
          date_range: {
            field: "at",
            format: "yyyy-MM-dd",
            ranges: [{ from: "2026-01-02", to: "2026-01-01||+1M/M" }, { from: "now-2M/M" }],
          },
        },
      }),
    ).toBe(
      '{"a":{"buckets":[' +
        '{"key":"2026-01-01-*","from":1.7672256E12,"from_as_string":"2026-01-01","doc_count":5},' +
        '{"key":"2026-01-02-2026-02-01","from":1.767312E12,"from_as_string":"2026-01-02","to":1.769904E12,"to_as_string":"2026-02-01","doc_count":2}]}}',
    );
  });

  test("an unmapped field works like any other", async () => {
    expect(
      await aggregated(store, {
        a: { date_range: { field: "gone", format: "yyyy", ranges: [{ from: "2026" }] } },
      }),
    ).toBe('{"a":{"buckets":[{"key":"2026-*","from":1.7672256E12,"from_as_string":"2026","doc_count":0}]}}');
    expect(
      await aggregated(store, { a: { date_histogram: { field: "gone", calendar_interval: "day" } } }),
    ).toBe('{"a":{"buckets":[]}}');
  });

  test("filters: named, anonymous, and the others", async () => {
    const error = { term: { level: "error" } };
    const web = { term: { host: "web-1" } };
    expect(
      await aggregated(store, {
        a: {
          filters: { filters: { error, web }, other_bucket: true },
          aggs: { s: { sum: { field: "ms" } } },
        },
      }),
    ).toBe(
      '{"a":{"buckets":{"error":{"doc_count":2,"s":{"value":12.5}},"web":{"doc_count":2,"s":{"value":15.0}},"_other_":{"doc_count":2,"s":{"value":12.5}}}}}',
    );
    expect(
      await aggregated(store, { a: { filters: { filters: [error, web], other_bucket_key: "rest" } } }),
    ).toBe('{"a":{"buckets":[{"doc_count":2},{"doc_count":2},{"doc_count":2}]}}');
    expect(await aggregated(store, { a: { filters: { filters: { error }, keyed: false } } })).toBe(
      '{"a":{"buckets":[{"key":"error","doc_count":2}]}}',
    );
    expect((await refused(store, { a: { filters: { filters: {} } } })).message).toBe(
      "[filters] cannot be empty.",
    );
  });

  test("filter, missing, global", async () => {
    const answer = await aggregated(
      store,
      {
        errors: { filter: { term: { level: "error" } }, aggs: { hosts: { terms: { field: "host" } } } },
        homeless: { missing: { field: "host" } },
        all: { global: {}, aggs: { levels: { terms: { field: "level", size: 1 } } } },
      },
      { predicate: sql`d.status >= 500` },
    );
    expect(answer).toBe(
      '{"errors":{"doc_count":2,"hosts":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"web-1","doc_count":1}]}},' +
        '"homeless":{"doc_count":1},' +
        '"all":{"doc_count":5,"levels":{"doc_count_error_upper_bound":0,"sum_other_doc_count":3,"buckets":[{"key":"error","doc_count":2}]}}}',
    );
  });

  test("a global aggregation covers every searched document, whatever the query finds", async () => {
    const answer = await aggregated(
      store,
      { all: { global: {} } },
      { predicate: sql`d.status >= 500`, scope: sql`d.host = 'web-1'` },
    );
    expect(answer).toBe('{"all":{"doc_count":2}}');
  });

  test("a global aggregation is allowed only at the top", async () => {
    expect(await refusal(store, { a: { terms: { field: "level" }, aggs: { b: { global: {} } } } })).toContain(
      "can only be defined as top level aggregations",
    );
  });
});

describe("composite", () => {
  const sources = [
    { level: { terms: { field: "level" } } },
    {
      day: { date_histogram: { field: "at", calendar_interval: "month", format: "yyyy-MM", order: "desc" } },
    },
  ];

  test("pages through to the end", async () => {
    const pages: unknown[] = [];
    let after: unknown;
    for (let page = 0; page < 5; page++) {
      const { a } = await answered(store, {
        a: { composite: { size: 2, sources, ...(after ? { after } : {}) } },
      });
      const { buckets = [], after_key } = a ?? {};
      if (buckets.length === 0) break;
      pages.push(buckets.map(({ key, doc_count }) => [...Object.values(key as object), doc_count]));
      after = after_key;
    }
    expect(pages).toEqual([
      [
        ["error", "2026-02", 1],
        ["error", "2026-01", 1],
      ],
      [
        ["info", "2026-01", 2],
        ["warn", "2026-01", 1],
      ],
    ]);
  });

  test("documents without a value have a bucket when asked for", async () => {
    const source = (options: object) => ({
      a: { composite: { sources: [{ h: { terms: { field: "host", missing_bucket: true, ...options } } }] } },
    });
    const shown = async (options: object) => {
      const { a } = await answered(store, source(options));
      return a?.buckets.map(({ key }) => (key as { h: string | null }).h);
    };
    expect(await shown({})).toEqual([null, "db-1", "web-1", "web-2"]);
    expect(await shown({ missing_order: "last" })).toEqual(["db-1", "web-1", "web-2", null]);
    expect(await shown({ order: "desc" })).toEqual(["web-2", "web-1", "db-1", null]);
  });

  test("lists, numbers and booleans are sources, and sub-aggregations work", async () => {
    expect(
      await aggregated(store, {
        a: {
          composite: {
            sources: [
              { t: { terms: { field: "tags" } } },
              { n: { histogram: { field: "status", interval: 100 } } },
              { k: { terms: { field: "ok" } } },
            ],
          },
          aggs: { m: { max: { field: "ms" } } },
        },
      }),
    ).toBe(
      '{"a":{"after_key":{"t":"c","n":400.0,"k":true},"buckets":[{"key":{"t":"a","n":500.0,"k":false},"doc_count":1,"m":{"value":12.5}},' +
        '{"key":{"t":"b","n":200.0,"k":true},"doc_count":1,"m":{"value":2.5}},{"key":{"t":"b","n":500.0,"k":false},"doc_count":1,"m":{"value":12.5}},' +
        '{"key":{"t":"c","n":400.0,"k":true},"doc_count":1,"m":{"value":7.25}}]}}',
    );
  });

  test.each([
    [{ a: { composite: { sources: [] } } }, "Composite [sources] cannot be null or empty"],
    [{ a: { composite: { sources, after: { level: "x" } } } }, "[after] has 1 value(s) but [sources] has 2"],
    [
      { t: { terms: { field: "level" }, aggs: { a: { composite: { sources } } } } },
      "[composite] aggregation cannot be used with a parent aggregation of type: [TermsAggregatorFactory]",
    ],
  ])("%j is refused", async (aggs, message) => {
    expect(await refusal(store, aggs)).toContain(message);
  });
});

describe("top_hits", () => {
  test("returns the documents of each bucket", async () => {
    const { a } = await answered(store, {
      a: { terms: { field: "level" }, aggs: { top: { top_hits: { size: 1, from: 0 } } } },
    });
    expect(a?.buckets).toEqual([
      { key: "error", doc_count: 2, top: { hits: { total: { value: 2, relation: "eq" }, hits: [0] } } },
      { key: "info", doc_count: 2, top: { hits: { total: { value: 2, relation: "eq" }, hits: [1] } } },
      { key: "warn", doc_count: 1, top: { hits: { total: { value: 1, relation: "eq" }, hits: [3] } } },
    ]);
  });
});

test("names carry types and metadata comes back when asked for", async () => {
  expect(
    await aggregated(
      store,
      {
        a: {
          meta: { x: 1 },
          terms: { field: "level", size: 1 },
          aggs: { b: { avg: { field: "ms" }, meta: { y: [2] } } },
        },
      },
      { typedKeys: true },
    ),
  ).toBe(
    '{"sterms#a":{"meta":{"x":1},"doc_count_error_upper_bound":0,"sum_other_doc_count":3,"buckets":[{"key":"error","doc_count":2,"avg#b":{"meta":{"y":[2]},"value":12.5}}]}}',
  );
});
