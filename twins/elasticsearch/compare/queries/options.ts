/** Options that several clauses share. */

import { text, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { dateField, keywordField, numberField, textField, unmappedField } from "../fields.ts";

export const boost = fc.constantFrom<unknown>(1, 2, 0.5, 0, "3");
/** Every form of Lucene's rule: numbers, percentages, conditions, and several of those. */
export const minimumShouldMatch = fc.constantFrom<unknown>(
  ...[0, 1, 2, 3, 9, -1, -2, -9, "0", "1", "+2", "-1"],
  ...["0%", "1%", "50%", "75%", "100%", "120%", "-1%", "-25%", "-40%", "-50%", "-100%", "33.3%"],
  ...["1<75%", "2<-25%", "2<1", "3<90%", "2<-25% 3<-3", "1<2 2<-50% 4<4", " 2 ", "1 < 50%"],
);
export const fuzziness = fc.constantFrom<unknown>("AUTO", "auto", "AUTO:2,4", 0, 1, 2, "1", "2");
export const operator = words("and or AND OR");
export const rewrite = words(
  "constant_score scoring_boolean constant_score_boolean top_terms_2 top_terms_boost_3 top_terms_blended_freqs_2 constant_score_blended",
);
/** Those that a server has without its module analysis-common. */
export const analyzer = words("standard simple whitespace keyword stop");
export const zeroTerms = words("none all");

export const fuzzyOptions = {
  fuzziness,
  prefix_length: fc.constantFrom(0, 1, 3),
  max_expansions: fc.constantFrom(1, 2, 50),
  fuzzy_transpositions: fc.boolean(),
};
export const fieldList = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: textField },
    { weight: 2, arbitrary: text`${textField}^${words("2 0.5 3")}` },
    { weight: 1, arbitrary: fc.oneof(keywordField, numberField, dateField, unmappedField) },
    { weight: 1, arbitrary: words("*e mess* t* level host *.keyword user.*") },
  ),
  { minLength: 1, maxLength: 3 },
);
