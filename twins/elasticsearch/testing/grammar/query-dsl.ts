/** Query DSL: search bodies of every clause and aggregation that is served, and of some that are not. */

import {
  field,
  keywordField,
  numberField,
  phrase,
  textField,
  time,
  timeField,
} from "@offhook/platform/testing/fuzz/fields";
import {
  anyOf,
  hostileString,
  hostileValue,
  list,
  maybe,
  member,
  text,
  words,
} from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";

const json = (make: fc.Arbitrary<object>): fc.Arbitrary<object> => make;
const number = fc.constantFrom<unknown>(0, 1, 2, 5, 10, -1, 0.5, 1e9, "3", null);
const boost = fc.constantFrom<unknown>(1, 2, 0.5, 0, -1, "2");
const fuzziness = fc.constantFrom<unknown>("AUTO", "AUTO:3,6", 0, 1, 2, 3, "x");
const minimum = fc.constantFrom<unknown>(0, 1, 2, -1, "75%", "-40%", "2<75%", "3<-25% 9<-3", "", "x", 1e9);
const fields = fc.array(
  fc.oneof(field, text`${textField}^${words("2 0.5 0 -1 x")}`, words("* mess* error.*")),
  { maxLength: 3 },
);

const luceneTerm = fc.oneof(
  phrase,
  text`"${phrase}"`,
  text`"${phrase}"~${words("1 3 x 99999")}`,
  text`${phrase}~${words("1 2 0.5 3")}`,
  text`${phrase}^${words("2 0 -1 x")}`,
  text`${field}:${phrase}`,
  text`${field}:(${phrase} OR ${phrase})`,
  text`${field}:[${time} TO ${words("* now 2026-01-31 5")}]`,
  text`${numberField}:${words(">=200 <5 [200 {1 /2../ >x")}`,
  text`/${words("err.* [a-z]+ (a|b){2} a( (a*)*")}/`,
  text`_exists_:${field}`,
  text`${words('+ - ! NOT ( ) [ ] { } " ~ ^ : \\ / && || * ?')}${phrase}`,
);
export const lucene = list(luceneTerm, " ", { max: 4 }).chain((first) =>
  fc.oneof(
    fc.constant(first),
    text`${fc.constant(first)} ${words("AND OR NOT && ||")} ${luceneTerm}`,
    text`(${fc.constant(first)})${maybe(words("^2 ~1 )"))}`,
  ),
);

const onField = (of: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>) => member(of, value);

const match = fc.oneof(
  phrase,
  anyOf({
    query: phrase,
    operator: words("and or AND xor"),
    fuzziness,
    minimum_should_match: minimum,
    boost,
  }).chain((options) =>
    anyOf({
      analyzer: words("standard english simple whitespace keyword nope"),
      zero_terms_query: words("all none x"),
      prefix_length: number,
      max_expansions: number,
      slop: number,
      lenient: fc.boolean(),
    }).map((more) => ({ ...options, ...more })),
  ),
);

const leaf: fc.Arbitrary<object> = fc.oneof(
  json(member(words("match_all match_none"), anyOf({ boost }))),
  member(words("term prefix wildcard regexp fuzzy"), onField(field, fc.oneof(phrase, number))),
  member(
    words("term prefix wildcard regexp fuzzy"),
    onField(
      field,
      anyOf({
        value: fc.oneof(phrase, number),
        boost,
        case_insensitive: fc.boolean(),
        rewrite: words("constant_score top_terms_2 scoring_boolean x"),
        fuzziness,
        flags: words("ALL NONE INTERVAL|COMPLEMENT X"),
      }),
    ),
  ),
  member(fc.constant("terms"), onField(field, fc.array(fc.oneof(phrase, number), { maxLength: 4 }))),
  member(words("match match_phrase match_phrase_prefix match_bool_prefix"), onField(field, match)),
  member(
    words("multi_match query_string simple_query_string"),
    anyOf({
      query: fc.oneof(lucene, phrase),
      fields,
      type: words("best_fields most_fields cross_fields phrase phrase_prefix bool_prefix x"),
      default_operator: words("and or"),
      default_field: field,
      analyze_wildcard: fc.boolean(),
      tie_breaker: number,
      minimum_should_match: minimum,
      phrase_slop: number,
      fuzziness,
      flags: words("ALL AND|OR|PREFIX NONE X"),
      lenient: fc.boolean(),
    }),
  ),
  member(
    fc.constant("range"),
    onField(
      field,
      anyOf({
        gte: fc.oneof<fc.Arbitrary<unknown>[]>(time, number),
        gt: fc.oneof<fc.Arbitrary<unknown>[]>(time, number),
        lt: fc.oneof<fc.Arbitrary<unknown>[]>(time, number),
        lte: fc.oneof<fc.Arbitrary<unknown>[]>(time, number),
        format: words("epoch_millis yyyy-MM-dd strict_date_optional_time x"),
        time_zone: words("+02:00 Asia/Kolkata Nope/Zone Z"),
        relation: words("within intersects x"),
        boost,
      }),
    ),
  ),
  member(fc.constant("exists"), anyOf({ field })),
  member(fc.constant("ids"), anyOf({ values: fc.array(phrase, { maxLength: 3 }) })),
  member(
    words("span_term span_near knn script geo_distance more_like_this nested_x intervals percolate"),
    onField(field, hostileValue),
  ),
);

interface Tree {
  query: object;
  queries: unknown;
}
export const { query } = fc.letrec<Tree>((tie) => ({
  queries: fc.oneof(tie("query"), fc.array(tie("query"), { maxLength: 3 })),
  query: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 6, arbitrary: leaf },
    {
      weight: 3,
      arbitrary: member(
        fc.constant("bool"),
        anyOf({
          must: tie("queries"),
          should: tie("queries"),
          filter: tie("queries"),
          must_not: tie("queries"),
          minimum_should_match: minimum,
          boost,
        }),
      ),
    },
    { weight: 1, arbitrary: fc.record({ constant_score: anyOf({ filter: tie("query"), boost }) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        dis_max: anyOf({ queries: fc.array(tie("query"), { maxLength: 3 }), tie_breaker: number }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        boosting: anyOf({ positive: tie("query"), negative: tie("query"), negative_boost: number }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        function_score: anyOf({
          query: tie("query"),
          weight: number,
          functions: fc.array(
            anyOf({ filter: tie("query"), weight: number, random_score: anyOf({ seed: number }) }),
            {
              maxLength: 2,
            },
          ),
          score_mode: words("sum multiply avg first x"),
          boost_mode: words("replace sum x"),
          field_value_factor: anyOf({
            field,
            factor: number,
            modifier: words("log1p ln square x"),
            missing: number,
          }),
          gauss: onField(field, anyOf({ origin: time, scale: words("1d 10 x"), decay: number })),
        }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ nested: anyOf({ path: field, query: tie("query") }) }) },
  ),
}));

const order = fc.oneof(
  member(words("_count _key m nope _term m.value"), words("asc desc x")),
  fc.array(member(words("_count _key m"), words("asc desc")), { maxLength: 2 }),
);
const include = fc.oneof<fc.Arbitrary<unknown>[]>(
  words("check.* web-<1-9> [ (a*)*"),
  fc.array(phrase, { maxLength: 2 }),
  fc.record({ partition: number, num_partitions: number }),
);
const interval = words("1h 30m 1d minute month quarter 1M 90x 0s -1h 1.5h 400d");
const metric = fc.oneof(
  member(
    words("avg sum min max cardinality value_count stats extended_stats missing median_absolute_deviation"),
    anyOf({
      field,
      missing: fc.oneof<fc.Arbitrary<unknown>[]>(number, phrase),
      precision_threshold: number,
      sigma: number,
    }),
  ),
  member(
    words("percentiles percentile_ranks"),
    anyOf({
      field,
      percents: fc.array(number, { maxLength: 3 }),
      values: fc.array(number, { maxLength: 2 }),
      keyed: fc.boolean(),
    }),
  ),
  fc.record({ top_hits: anyOf({ size: number, from: number, sort: field, _source: field }) }),
  member(
    words(
      "avg_bucket sum_bucket derivative cumulative_sum moving_fn bucket_script bucket_selector bucket_sort",
    ),
    anyOf({
      buckets_path: fc.oneof<fc.Arbitrary<unknown>[]>(
        words("_count a>_count a>m m a.b nope m.value"),
        fc.record({ c: words("_count m") }),
      ),
      script: words("params.c*2 params.c>1 params.d ( 1/0"),
      gap_policy: words("skip insert_zeros x"),
      window: number,
      sort: fc.array(member(words("_count m"), words("asc desc"))),
      size: number,
    }),
  ),
);
interface AggregationTree {
  aggs: object;
  one: object;
}
export const { aggs } = fc.letrec<AggregationTree>((tie) => ({
  aggs: fc.dictionary(fc.oneof({ weight: 6, arbitrary: words("a b m") }, hostileString), tie("one"), {
    minKeys: 1,
    maxKeys: 2,
  }),
  one: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 3, arbitrary: metric },
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          fc.oneof(
            member(
              words("terms rare_terms significant_terms multi_terms"),
              anyOf({
                field,
                size: number,
                order,
                include,
                exclude: include,
                min_doc_count: number,
                missing: phrase,
                shard_size: number,
                terms: fc.array(fc.record({ field })),
              }),
            ),
            member(
              words("date_histogram histogram auto_date_histogram"),
              anyOf({
                field: fc.oneof(timeField, numberField, field),
                calendar_interval: interval,
                fixed_interval: interval,
                interval: number,
                buckets: number,
                offset: words("+30m -1h x 5"),
                time_zone: words("Asia/Kolkata -03:30 America/New_York Nope"),
                min_doc_count: fc.constantFrom(0, 1, 5),
                extended_bounds: fc.record({ min: time, max: time }),
                hard_bounds: fc.record({ min: number, max: number }),
                format: words("yyyy-MM-dd epoch_second [[["),
                keyed: fc.boolean(),
                order,
              }),
            ),
            member(
              words("range date_range ip_range"),
              anyOf({
                field,
                ranges: fc.array(
                  anyOf({ from: fc.oneof<fc.Arbitrary<unknown>[]>(number, time), to: number, key: phrase }),
                  {
                    maxLength: 3,
                  },
                ),
                keyed: fc.boolean(),
              }),
            ),
            fc.record({ filter: query }),
            fc.record({
              filters: anyOf({
                filters: fc.oneof(fc.dictionary(words("x y"), query), fc.array(query, { maxLength: 2 })),
                other_bucket_key: phrase,
              }),
            }),
            fc.record({
              composite: anyOf({
                size: number,
                sources: fc.array(
                  member(words("s t"), fc.record({ terms: fc.record({ field: keywordField }) })),
                  {
                    maxLength: 2,
                  },
                ),
                after: fc.dictionary(words("s t"), hostileValue),
              }),
            }),
            fc.record({ global: fc.constant({}) }),
            fc.record({ nested: fc.record({ path: field }) }),
          ),
          fc.option(tie("aggs"), { nil: undefined }),
        )
        .map(([of, below]) => (below === undefined ? of : { ...of, aggs: below })),
    },
  ),
}));

const sort = fc.array(
  fc.oneof(
    field,
    member(field, words("asc desc x")),
    member(
      field,
      anyOf({
        order: words("asc desc"),
        missing: words("_last _first x"),
        mode: words("min max avg"),
        unmapped_type: words("long x"),
      }),
    ),
  ),
  { maxLength: 3 },
);
const source = fc.oneof<fc.Arbitrary<unknown>[]>(
  fc.boolean(),
  field,
  fc.array(field, { maxLength: 2 }),
  anyOf({ includes: field, excludes: field }),
);

/** A body of `_search`. */
export const searchBody = fc
  .tuple(
    anyOf({ query, aggs, size: fc.constantFrom<unknown>(0, 1, 3, 10, -1, 10_001, "2", null) }),
    anyOf({
      from: number,
      sort,
      _source: source,
      fields: fc.array(fc.oneof(field, fc.record({ field, format: words("epoch_millis x") })), {
        maxLength: 2,
      }),
      docvalue_fields: fc.array(field, { maxLength: 2 }),
      stored_fields: fc.oneof<fc.Arbitrary<unknown>[]>(field, fc.array(field, { maxLength: 2 })),
      highlight: anyOf({
        fields: fc.dictionary(field, fc.constant({})),
        number_of_fragments: number,
        type: words("unified plain x"),
      }),
      collapse: anyOf({ field }),
      search_after: fc.array(fc.oneof<fc.Arbitrary<unknown>[]>(number, time), { maxLength: 2 }),
      post_filter: query,
      track_total_hits: fc.constantFrom<unknown>(true, false, 5, -1, "x"),
      min_score: number,
      timeout: words("1s 0 -1 x"),
      suggest: fc.constant({ s: { text: "chekout", term: { field: "message" } } }),
      explain: fc.boolean(),
      version: fc.boolean(),
      pit: fc.record({ id: phrase }),
      slice: fc.record({ id: number, max: number }),
    }),
  )
  // Every member of the second at once is refused for its first bad one.
  .chain(([main, rest]) => {
    const members = Object.entries(rest);
    const some = fc.subarray(members, { maxLength: Math.min(3, members.length) });
    return some.map((chosen) => ({ ...main, ...Object.fromEntries(chosen) }));
  });
