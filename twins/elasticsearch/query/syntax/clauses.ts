/** The clauses by name. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { readBool } from "./bool.ts";
import { readBoosting, readConstantScore, readDisMax, readNested } from "./compound.ts";
import { readFunctionScore } from "./function-score.ts";
import { readMatch } from "./match.ts";
import { readMatchAll, readMatchNone } from "./match-all.ts";
import { readMatchBoolPrefix, readMatchPhrase, readMatchPhrasePrefix } from "./match-phrase.ts";
import { readMultiMatch, readQueryString, readSimpleQueryString } from "./multi-field.ts";
import type { Grammar } from "./parser.ts";
import { readExists, readFuzzy, readPrefix, readRegexp, readWildcard } from "./patterns.ts";
import { readRange } from "./range.ts";
import { readTerm } from "./term.ts";
import { readIds, readTerms, readTermsSet } from "./terms.ts";

const readers: Grammar["readers"] = {
  bool: readBool,
  match: readMatch,
  match_all: readMatchAll,
  match_none: readMatchNone,
  match_bool_prefix: readMatchBoolPrefix,
  match_phrase: readMatchPhrase,
  match_phrase_prefix: readMatchPhrasePrefix,
  multi_match: readMultiMatch,
  prefix: readPrefix,
  query_string: readQueryString,
  range: readRange,
  regexp: readRegexp,
  simple_query_string: readSimpleQueryString,
  term: readTerm,
  terms: readTerms,
  terms_set: readTermsSet,
  wildcard: readWildcard,
  exists: readExists,
  fuzzy: readFuzzy,
  boosting: readBoosting,
  constant_score: readConstantScore,
  dis_max: readDisMax,
  function_score: readFunctionScore,
  nested: readNested,
  ids: readIds,
};

const specified: ReadonlySet<string> = new Set([
  "bool",
  "term",
  "terms",
  "match",
  "match_phrase",
  "match_all",
  "match_none",
  "range",
  "exists",
  "wildcard",
  "query_string",
]);

const unsupported = lookupTable<string>(
  Object.fromEntries([
    ...["span_near", "span_term", "span_or", "span_not", "span_first", "span_multi", "span_containing"].map(
      spans,
    ),
    ...["span_within", "span_field_masking", "field_masking_span", "span_gap", "intervals"].map(spans),
    ...["geo_bounding_box", "geo_distance", "geo_grid", "geo_polygon", "geo_shape", "shape"].map((name) => [
      name,
      "a log dataset has no geographic fields",
    ]),
    ...["knn", "sparse_vector", "text_expansion", "weighted_tokens", "semantic"].map((name) => [
      name,
      "vectors are not modelled",
    ]),
    ...["script", "script_score"].map((name) => [name, "scripts are not run"]),
    ...["has_child", "has_parent", "parent_id"].map((name) => [name, "a log dataset has no join fields"]),
    ...[
      "percolate",
      "more_like_this",
      "pinned",
      "rule",
      "rule_query",
      "distance_feature",
      "rank_feature",
    ].map((name) => [name, "it is not about events"]),
    ["combined_fields", "use multi_match with type cross_fields"],
    ["common", "the vendor removed it; use match"],
    ["wrapper", "write the query itself"],
  ]),
);

function spans(name: string): [string, string] {
  return [name, "use match_phrase for the positions of words"];
}

export const grammar: Grammar = { readers, specified, unsupported };
