/** Queries of every clause that the twin serves, with values that fit their fields. */
import fc from "fast-check";
import { anyOf, list, maybe, member, someOf, text, words } from "../fuzz/text.ts";
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
  unmappedField,
} from "./documents.ts";

const boost = fc.constantFrom<unknown>(1, 2, 0.5, 0, "3");
/** Every form of Lucene's rule: numbers, percentages, conditions, and several of those. */
export const minimumShouldMatch = fc.constantFrom<unknown>(
  ...[0, 1, 2, 3, 9, -1, -2, -9, "0", "1", "+2", "-1"],
  ...["0%", "1%", "50%", "75%", "100%", "120%", "-1%", "-25%", "-40%", "-50%", "-100%", "33.3%"],
  ...["1<75%", "2<-25%", "2<1", "3<90%", "2<-25% 3<-3", "1<2 2<-50% 4<4", " 2 ", "1 < 50%"],
);
const fuzziness = fc.constantFrom<unknown>("AUTO", "auto", "AUTO:2,4", 0, 1, 2, "1", "2");
const operator = words("and or AND OR");
const rewrite = words(
  "constant_score scoring_boolean constant_score_boolean top_terms_2 top_terms_boost_3 top_terms_blended_freqs_2 constant_score_blended",
);
const analyzer = words("standard simple whitespace keyword stop english pattern");
const zeroTerms = words("none all");

const onField = (of: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>) => member(of, value);

const fuzzyOptions = {
  fuzziness,
  prefix_length: fc.constantFrom(0, 1, 3),
  max_expansions: fc.constantFrom(1, 2, 50),
  fuzzy_transpositions: fc.boolean(),
};

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

const fieldList = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: textField },
    { weight: 2, arbitrary: text`${textField}^${words("2 0.5 3")}` },
    { weight: 1, arbitrary: fc.oneof(keywordField, numberField, dateField, unmappedField) },
    { weight: 1, arbitrary: words("*e mess* t* level host *.keyword user.*") },
  ),
  { minLength: 1, maxLength: 3 },
);

const pattern = fc.oneof(words("err* *out ch?ckout *o* w*-1 * ? e*r web-* Err*"), queryWord);
const regexp = words("err.* [a-z]+ (a|b).* web-[0-9] web-<1-9> .*o+.* time(out)? @ ~abc e.{3}r er+or");
const flags = words("ALL NONE INTERVAL ANYSTRING|INTERVAL COMPLEMENT EMPTY");

const leaf: fc.Arbitrary<object> = fc.oneof(
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

const luceneTerm = fc.oneof(
  { weight: 5, arbitrary: queryWord },
  { weight: 2, arbitrary: text`"${phrase}"` },
  { weight: 1, arbitrary: text`"${phrase}"~${words("1 2 5")}` },
  { weight: 1, arbitrary: text`${queryWord}~${words("1 2")}` },
  { weight: 1, arbitrary: text`${queryWord}~` },
  { weight: 1, arbitrary: text`${queryWord}^${words("2 0.5 3")}` },
  { weight: 2, arbitrary: text`${fc.oneof(textField, keywordField)}:${queryWord}` },
  { weight: 1, arbitrary: text`${textField}:(${queryWord} ${words("OR AND")} ${queryWord})` },
  { weight: 1, arbitrary: text`${numberField}:${words(">=200 <5 >12 <=0 [200 404 200 {1")}` },
  {
    weight: 1,
    arbitrary: text`${numberField}:${fc.constantFrom("[200 TO 404]", "{0 TO 30]", "[* TO 5}", "200")}`,
  },
  {
    weight: 1,
    arbitrary: text`at:${fc.constantFrom("[2026-02-01 TO *]", ">=2026-02-03", '"2026-02-01"', "2026-02-01", "{* TO 2026-02-01}")}`,
  },
  {
    weight: 1,
    arbitrary: words("err* t?meout *out * title:p* level:* title:* *:* title:/e.*r/ /time.*/ ok:true"),
  },
  { weight: 1, arbitrary: text`_exists_:${anyField}` },
  { weight: 1, arbitrary: words('AND OR NOT && || ( ) "') },
);
const signed = text`${maybe(words("+ - ! NOT|").map((sign) => sign.replace("|", " ")))}${luceneTerm}`;
const group = text`(${list(signed, " ", { min: 1, max: 3 })})${maybe(words("^2 ^0.5"))}`;
export const lucene = list(
  fc.oneof(
    { weight: 5, arbitrary: signed },
    { weight: 1, arbitrary: group },
    { weight: 1, arbitrary: text`${signed} ${words("AND OR && ||")} ${signed}` },
  ),
  " ",
  { min: 1, max: 3 },
);

const queryString = fc
  .tuple(
    lucene,
    fc.option(
      fc.oneof(
        fc.record({ fields: fieldList }),
        fc.record({ default_field: fc.oneof(textField, words("* mess* level nope code")) }),
      ),
    ),
    someOf(
      {
        default_operator: operator,
        minimum_should_match: minimumShouldMatch,
        analyze_wildcard: fc.boolean(),
        allow_leading_wildcard: fc.boolean(),
        lenient: fc.boolean(),
        boost,
        phrase_slop: fc.constantFrom(0, 2),
        tie_breaker: fc.constantFrom(0, 0.5),
        type: words("best_fields most_fields cross_fields phrase"),
        fuzziness,
        rewrite,
        quote_field_suffix: words(".keyword .nope"),
        analyzer,
      },
      { max: 2 },
    ),
  )
  .map(([query, target, more]) => ({ query_string: { query, ...target, ...more } }));

const simpleTerm = fc.oneof(
  { weight: 5, arbitrary: queryWord },
  { weight: 1, arbitrary: text`"${phrase}"` },
  { weight: 1, arbitrary: text`"${phrase}"~${words("1 2")}` },
  { weight: 1, arbitrary: text`${queryWord}~${words("1 2")}` },
  { weight: 1, arbitrary: words("err* time* web*") },
  { weight: 1, arbitrary: text`(${queryWord} ${words("| + -")} ${queryWord})` },
);
const simpleQueryString = fc
  .tuple(
    list(text`${maybe(words("- +"))}${simpleTerm}${maybe(words("| +").map((sign) => ` ${sign}`))}`, " ", {
      min: 1,
      max: 4,
    }),
    fc.option(fieldList),
    someOf(
      {
        default_operator: operator,
        minimum_should_match: minimumShouldMatch,
        analyze_wildcard: fc.boolean(),
        lenient: fc.boolean(),
        boost,
        flags: words("ALL NONE AND|OR|PREFIX PHRASE NOT FUZZY|NEAR|SLOP ESCAPE|WHITESPACE PRECEDENCE"),
        quote_field_suffix: words(".keyword"),
        analyzer,
      },
      { max: 2 },
    ),
  )
  .map(([query, fields, more]) => ({
    simple_query_string: { query, ...(fields === null ? {} : { fields }), ...more },
  }));

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
