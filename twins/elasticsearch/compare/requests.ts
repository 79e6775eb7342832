/** The requests that are compared, by what they are about. */

import { mutate } from "@offhook/platform/testing/fuzz/mutation";
import type { FuzzRequest } from "@offhook/platform/testing/fuzz/request";
import { anyOf, member, someOf, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { aggs } from "./aggregations.ts";
import {
  anyField,
  booleanField,
  dateField,
  keywordField,
  keywordValue,
  numberField,
  numberValue,
  textField,
  unmappedField,
} from "./fields.ts";
import { indices } from "./indices.ts";
import { lucene } from "./queries/query-strings.ts";
import { query } from "./queries.ts";

/** What is compared under one name; `--only` chooses by it. */
export interface Subject {
  name: string;
  requests: fc.Arbitrary<FuzzRequest>;
}

const sortable = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(keywordField, numberField, dateField, booleanField) },
  { weight: 1, arbitrary: words("_score _doc") },
  { weight: 1, arbitrary: fc.oneof(textField, unmappedField) },
);
const sortKey = fc.oneof<fc.Arbitrary<unknown>[]>(
  sortable,
  member(sortable, words("asc desc")),
  member(
    fc.oneof(keywordField, numberField, dateField, booleanField, unmappedField),
    anyOf({
      order: words("asc desc"),
      missing: fc.constantFrom<unknown>("_last", "_first"),
      mode: words("min max avg sum median"),
      unmapped_type: words("long keyword date"),
      format: words("strict_date_optional_time"),
    }),
  ),
);
/** A key with a value of its kind that pages go on behind. */
const keyAndValue: fc.Arbitrary<[key: string, value: unknown]> = fc.oneof(
  fc.tuple(keywordField, fc.oneof<fc.Arbitrary<unknown>[]>(keywordValue, fc.constant(null))),
  fc.tuple(numberField, numberValue),
  fc.tuple(
    fc.constant("at"),
    fc.constantFrom<unknown>(1_769_904_000_000, "2026-02-01", "2026-02-01T12:00:00Z"),
  ),
  fc.tuple(booleanField, fc.boolean()),
  fc.tuple(fc.constant("_score"), fc.constantFrom<unknown>(1, 0.5, "2.5")),
);
/** A page behind the last hit of another; rarely of another order. */
const following = fc
  .tuple(
    fc.array(fc.tuple(keyAndValue, words("asc desc")), { minLength: 1, maxLength: 3 }),
    fc.integer({ min: 0, max: 15 }),
  )
  .map(([keys, mistake]) => ({
    sort: keys.map(([[name], order]) => ({ [name]: order })),
    search_after: keys.map(([[, value]]) => value).slice(mistake === 0 ? 1 : 0),
  }));
const highlightOptions = {
  number_of_fragments: fc.constantFrom(0, 1, 3),
  fragment_size: fc.constantFrom(10, 18, 40, 1_000),
  no_match_size: fc.constantFrom(0, 12, 200),
  require_field_match: fc.boolean(),
  order: words("score none"),
};
const highlight = fc
  .tuple(
    fc.dictionary(
      fc.oneof(textField, textField, keywordField, words("* title* *.keyword")),
      anyOf<Record<string, unknown>>(highlightOptions),
      { minKeys: 1, maxKeys: 2 },
    ),
    anyOf<Record<string, unknown>>({
      ...highlightOptions,
      encoder: words("html default"),
      tags_schema: words("styled"),
    }),
  )
  .map(([fields, shared]) => ({ ...shared, fields }));
const sort = fc.oneof(sortKey, fc.array(sortKey, { minLength: 1, maxLength: 3 }));
const sourceNames = words("message user user.* *.name level tags us* nope at *");
const source = fc.oneof<fc.Arbitrary<unknown>[]>(
  fc.boolean(),
  sourceNames,
  fc.array(sourceNames, { maxLength: 2 }),
  anyOf<Record<string, unknown>>({
    includes: fc.array(sourceNames, { maxLength: 2 }),
    excludes: fc.oneof<fc.Arbitrary<unknown>[]>(sourceNames, fc.array(sourceNames, { maxLength: 2 })),
  }),
);
const fieldPattern = fc.oneof(anyField, words("* user.* us* le* *.keyword"));

/** Size, order and contents of a page of hits. */
const pageMembers = {
  from: fc.constantFrom<unknown>(0, 1, 5, 200, 9_999, "2"),
  size: fc.constantFrom<unknown>(0, 1, 3, 20, 200, 10_001, "5"),
  sort,
  _source: source,
  fields: fc.array(
    fc.oneof<fc.Arbitrary<unknown>[]>(
      fieldPattern,
      dateField.map((field) => ({ field, format: "yyyy-MM-dd" })),
    ),
    { minLength: 1, maxLength: 2 },
  ),
  docvalue_fields: fc.array(
    fc.oneof<fc.Arbitrary<unknown>[]>(
      fc.oneof(keywordField, numberField, dateField, booleanField),
      dateField.map((field) => ({ field, format: "epoch_millis" })),
    ),
    { minLength: 1, maxLength: 2 },
  ),
  track_total_hits: fc.constantFrom<unknown>(true, false, 5, 1_000),
  track_scores: fc.boolean(),
  min_score: fc.constantFrom(0.1, 1, 2),
  post_filter: query,
  version: fc.boolean(),
  collapse: fc.oneof(keywordField, numberField).map((field) => ({ field })),
};

const index = fc.constantFrom(...Object.keys(indices));
const searchOf = (body: fc.Arbitrary<unknown>, path = "_search"): fc.Arbitrary<FuzzRequest> =>
  fc.tuple(index, body).map(([name, json]) => ({
    method: "POST",
    path: `/${name}/${path}`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(json),
  }));

const everyHit = { size: 200 };
const queries = searchOf(query.map((one) => ({ query: one, ...everyHit, _source: false })));
const urls = fc
  .tuple(
    index,
    lucene,
    anyOf({
      df: textField,
      default_operator: words("AND OR"),
      lenient: words("true false"),
      size: words("0 3"),
      analyze_wildcard: words("true"),
      sort: words("at:desc level.keyword took:asc,at"),
    }),
  )
  .map(([name, q, more]) => ({
    method: "GET",
    path: `/${name}/_search?${new URLSearchParams({ q, size: "200", _source: "false", ...more })}`,
    headers: {},
    body: undefined,
  }));
const aggregations = searchOf(
  fc
    .tuple(aggs, fc.option(query, { freq: 3 }))
    .map(([of, filter]) => ({ size: 0, aggs: of, ...(filter === null ? {} : { query: filter }) })),
);
const plainPages = searchOf(
  fc
    .tuple(someOf(pageMembers, { min: 1, max: 4 }), fc.option(query))
    .map(([members, one]) => ({ ...members, ...(one === null ? {} : { query: one }) })),
);
/** Pages one after another, as clients go on. */
const furtherPages = searchOf(
  fc
    .tuple(
      following,
      query,
      anyOf({ size: fc.constantFrom(3, 20), track_scores: fc.boolean(), _source: fc.constant(false) }),
    )
    .map(([page, one, more]) => ({ ...more, ...page, query: one })),
);
const highlights = searchOf(
  fc
    .tuple(query, highlight)
    .map(([one, marks]) => ({ query: one, highlight: marks, size: 20, _source: false })),
);
const counts = fc.oneof(
  searchOf(
    query.map((one) => ({ query: one })),
    "_count",
  ),
  searchOf(
    query.map((one) => ({ query: one })),
    "_validate/query?explain=false",
  ),
);
const wrong = searchOf(
  mutate(
    fc.oneof<fc.Arbitrary<unknown>[]>(
      query.map((one) => ({ query: one, _source: false })),
      aggs.map((one) => ({ size: 0, aggs: one })),
      someOf(pageMembers, { max: 4 }),
    ),
  ),
);

export const subjects: readonly Subject[] = [
  { name: "queries", requests: queries },
  { name: "urls", requests: urls },
  { name: "aggregations", requests: aggregations },
  { name: "pages", requests: fc.oneof(plainPages, furtherPages) },
  { name: "highlights", requests: highlights },
  { name: "counts", requests: counts },
  { name: "wrong", requests: wrong },
];
