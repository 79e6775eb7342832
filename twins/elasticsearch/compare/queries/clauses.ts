/** Clauses that stand on a field. */

import { anyOf, maybe, member, someOf, text, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import {
  anyField,
  dateField,
  dateValue,
  fieldAndValue,
  keywordField,
  keywordValue,
  numberField,
  numberValue,
  phrase,
  queryWord,
  textField,
} from "../fields.ts";
import {
  analyzer,
  boost,
  fieldList,
  fuzzyOptions,
  minimumShouldMatch,
  operator,
  rewrite,
  zeroTerms,
} from "./options.ts";

const onField = (of: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>) => member(of, value);

const match = someOf(
  {
    operator,
    minimum_should_match: minimumShouldMatch,
    boost,
    analyzer,
    zero_terms_query: zeroTerms,
    lenient: fc.boolean(),
    ...fuzzyOptions,
    fuzzy_rewrite: rewrite,
    auto_generate_synonyms_phrase_query: fc.boolean(),
  },
  { max: 3 },
).chain((options) => phrase.map((query) => ({ query, ...options })));

const shortOrLong = (name: string, value: fc.Arbitrary<[string, unknown]>, options: fc.Arbitrary<object>) =>
  fc.tuple(value, fc.option(options)).map(([[field, given], more]) => ({
    [field]: more === null ? given : { [name]: given, ...more },
  }));

const pattern = fc.oneof(words("err* *out ch?ckout *o* w*-1 * ? e*r web-* Err*"), queryWord);
const regexp = words("err.* [a-z]+ (a|b).* web-[0-9] web-<1-9> .*o+.* time(out)? @ ~abc e.{3}r er+or");
const flags = words("ALL NONE INTERVAL ANYSTRING|INTERVAL COMPLEMENT EMPTY");

export const leaf: fc.Arbitrary<object> = fc.oneof(
  { weight: 1, arbitrary: member(words("match_all match_none"), anyOf({ boost })) },
  {
    weight: 4,
    arbitrary: fc.record({
      term: shortOrLong("value", fieldAndValue, anyOf({ boost, case_insensitive: fc.boolean() })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.oneof(
          fc.tuple(textField, fc.array(queryWord, { maxLength: 3 })),
          fc.tuple(keywordField, fc.array(keywordValue, { maxLength: 3 })),
          fc.tuple(numberField, fc.array(numberValue, { maxLength: 3 })),
          fc.tuple(dateField, fc.array(dateValue, { maxLength: 2 })),
        ),
        anyOf({ boost }),
      )
      .map(([[field, values], more]) => ({ terms: { [field]: values, ...more } })),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      match: fc.oneof(
        onField(textField, fc.oneof(phrase, match)),
        shortOrLong("query", fieldAndValue, anyOf({ boost, operator, lenient: fc.boolean() })),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      match_phrase: onField(
        fc.oneof({ weight: 5, arbitrary: textField }, { weight: 1, arbitrary: anyField }),
        fc.oneof(
          phrase,
          anyOf({ slop: fc.constantFrom(0, 1, 2, 5), boost, analyzer, zero_terms_query: zeroTerms }).chain(
            (more) => phrase.map((query) => ({ query, ...more })),
          ),
        ),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      match_phrase_prefix: onField(
        textField,
        fc.oneof(
          phrase,
          fc
            .tuple(
              text`${maybe(text`${queryWord} `)}${words("err time che po w in")}`,
              anyOf({ slop: fc.constantFrom(0, 2), boost, max_expansions: fc.constantFrom(1, 2, 50) }),
            )
            .map(([query, more]) => ({ query, ...more })),
        ),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      match_bool_prefix: onField(
        textField,
        fc
          .tuple(
            text`${maybe(text`${phrase} `)}${words("err time che po w in error")}`,
            anyOf({ operator, minimum_should_match: minimumShouldMatch, boost, ...fuzzyOptions }),
          )
          .map(([query, more]) => ({ query, ...more })),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      multi_match: fc
        .tuple(
          phrase,
          fieldList,
          anyOf({
            type: words("best_fields most_fields cross_fields phrase phrase_prefix bool_prefix"),
            operator,
            minimum_should_match: minimumShouldMatch,
            tie_breaker: fc.constantFrom(0, 0.3, 1),
            boost,
            lenient: fc.boolean(),
            analyzer,
          }),
        )
        .map(([query, fields, more]) => ({ query, fields, ...more })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      range: fc
        .oneof(
          fc.tuple(numberField, numberValue, numberValue),
          fc.tuple(dateField, dateValue, dateValue),
          fc.tuple(keywordField, keywordValue, keywordValue),
          fc.tuple(textField, queryWord, queryWord),
        )
        .chain(([field, low, high]) =>
          anyOf<Record<string, unknown>>({
            gte: fc.constant(low),
            gt: fc.constant(low),
            lt: fc.constant(high),
            lte: fc.constant(high),
            boost,
            ...(field === "at" ? { time_zone: words("+02:00 Asia/Kolkata America/New_York Z") } : {}),
          }).map((bounds) => ({ [field]: bounds })),
        ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      exists: anyField.chain((field) => anyOf({ boost }).map((more) => ({ field, ...more }))),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ids: fc.record(
        { values: fc.array(words("d0 d1 d5 d70 nope"), { maxLength: 4 }), boost },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      prefix: shortOrLong(
        "value",
        fc.tuple(fc.oneof(textField, keywordField), words("err e web web- Err t z")),
        anyOf({ boost, case_insensitive: fc.boolean(), rewrite }),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      wildcard: shortOrLong(
        "value",
        fc.tuple(fc.oneof(textField, keywordField), pattern),
        anyOf({ boost, case_insensitive: fc.boolean(), rewrite }),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      regexp: shortOrLong(
        "value",
        fc.tuple(fc.oneof(textField, keywordField), regexp),
        anyOf({
          boost,
          case_insensitive: fc.boolean(),
          rewrite,
          flags,
          max_determinized_states: fc.constant(10_000),
        }),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      fuzzy: shortOrLong(
        "value",
        fc.tuple(fc.oneof(textField, keywordField), fc.oneof(queryWord, words("eror timeuot web-9 dbg"))),
        anyOf({ ...fuzzyOptions, transpositions: fc.boolean(), rewrite, boost }).map(
          ({ fuzzy_transpositions: _, ...more }) => more,
        ),
      ),
    }),
  },
);
