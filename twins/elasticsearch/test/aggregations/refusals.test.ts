/** Errors of a real Elasticsearch 8.15.0 for the same requests: wording, position and wrapping. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ErrorCause } from "../../vendor/error.ts";
import { refused, storeOf } from "./support.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    { at: "2026-02-01T10:00:00Z", level: "info", code: 5, took: 1.5, ok: true },
    { at: "2026-02-03T10:00:00Z", level: "warn", code: 7, took: 2.5, ok: false },
  ]);
});
afterAll(() => store.close());

const vendor = { fidelity: "vendor" as const };

/** `type: reason` of the error and its causes, outermost first, with line and column where present. */
function chain(cause: ErrorCause | undefined): string[] {
  if (!cause) return [];
  const place = cause.line === undefined ? "" : ` at ${String(cause.line)}:${String(cause.col)}`;
  return [`${cause.type}: ${cause.reason}${place}`, ...chain(cause.caused_by)];
}

async function parseRefusal(aggregation: object): Promise<string[]> {
  return chain((await refused(store, { a: aggregation }, vendor)).cause);
}

const content = (reason: string) => `x_content_parse_exception: ${reason}`;
const argument = (reason: string) => `illegal_argument_exception: ${reason}`;
const number = (text: string) => `number_format_exception: For input string: "${text}"`;

/** Syntax errors. In `{"aggs":{"a":…}}` the aggregation begins behind 13 characters. */
describe("while the request is parsed", () => {
  test.each<[object, string[]]>([
    [{}, ["parsing_exception: Missing definition for aggregation [a] at 1:15"]],
    [
      { term: {} },
      [
        "parsing_exception: Unknown aggregation type [term] did you mean [terms]? at 1:22",
        "named_object_not_found_exception: [1:22] unknown field [term]",
      ],
    ],
    [
      { terms: 5 },
      ["parsing_exception: Expected [START_OBJECT] under [terms], but got a [VALUE_NUMBER] in [a] at 1:23"],
    ],
    [{ avg: {} }, [argument("Required one of fields [field, script], but none were specified. ")]],
    [{ terms: { fields: "code" } }, [content("[1:24] [terms] unknown field [fields] did you mean [field]?")]],
    [
      { terms: { field: ["code"] } },
      [content("[1:32] [terms] field doesn't support values of type: START_ARRAY")],
    ],
    [
      { terms: { field: "code", size: "x" } },
      [content("[1:46] [terms] failed to parse field [size]"), number("x")],
    ],
    [
      { terms: { field: "code", size: -1 } },
      [
        content("[1:46] [terms] failed to parse field [size]"),
        argument("[size] must be greater than 0. Found [-1] in [a]"),
      ],
    ],
    [
      { terms: { field: "code", order: {} } },
      [
        content("[1:48] [terms] failed to parse field [order]"),
        "parsing_exception: Must specify at least one field for [order] at 1:48",
      ],
    ],
    [
      { terms: { field: "level.keyword", include: { partition: 0 } } },
      [
        content("[1:72] [terms] failed to parse field [include]"),
        argument("Missing [num_partitions] parameter for partition-based include"),
      ],
    ],
    [
      { terms: { field: "level.keyword", include: [5, {}] } },
      [
        content("[1:61] [terms] failed to parse field [include]"),
        "parse_exception: Array elements in include/exclude clauses should be string values",
      ],
    ],
    [
      { date_histogram: { field: "at", fixed_interval: "1d", calendar_interval: "day" } },
      [
        content("[1:88] [date_histogram] failed to parse field [calendar_interval]"),
        argument("Cannot use [calendar_interval] with [fixed_interval] configuration option."),
      ],
    ],
    [
      { date_histogram: { field: "at", fixed_interval: "1d", extended_bounds: { x: 1 } } },
      [
        content("[1:91] [date_histogram] failed to parse field [extended_bounds]"),
        content("[1:87] [bounds] unknown field [x]"),
      ],
    ],
    [
      { range: { field: "code", ranges: [5] } },
      [
        content("[1:50] [range] failed to parse field [ranges]"),
        content("[1:50] [range] Expected START_OBJECT but was: END_ARRAY"),
      ],
    ],
    [
      { percentiles: { field: "code", percents: [5, 5] } },
      [
        content("Failed to build [percentiles] after last required field arrived"),
        argument("percent [5.0] has been specified twice: [a]"),
      ],
    ],
    [
      { composite: { sources: [{ s: { terms: { field: "code", x: 1 } } }] } },
      [
        content("[1:73] [composite] failed to parse field [sources]"),
        content("[1:69] [terms] unknown field [x]"),
      ],
    ],
    [
      { composite: { sources: { s: "terms" } } },
      [
        content("[1:43] [composite] failed to parse field [sources]"),
        "parsing_exception: Failed to parse object: expecting token of type [START_OBJECT] but found [VALUE_STRING] at 1:43",
      ],
    ],
    [
      { composite: { sources: [{ s: { terms: { field: "code" } }, t: {} }] } },
      [
        content("[1:76] [composite] failed to parse field [sources]"),
        "parsing_exception: Failed to parse object: expecting token of type [FIELD_NAME] but found [END_OBJECT] at 1:76",
      ],
    ],
    [
      { composite: { sources: [{ s: { terms: { field: "code" }, x: {} } }] } },
      [
        content("[1:75] [composite] failed to parse field [sources]"),
        "illegal_state_exception: expected value but got [END_OBJECT]",
      ],
    ],
    [
      { terms: { field: "code", order: [{ _key: "asc" }, []] } },
      [
        content("[1:63] [terms] failed to parse field [order]"),
        "illegal_state_exception: expected value but got [START_ARRAY]",
      ],
    ],
    [
      { avg: { valueOf: "code" } },
      [content("[1:22] [avg] unknown field [valueOf] did you mean [valueType]?")],
    ],
    [
      { composite: { sources: [] } },
      [
        content("[1:39] [composite] failed to parse field [sources]"),
        content("Failed to build [composite] after last required field arrived"),
        argument("Composite [sources] cannot be null or empty"),
      ],
    ],
    [
      { filters: { filters: 5 } },
      ["parsing_exception: Unknown key for a VALUE_NUMBER in [a]: [filters]. at 1:36"],
    ],
    [
      { global: { x: 1 } },
      [
        "parsing_exception: Expected [FIELD_NAME] under a [START_OBJECT], but got a [VALUE_NUMBER] in [a] at 1:29",
      ],
    ],
    [{ top_hits: { query: {} } }, ["parsing_exception: Unknown key for a START_OBJECT in [query]. at 1:35"]],
    [
      { avg_bucket: {} },
      ["parsing_exception: Missing required field [buckets_path] for aggregation [a] at 1:29"],
    ],
    [
      { avg_bucket: { buckets_path: 5 } },
      ["parsing_exception: Unexpected token VALUE_NUMBER [buckets_path] in [a] at 1:44"],
    ],
  ])("%j", async (aggregation, told) => {
    expect(await parseRefusal(aggregation)).toEqual(told);
  });

  test("the root cause is the innermost parse error", async () => {
    const bounds = { date_histogram: { field: "at", fixed_interval: "1d", extended_bounds: { x: 1 } } };
    const { rootCause } = await refused(store, { a: bounds }, vendor);
    expect(rootCause).toEqual({
      type: "x_content_parse_exception",
      reason: "[1:87] [bounds] unknown field [x]",
    });
  });
});

/** Which of several errors is reported: all aggregations are built, outermost first, before the first one is created. */
describe("on a shard", () => {
  const numeric = { terms: { field: "code", include: "x" } };
  const refusesPattern = (name: string) =>
    `Aggregation [${name}] cannot support regular expression style include/exclude settings as they can only be applied to string fields. Use an array of numeric values for include/exclude clauses used to filter numeric fields`;
  const text = { avg: { field: "level" } };
  const fielddata = /^Fielddata is disabled on \[level\]/;
  const inTerms = (terms: object, aggs: object) => ({ b: { terms: { field: "code", ...terms }, aggs } });
  const composite = { composite: { sources: [{ s: { terms: { field: "level" } } }] } };

  test.each<[object, string, string | RegExp]>([
    [
      { b: { avg: { field: "level.keyword" } } },
      "illegal_argument_exception",
      /^Field \[level.keyword\] of type \[keyword\] is not supported for aggregation \[avg\]/,
    ],
    [{ b: numeric, c: text }, "illegal_argument_exception", fielddata],
    [inTerms({}, { b: numeric, a: { global: {} } }), "illegal_argument_exception", refusesPattern("b")],
    [inTerms({ include: "x" }, { a: { global: {} } }), "illegal_argument_exception", refusesPattern("b")],
    [inTerms({ missing: "x" }, { a: composite }), "number_format_exception", 'For input string: "x"'],
    [
      inTerms({ order: { x: "asc" } }, { a: composite }),
      "illegal_argument_exception",
      "[composite] aggregation cannot be used with a parent aggregation of type: [TermsAggregatorFactory]",
    ],
    [inTerms({ order: { x: "asc" } }, { b: numeric }), "illegal_argument_exception", refusesPattern("b")],
    [
      { b: { histogram: { field: "code" } } },
      "illegal_argument_exception",
      "interval must be positive, got: 0.0",
    ],
    [
      { b: { date_histogram: { field: "at", extended_bounds: { min: "x" } } } },
      "illegal_argument_exception",
      "Invalid interval specified, must be non-null and non-empty",
    ],
    [
      { b: { terms: { field: "ok", missing: "x" } } },
      "illegal_argument_exception",
      "Cannot parse boolean [x], expected either [true] or [false]",
    ],
    [
      inTerms({ order: { x: "asc" } }, {}),
      "invalid_path",
      "Invalid aggregation order path [x]. The provided aggregation [x] either does not exist, or is a pipeline aggregation and cannot be used to sort the buckets.",
    ],
    [
      { b: { composite: { sources: [{ s: { terms: { field: "code" } } }], after: { s: "x" } } } },
      "parse_exception",
      'Cannot set after key in the composite aggregation [b] - incompatible value in the position 0: For input string: "x"',
    ],
  ])("%j", async (aggs, type, reason) => {
    const { cause, rootCause } = await refused(store, aggs, vendor);
    expect(cause).toMatchObject({ type: "search_phase_execution_exception", reason: "all shards failed" });
    expect(rootCause?.type).toBe(type);
    expect(rootCause?.reason).toMatch(reason);
  });

  test("the vendor's own errors are not repeated as the cause of the whole", async () => {
    const own = await refused(store, inTerms({ order: { x: "asc" } }, {}), vendor);
    expect(own.cause.caused_by).toBeUndefined();
    const java = await refused(store, inTerms({ missing: "x" }, {}), vendor);
    expect(java.cause.caused_by).toMatchObject({ type: "number_format_exception" });
  });
});

test("pipelines are checked after parsing and before any shard: each level reports its own problems", async () => {
  const aggs = {
    a: { avg_bucket: { buckets_path: "x" } },
    b: { avg_bucket: { buckets_path: "y" } },
    c: { terms: { field: "level" }, aggs: { a: { cumulative_sum: { buckets_path: "x" } } } },
    d: { avg: { field: "code" } },
    e: { max_bucket: { buckets_path: "d" } },
  };
  const { cause } = await refused(store, aggs, vendor);
  expect(chain(cause)).toEqual([
    "action_request_validation_exception: Validation Failed: 1: No aggregation found for path [x];2: No aggregation found for path [x];",
  ]);
  const sibling = await refused(store, { d: aggs.d, e: aggs.e }, vendor);
  expect(sibling.cause.reason).toContain(
    "found :org.elasticsearch.search.aggregations.metrics.AvgAggregationBuilder for buckets path: d;",
  );
});

/** The innermost cause, in the words of a real 8.15.0. */
test.each([
  ["yyyy-MM-dd'T'HH:mm:ssXXX", "2026-02-01", "Text '2026-02-01' could not be parsed at index 10"],
  [
    "yyyy-MM-dd",
    "2026-02-05T10:00:00Z",
    "Text '2026-02-05T10:00:00Z' could not be parsed, unparsed text found at index 10",
  ],
  ["epoch_millis", "2026-02-01", "Failed to parse with all enclosed parsers"],
])("a date that is not of the format %s says how far it is", async (format, to, reason) => {
  const { cause } = await refused(
    store,
    { a: { date_range: { field: "at", format, ranges: [{ to }] } } },
    vendor,
  );
  expect(JSON.stringify(cause.failed_shards)).toContain(JSON.stringify(reason));
});
