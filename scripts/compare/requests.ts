/** The requests that are compared, by what they are about. */
import fc from "fast-check";
import { mutated } from "../fuzz/mutation.ts";
import type { FuzzRequest } from "../fuzz/request.ts";
import { anyOf, member, someOf, words } from "../fuzz/text.ts";
import { aggs } from "./aggregations.ts";
import {
  anyField,
  booleanField,
  dateField,
  keywordField,
  numberField,
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
const pages = searchOf(
  fc
    .tuple(someOf(pageMembers, { min: 1, max: 4 }), fc.option(query))
    .map(([members, one]) => ({ ...members, ...(one === null ? {} : { query: one }) })),
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
  mutated(
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
  { name: "pages", requests: pages },
  { name: "counts", requests: counts },
  { name: "wrong", requests: wrong },
];
