/** Aggregations of every type that the twin serves, over fields that they fit. */

import { anyOf, member, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { booleanField, dateField, keywordField, numberField, textField, unmappedField } from "./fields.ts";
import { query } from "./queries.ts";

const anyValueField = fc.oneof(
  { weight: 3, arbitrary: keywordField },
  { weight: 3, arbitrary: numberField },
  { weight: 2, arbitrary: dateField },
  { weight: 1, arbitrary: booleanField },
);
const rarelyWrong = (of: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 15, arbitrary: of }, { weight: 1, arbitrary: fc.oneof(unmappedField, textField) });
/** An object with a field, and any of these options. */
const fieldWith = (field: fc.Arbitrary<string>, options: Record<string, fc.Arbitrary<unknown>>) =>
  fc.tuple(rarelyWrong(field), anyOf(options)).map(([name, more]) => ({ field: name, ...more }));

const metric: fc.Arbitrary<object> = fc.oneof(
  {
    weight: 4,
    arbitrary: member(
      words("avg sum min max stats extended_stats"),
      fieldWith(fc.oneof(numberField, numberField, dateField, booleanField), {
        missing: fc.constantFrom(0, 5),
      }),
    ),
  },
  { weight: 2, arbitrary: member(words("value_count cardinality"), fieldWith(anyValueField, {})) },
  {
    weight: 1,
    arbitrary: fc.record({
      percentiles: fieldWith(numberField, {
        percents: fc.constantFrom([50], [1, 25, 99.9]),
        keyed: fc.boolean(),
        tdigest: fc.constant({ compression: 200 }),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      percentile_ranks: fieldWith(numberField, { keyed: fc.boolean() }).map((one) => ({
        ...one,
        values: [5, 30.5],
      })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      top_hits: anyOf({
        size: fc.constantFrom(1, 2),
        from: fc.constantFrom(0, 1),
        sort: fc.constantFrom<unknown>("at", [{ took: "desc" }, "at"], ["_score", "at"]),
        _source: fc.constantFrom<unknown>(false, "level", ["user.*"], { excludes: "message" }),
      }),
    }),
  },
);

const ratherMissing = fc.constantFrom<unknown>("none", 0, "2026-01-01");
const order = fc.oneof(
  member(words("_count _key"), words("asc desc")),
  fc.array(member(words("_count _key"), words("asc desc")), { minLength: 1, maxLength: 2 }),
);
const timeZone = words(
  "Asia/Kolkata America/New_York Europe/Berlin +01:00 -03:30 Z Australia/Lord_Howe Asia/Kathmandu",
);
const pattern = words("web.* err.* .*o.* web-<1-9> [a-m].* ada|bob");

const dateHistogram = fc
  .tuple(
    fc.oneof(
      fc.record({ calendar_interval: words("hour day week month quarter year 1d 1w 1M 1q 1y minute") }),
      fc.record({ fixed_interval: words("1h 6h 12h 1d 7d 90m 30d") }),
    ),
    anyOf({
      offset: words("+6h -1h +30m 1d"),
      time_zone: timeZone,
      min_doc_count: fc.constantFrom(1, 1, 1, 0, 3),
      keyed: fc.boolean(),
      order,
      format: words("yyyy-MM-dd epoch_millis yyyy-MM-dd'T'HH:mm:ssXXX"),
      missing: fc.constant("2026-02-01"),
      extended_bounds: fc.constant({ min: "2026-02-01", max: "2026-02-20" }),
      hard_bounds: fc.constant({ min: "2026-02-01", max: "2026-02-20" }),
    }),
  )
  .map(([interval, more]) => {
    // An hour in each of forty days, and nothing between: more buckets than need be read.
    const fine = JSON.stringify(interval).match(/hour|minute|1h|90m/) !== null;
    return { field: "at", ...interval, ...more, ...(fine ? { min_doc_count: 1 } : {}) };
  });

const histogram = fieldWith(numberField, {
  offset: fc.constantFrom(1, 2.5, -3),
  min_doc_count: fc.constantFrom(0, 1, 2),
  keyed: fc.boolean(),
  order,
  missing: fc.constant(7),
  extended_bounds: fc.constant({ min: -10, max: 60 }),
  hard_bounds: fc.constant({ min: 3, max: 47 }),
}).chain((one) => fc.constantFrom(10, 25, 7.5, 100).map((interval) => ({ ...one, interval })));

const terms = fieldWith(anyValueField, {
  size: fc.constantFrom(1, 2, 3, 5, 100),
  shard_size: fc.constantFrom(1, 5),
  order,
  min_doc_count: fc.constantFrom(0, 1, 2, 10),
  missing: ratherMissing,
  include: fc.oneof<fc.Arbitrary<unknown>[]>(
    pattern,
    fc.array(words("error info web-1 web-2"), { minLength: 1, maxLength: 2 }),
  ),
  exclude: fc.oneof<fc.Arbitrary<unknown>[]>(
    pattern,
    fc.array(words("error info web-1"), { minLength: 1, maxLength: 2 }),
  ),
  show_term_doc_count_error: fc.boolean(),
});

const source = fc.oneof(
  fc.record({ terms: fieldWith(anyValueField, { order: words("asc desc"), missing_bucket: fc.boolean() }) }),
  fc.record({
    histogram: fieldWith(numberField, { order: words("asc desc") }).map((one) => ({ ...one, interval: 20 })),
  }),
  fc.record({
    date_histogram: fc
      .tuple(
        fc.oneof(
          fc.record({ calendar_interval: words("day week month") }),
          fc.record({ fixed_interval: words("12h 7d") }),
        ),
        anyOf({
          order: words("asc desc"),
          time_zone: timeZone,
          // With one that leaves anything out the real one fails: it reads its own keys again.
          format: words("yyyy-MM-dd'T'HH:mm:ssXXX strict_date_optional_time"),
          offset: words("+6h"),
        }),
      )
      .map(([interval, more]) => ({ field: "at", ...interval, ...more })),
  }),
);
const composite = fc
  .tuple(fc.array(source, { minLength: 1, maxLength: 2 }), anyOf({ size: fc.constantFrom(1, 3, 1_000) }))
  .map(([sources, more]) => ({ sources: sources.map((one, number) => ({ [`s${number}`]: one })), ...more }));

const ranges = (value: fc.Arbitrary<unknown>) =>
  fc.array(anyOf<Record<string, unknown>>({ from: value, to: value, key: words("low high") }), {
    minLength: 1,
    maxLength: 3,
  });

interface Tree {
  aggs: object;
  below: object;
  one: object;
}
/** Pipelines over what stands beside them in a histogram of days. */
const pipelines = fc.dictionary(
  words("p q"),
  fc.oneof(
    fc.record({ cumulative_sum: fc.record({ buckets_path: words("m _count") }) }),
    fc.record({
      derivative: fc
        .tuple(words("m _count"), anyOf({ gap_policy: words("skip insert_zeros"), unit: words("1d 1h") }))
        .map(([buckets_path, more]) => ({ buckets_path, ...more })),
    }),
    fc.record({
      bucket_script: fc.record({
        buckets_path: fc.constant({ a: "m", n: "_count" }),
        script: words("params.a/params.n params.a+1 params.n*2"),
      }),
    }),
    fc.record({
      bucket_selector: fc.record({
        buckets_path: fc.constant({ n: "_count" }),
        script: words("params.n>1 params.n>=3"),
      }),
    }),
    fc.record({
      bucket_sort: anyOf({
        sort: fc.constantFrom<unknown>([{ m: "desc" }], [{ _count: "asc" }, "_key"], "_key"),
        size: fc.constantFrom(2, 5),
        from: fc.constantFrom(0, 1),
        gap_policy: words("skip insert_zeros"),
      }),
    }),
  ),
  { minKeys: 1, maxKeys: 2 },
);
const withPipelines = fc
  .tuple(dateHistogram, pipelines, words("avg sum min max"), numberField)
  .map(([{ keyed: _keyed, order: _order, ...of }, more, kind, field]) => ({
    date_histogram: { ...of, min_doc_count: 0, calendar_interval: undefined, fixed_interval: "2d" },
    aggs: { m: { [kind]: { field } }, ...more },
  }));
const siblings = member(
  words("avg_bucket sum_bucket min_bucket max_bucket stats_bucket"),
  fc.record({ buckets_path: words("a>m a>_count a._count a>nope") }),
).map((sibling) => ({
  a: { terms: { field: "level.keyword" }, aggs: { m: { avg: { field: "code" } } } },
  s: sibling,
}));

export const { aggs } = fc.letrec<Tree>((tie) => ({
  aggs: fc.oneof(
    { weight: 8, arbitrary: fc.dictionary(words("a b m"), tie("one"), { minKeys: 1, maxKeys: 2 }) },
    { weight: 1, arbitrary: withPipelines.map((one) => ({ a: one })) },
    { weight: 1, arbitrary: siblings },
  ),
  below: fc.dictionary(words("a b m"), tie("one"), { minKeys: 1, maxKeys: 2 }),
  one: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: metric },
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.oneof(
            { weight: 5, arbitrary: fc.record({ terms }) },
            { weight: 4, arbitrary: fc.record({ date_histogram: dateHistogram }) },
            { weight: 2, arbitrary: fc.record({ histogram }) },
            {
              weight: 2,
              arbitrary: fc.record({
                range: fc
                  .tuple(
                    rarelyWrong(numberField),
                    ranges(fc.constantFrom(0, 5, 12.5, 30, 200)),
                    anyOf({ keyed: fc.boolean() }),
                  )
                  .map(([field, list, more]) => ({ field, ranges: list, ...more })),
              }),
            },
            {
              weight: 1,
              arbitrary: fc.record({
                date_range: fc
                  .tuple(
                    ranges(fc.constantFrom("2026-02-01", "2026-02-10||/M", "2026-02-05T10:00:00Z")),
                    anyOf({ keyed: fc.boolean(), time_zone: timeZone, format: words("yyyy-MM-dd") }),
                  )
                  .map(([list, more]) => ({ field: "at", ranges: list, ...more })),
              }),
            },
            { weight: 1, arbitrary: fc.record({ filter: query }) },
            {
              weight: 1,
              arbitrary: fc.record({
                filters: fc
                  .tuple(
                    fc.oneof<fc.Arbitrary<unknown>[]>(
                      fc.dictionary(words("x y"), query, { minKeys: 1 }),
                      fc.array(query, { minLength: 1, maxLength: 2 }),
                    ),
                    anyOf({
                      other_bucket: fc.boolean(),
                      other_bucket_key: words("rest"),
                      keyed: fc.boolean(),
                    }),
                  )
                  .map(([filters, more]) => ({ filters, ...more })),
              }),
            },
            { weight: 1, arbitrary: fc.record({ missing: fieldWith(anyValueField, {}) }) },
            { weight: 1, arbitrary: fc.record({ global: fc.constant({}) }) },
            { weight: 2, arbitrary: fc.record({ composite }) },
          ),
          fc.option(tie("below")),
        )
        .map(([of, below]) => (below === null ? of : { ...of, aggs: below })),
    },
  ),
}));
