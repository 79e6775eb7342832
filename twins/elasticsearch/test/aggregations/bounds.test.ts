/** Answers of Elasticsearch 8.15.0 for 36 events, twenty minutes apart: bounds, offsets, other buckets, booleans. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  const start = Date.UTC(2026, 2, 2);
  const lines = Array.from({ length: 36 }, (_, number) => {
    const event = { t: new Date(start + number * 1_200_000).toISOString(), l: Math.floor(number / 3) };
    return `{"index":{}}\n${JSON.stringify({ ...event, b: event.l % 2 === 0, k: `k${number % 3}${event.l}` })}\n`;
  });
  await sandbox.raw("POST", "/logs/_bulk", lines.join(""), { "content-type": "application/x-ndjson" });
});
afterAll(() => sandbox.stop());

const early = { range: { t: { gte: "2026-03-02T03:00:00Z", lt: "2026-03-02T05:00:00Z" } } };
const search = (body: object) => sandbox.raw("POST", "/logs/_search", { size: 0, ...body });
async function aggregated(aggregation: object, query: object = early) {
  const { body } = await search({ query, aggs: { a: aggregation } });
  return body.aggregations.a;
}
interface Bucket {
  key: number;
  key_as_string: string;
  doc_count: number;
}
const shown = (buckets: Bucket[]) =>
  buckets.map(({ key, key_as_string, doc_count }) => [key_as_string?.slice(11, 16) ?? key, doc_count]);

const day = (time: string) => `2026-03-02T${time}:00Z`;
const bounds = (min: string | undefined, max: string | undefined) => ({
  ...(min && { min: day(min) }),
  ...(max && { max: day(max) }),
});

test.each<[options: object, expected: [string, number][]]>([
  // Both bounds are rounded down; the upper one is exclusive.
  [{ fixed_interval: "1h", hard_bounds: bounds("03:10", "04:10") }, [["03:00", 3]]],
  [{ calendar_interval: "hour", hard_bounds: bounds(undefined, "04:10") }, [["03:00", 3]]],
  [{ fixed_interval: "90m", hard_bounds: bounds(undefined, "04:10") }, []],
  [
    { fixed_interval: "1h", time_zone: "Asia/Kolkata", hard_bounds: bounds("03:10", "04:10") },
    [["08:00", 2]],
  ],
  // The offset moves the filled buckets.
  [
    { fixed_interval: "1h", offset: "15m", extended_bounds: bounds("01:10", "05:50") },
    [
      ["01:15", 0],
      ["02:15", 1],
      ["03:15", 3],
      ["04:15", 2],
      ["05:15", 0],
    ],
  ],
  [
    { fixed_interval: "1h", offset: "15m", extended_bounds: bounds(undefined, "05:00") },
    [
      ["02:15", 1],
      ["03:15", 3],
      ["04:15", 2],
      ["05:15", 0],
    ],
  ],
])("a date histogram with %j", async (options, expected) => {
  const { buckets } = await aggregated({ date_histogram: { field: "t", ...options } });
  expect(shown(buckets)).toEqual(expected);
});

test("a histogram compares its bounds without the offset, both inclusive", async () => {
  const histogram = { field: "l", interval: 2, hard_bounds: { min: 3, max: 6 } };
  const { buckets } = await aggregated({ histogram }, { match_all: {} });
  expect(shown(buckets)).toEqual([
    [4, 6],
    [6, 6],
  ]);
  const moved = await aggregated({ histogram: { ...histogram, offset: 0.5 } }, { match_all: {} });
  expect(shown(moved.buckets)).toEqual([
    [4.5, 6],
    [6.5, 6],
  ]);
});

test.each([
  [
    {
      date_histogram: {
        field: "t",
        fixed_interval: "1h",
        hard_bounds: bounds("01:30", "06:10"),
        extended_bounds: bounds("00:10", "07:00"),
      },
    },
    "hard bounds: [2026-03-02T01:30:00Z--2026-03-02T06:10:00Z], extended bounds: [2026-03-02T00:10:00Z--2026-03-02T07:00:00Z]",
  ],
  [
    { histogram: { field: "l", interval: 2, extended_bounds: { max: 8 }, hard_bounds: { min: 1, max: 7 } } },
    "hard bounds: [1.0--7.0], extended bounds: [null--8.0]",
  ],
])("%j is refused by the shard, with the bounds as they were written", async (aggregation, said) => {
  const { status, body } = await search({ aggs: { a: aggregation } });
  expect({ status, reason: body.error.reason, cause: body.error.root_cause[0].reason }).toEqual({
    status: 400,
    reason: "all shards failed",
    cause: `Extended bounds have to be inside hard bounds, ${said}`,
  });
});

describe("terms that a shard does not return", () => {
  const everything = { match_all: {} };
  const rest = async (options: object) => {
    const { sum_other_doc_count, doc_count_error_upper_bound, buckets } = await aggregated(
      { terms: { field: "k.keyword", ...options } },
      everything,
    );
    return [sum_other_doc_count, doc_count_error_upper_bound, buckets.length];
  };

  // 36 terms of one document each.
  test.each<[options: object, expected: number[]]>([
    [{}, [26, 0, 10]],
    [{ min_doc_count: 2 }, [11, 0, 0]],
    [{ min_doc_count: 2, size: 2 }, [23, 0, 0]],
    [{ min_doc_count: 2, order: { _key: "asc" } }, [26, 0, 0]],
    [{ min_doc_count: 2, order: { _count: "asc" } }, [11, -1, 0]],
    [{ min_doc_count: 2, shard_size: 20 }, [16, 0, 0]],
  ])("are the rest, also where all that it answers have too few documents: %j", async (options, expected) => {
    expect(await rest(options)).toEqual(expected);
  });
});

test("booleans sort as 0 and 1, and match by either notation", async () => {
  const hits = async (more: object) => {
    const { body } = await search({ size: 1, sort: [{ b: "asc" }], ...more });
    return body.error?.root_cause[0] ?? body.hits.hits[0].sort;
  };
  expect(await hits({})).toEqual([0]);
  expect(await hits({ search_after: [false] })).toEqual([1]);
  expect(await hits({ search_after: ["false"] })).toEqual([1]);
  expect(await hits({ search_after: ["x"] })).toEqual({
    type: "illegal_argument_exception",
    reason: "Cannot parse boolean [x], expected either [true] or [false]",
  });
  expect(await hits({ sort: [{ b: { order: "asc", missing: true } }] })).toEqual({
    type: "number_format_exception",
    reason: 'For input string: "true"',
  });
});
