import { sql } from "@offhook/log-store/sql";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aggregated, answered, refused, storeOf } from "./support.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    {
      at: "2026-01-01T00:10:00Z",
      level: "error",
      service: "checkout",
      ms: 12.5,
      status: 500,
      ok: false,
      tags: ["a", "b", "a"],
    },
    {
      at: "2026-01-01T00:50:00Z",
      level: "info",
      service: "checkout",
      ms: 2.5,
      status: 200,
      ok: true,
      tags: ["b"],
    },
    { at: "2026-01-01T03:00:00Z", level: "info", service: "search", ms: 5.25, status: 200, ok: true },
    {
      at: "2026-01-02T00:00:00Z",
      level: "warn",
      service: "search",
      ms: 7.25,
      status: 404,
      ok: true,
      tags: ["c"],
    },
  ]);
});
afterAll(() => store.close());

describe("the simplest aggregations", () => {
  test("terms", async () => {
    expect(await aggregated(store, { levels: { terms: { field: "level" } } })).toBe(
      '{"levels":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[' +
        '{"key":"info","doc_count":2},{"key":"error","doc_count":1},{"key":"warn","doc_count":1}]}}',
    );
    expect(await aggregated(store, { ok: { terms: { field: "ok", size: 1 } } })).toBe(
      '{"ok":{"doc_count_error_upper_bound":0,"sum_other_doc_count":1,"buckets":[{"key":1,"key_as_string":"true","doc_count":3}]}}',
    );
  });

  test("a document counts once for each of its values", async () => {
    const { tags } = await answered(store, { tags: { terms: { field: "tags" } } });
    expect(tags).toMatchObject({
      buckets: [
        { key: "b", doc_count: 2 },
        { key: "a", doc_count: 1 },
        { key: "c", doc_count: 1 },
      ],
    });
  });

  test("date_histogram fills gaps", async () => {
    expect(
      await aggregated(store, { hours: { date_histogram: { field: "at", fixed_interval: "12h" } } }),
    ).toBe(
      '{"hours":{"buckets":[{"key_as_string":"2026-01-01T00:00:00.000Z","key":1767225600000,"doc_count":3},' +
        '{"key_as_string":"2026-01-01T12:00:00.000Z","key":1767268800000,"doc_count":0},' +
        '{"key_as_string":"2026-01-02T00:00:00.000Z","key":1767312000000,"doc_count":1}]}}',
    );
  });

  test("metrics", async () => {
    const aggs = {
      avg: { avg: { field: "ms" } },
      sum: { sum: { field: "status" } },
      min: { min: { field: "at" } },
      max: { max: { field: "ms" } },
      count: { value_count: { field: "tags" } },
      services: { cardinality: { field: "service" } },
      none: { avg: { field: "unknown" } },
    };
    expect(await aggregated(store, aggs)).toBe(
      '{"avg":{"value":6.875},"sum":{"value":1304.0},"min":{"value":1.7672262E12,"value_as_string":"2026-01-01T00:10:00.000Z"},' +
        '"max":{"value":12.5},"count":{"value":4},"services":{"value":2},"none":{"value":null}}',
    );
  });

  test("nested aggregations, ordered by one of them", async () => {
    const { services } = await answered(store, {
      services: {
        terms: { field: "service", order: { ms: "asc" } },
        aggs: {
          ms: { avg: { field: "ms" } },
          days: {
            date_histogram: { field: "at", calendar_interval: "day" },
            aggs: { levels: { terms: { field: "level" } } },
          },
        },
      },
    });
    expect(services).toMatchObject({
      buckets: [
        {
          key: "search",
          ms: { value: 6.25 },
          days: {
            buckets: [
              { doc_count: 1, levels: { buckets: [{ key: "info", doc_count: 1 }] } },
              { doc_count: 1, levels: { buckets: [{ key: "warn", doc_count: 1 }] } },
            ],
          },
        },
        {
          key: "checkout",
          ms: { value: 7.5 },
          days: { buckets: [{ doc_count: 2, levels: { buckets: [{ key: "error" }, { key: "info" }] } }] },
        },
      ],
    });
  });

  test("only documents of the query are aggregated", async () => {
    const { levels } = await answered(
      store,
      { levels: { terms: { field: "level" } } },
      { predicate: sql`d.status = 200` },
    );
    expect(levels).toMatchObject({ buckets: [{ key: "info", doc_count: 2 }] });
  });

  test("the vendor refuses to aggregate on text", async () => {
    const error = await refused(store, { levels: { terms: { field: "level" } } }, { fidelity: "vendor" });
    expect(error.cause.type).toBe("search_phase_execution_exception");
    expect(error.rootCause?.reason).toContain("Fielddata is disabled on [level] in [logs]");
    expect(
      await aggregated(store, { l: { terms: { field: "level.keyword", size: 1 } } }, { fidelity: "vendor" }),
    ).toContain('"info"');
  });

  test("an unknown type is refused, with a suggestion", async () => {
    const error = await refused(store, { a: { term: { field: "level" } } });
    expect(error.message).toBe("Unknown aggregation type [term] did you mean [terms]?");
  });
});
