/** Queries of every clause that the twin serves, with values that fit their fields. */

import { anyOf, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { leaf } from "./queries/clauses.ts";
import { boost, minimumShouldMatch } from "./queries/options.ts";
import { queryString, simpleQueryString } from "./queries/query-strings.ts";

interface Tree {
  query: object;
  queries: unknown;
}
const weightFunction = fc.oneof(
  fc.record({ weight: fc.constantFrom(1, 2, 0.5) }),
  fc.record({
    field_value_factor: fc
      .tuple(
        words("code took user.age"),
        anyOf({
          factor: fc.constantFrom(1, 1.2, 2),
          modifier: words("none log1p log2p ln1p ln2p square sqrt reciprocal"),
        }),
      )
      .map(([field, more]) => ({ field, missing: 1, ...more })),
  }),
  fc.record({
    linear: fc.record({
      took: fc.record({ origin: fc.constantFrom(10, 50), scale: fc.constantFrom(5, 20) }),
    }),
  }),
  fc.record({
    gauss: fc.record({ at: fc.record({ origin: fc.constant("2026-02-05"), scale: words("1d 10d") }) }),
  }),
  fc.record({
    exp: fc.record({
      "user.age": fc.record({
        origin: fc.constant(30),
        scale: fc.constant(10),
        decay: fc.constantFrom(0.3, 0.5),
      }),
    }),
  }),
);

export const { query } = fc.letrec<Tree>((tie) => ({
  queries: fc.oneof(tie("query"), fc.array(tie("query"), { maxLength: 3 })),
  query: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 8, arbitrary: leaf },
    { weight: 2, arbitrary: queryString },
    { weight: 2, arbitrary: simpleQueryString },
    {
      weight: 5,
      arbitrary: fc.record({
        bool: anyOf({
          must: tie("queries"),
          should: tie("queries"),
          filter: tie("queries"),
          must_not: tie("queries"),
          minimum_should_match: minimumShouldMatch,
          boost,
        }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        constant_score: fc
          .tuple(tie("query"), anyOf({ boost }))
          .map(([filter, more]) => ({ filter, ...more })),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        dis_max: fc
          .tuple(
            fc.array(tie("query"), { minLength: 1, maxLength: 3 }),
            anyOf({ tie_breaker: fc.constantFrom(0, 0.3, 1), boost }),
          )
          .map(([queries, more]) => ({ queries, ...more })),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        boosting: fc
          .tuple(tie("query"), tie("query"), fc.constantFrom(0, 0.2, 1, 2))
          .map(([positive, negative, negative_boost]) => ({ positive, negative, negative_boost })),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        function_score: fc
          .tuple(
            tie("query"),
            fc.array(
              fc
                .tuple(weightFunction, fc.option(tie("query")), anyOf({ weight: fc.constantFrom(2, 0.5) }))
                .map(([one, filter, more]) => ({ ...one, ...more, ...(filter === null ? {} : { filter }) })),
              { minLength: 1, maxLength: 2 },
            ),
            anyOf({
              score_mode: words("multiply sum avg first max min"),
              boost_mode: words("multiply replace sum avg max min"),
              max_boost: fc.constantFrom(1, 5),
              min_score: fc.constantFrom(0.5, 2),
              boost,
            }),
          )
          .map(([of, functions, more]) => ({ query: of, functions, ...more })),
      }),
    },
  ),
}));
