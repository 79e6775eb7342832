/** Lucene's syntax, of `query_string` and of `simple_query_string`. */

import { list, maybe, someOf, text, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { anyField, keywordField, numberField, phrase, queryWord, textField } from "../fields.ts";
import { analyzer, boost, fieldList, fuzziness, minimumShouldMatch, operator, rewrite } from "./options.ts";

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

export const queryString = fc
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
export const simpleQueryString = fc
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
