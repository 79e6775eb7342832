/** Requests to the Elasticsearch twin. */

import { field, keywordField, phrase } from "@offhook/platform/testing/fuzz/fields";
import { brokenText, jsonText, mutate, queryOf } from "@offhook/platform/testing/fuzz/mutation";
import type { FuzzRequest } from "@offhook/platform/testing/fuzz/request";
import { jsonRefusal, type Shape } from "@offhook/platform/testing/fuzz/rules";
import { type ListedOperation, pathOf, requestsTo } from "@offhook/platform/testing/fuzz/targets";
import { anyOf, hostileString, hostileValue, member, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { subjects } from "../compare/requests.ts";
import { esql } from "./grammar/esql.ts";
import { aggs, lucene, query, searchBody } from "./grammar/query-dsl.ts";

const index = fc.oneof(
  { weight: 5, arbitrary: words("logs fuzz hotline docs sim") },
  { weight: 3, arbitrary: words("logs* * _all a,b -x fuzz,nope* <logs-{now/d}> UPPER .hidden") },
  { weight: 1, arbitrary: hostileString },
);
const id = fc.oneof(words("row-0 1 2 nope _x"), hostileString);
const parameters = {
  index,
  id,
  name: fc.oneof(index, words("a t p all")),
  fields: field,
  metric: words("_all docs indices os nodes metadata routing_table nope"),
  node: words("_local _all node-1 x"),
};

const flag = words("true false x");
const url = {
  q: lucene,
  size: words("0 1 -1 10001 x 2.5"),
  from: words("0 5 -1 10000"),
  sort: words("@timestamp:desc nope x:y _score"),
  _source: field,
  _source_includes: field,
  filter_path: words("hits.hits._id **.took -hits a,-b error.* ["),
  format: words("json yaml txt csv tsv cbor arrow x"),
  pretty: flag,
  human: flag,
  v: flag,
  h: words("index,health x *"),
  s: words("index:desc nope"),
  refresh: words("true false wait_for x"),
  routing: phrase,
  scroll: words("1m 0 -1 x 90d"),
  keep_alive: words("1m x"),
  wait_for_completion_timeout: words("1s 0 x"),
  ignore_unavailable: flag,
  allow_no_indices: flag,
  expand_wildcards: words("open all none x"),
  rest_total_hits_as_int: flag,
  track_total_hits: words("true 5 -1 x"),
  op_type: words("create index x"),
  version: words("1 -1 x"),
  version_type: words("external internal x"),
  if_seq_no: words("0 -1 x"),
  if_primary_term: words("1 0 x"),
  conflicts: words("proceed abort x"),
  level: words("shards cluster x"),
  df: field,
  default_operator: words("AND OR x"),
  timeout: words("1s 0 x"),
  error_trace: flag,
};

const document = mutate(
  anyOf({
    "@timestamp": fc.constantFrom<unknown>("2026-01-30T09:00:00Z", "x", 1769763602243, null),
    message: phrase,
    service: anyOf({ name: phrase }),
    "service.name": phrase,
    "http.response.status_code": fc.constantFrom<unknown>(200, "x", 1.5, [1, 2]),
    tags: fc.array(phrase, { maxLength: 3 }),
    extra: hostileValue,
  }),
);
const action = fc.oneof(
  member(words("index create update delete nope"), anyOf({ _index: index, _id: id, version: hostileValue })),
  member(words("index create"), fc.record({ _index: words("fuzz docs") })),
);
const lines = (list: fc.Arbitrary<unknown[]>) =>
  list.map((items) => items.map((item) => `${JSON.stringify(item) ?? ""}\n`).join(""));
const bulk = fc
  .array(fc.tuple(action, fc.oneof(document, fc.record({ doc: document, doc_as_upsert: fc.boolean() }))), {
    minLength: 1,
    maxLength: 4,
  })
  .map((pairs) => pairs.flat());
const multiSearch = fc
  .array(fc.tuple(mutate(anyOf({ index, search_type: words("query_then_fetch x") })), mutate(searchBody)), {
    minLength: 1,
    maxLength: 3,
  })
  .map((pairs) => pairs.flat());

const field1 = anyOf({
  type: words("keyword text long date ip boolean nested object nope"),
  fields: hostileValue,
});
const mapping = anyOf({
  properties: fc.dictionary(fc.oneof(keywordField, words("a b a.b")), field1, { maxKeys: 3 }),
  dynamic: fc.constantFrom<unknown>(true, false, "strict", "x"),
});
const analyze = anyOf({
  text: fc.oneof<fc.Arbitrary<unknown>[]>(phrase, fc.array(phrase, { maxLength: 2 })),
  analyzer: words("standard english keyword x"),
  field,
  tokenizer: words("standard whitespace x"),
  explain: fc.boolean(),
});
const esqlBody = anyOf({
  query: esql,
  params: fc.oneof<fc.Arbitrary<unknown>[]>(fc.array(hostileValue, { maxLength: 2 }), hostileValue),
  columnar: fc.boolean(),
  filter: query,
  locale: words("en-US x"),
  drop_null_columns: fc.boolean(),
}).map((body) => ({ query: "FROM logs | LIMIT 1", ...body }));

/** The body that belongs to a path, by how the path ends. */
const bodies: readonly [RegExp, fc.Arbitrary<string | Buffer>][] = [
  [
    /\/_bulk$/,
    fc.oneof({ weight: 5, arbitrary: lines(bulk) }, { weight: 1, arbitrary: brokenText(lines(bulk)) }),
  ],
  [
    /\/_msearch$/,
    fc.oneof(
      { weight: 5, arbitrary: lines(multiSearch) },
      { weight: 1, arbitrary: brokenText(lines(multiSearch)) },
    ),
  ],
  [/\/_query(\/async)?$/, jsonText(esqlBody)],
  [/\/(_search|_async_search)$/, jsonText(searchBody)],
  [/\/(_count|_delete_by_query|_validate\/query|_explain\/:id)$/, jsonText(anyOf({ query }))],
  [/\/_update_by_query$/, jsonText(anyOf({ query, script: hostileValue, conflicts: words("proceed x") }))],
  [/\/(_doc|_create)(\/:id)?$/, jsonText(document)],
  [
    /\/_update\/:id$/,
    jsonText(
      anyOf({ doc: document, upsert: document, doc_as_upsert: fc.boolean(), detect_noop: fc.boolean() }),
    ),
  ],
  [/\/_analyze$/, jsonText(analyze)],
  [
    /\/_mget$/,
    jsonText(anyOf({ ids: fc.array(id), docs: fc.array(anyOf({ _index: index, _id: id, _source: field })) })),
  ],
  [/\/_search\/scroll(\/:id)?$/, jsonText(anyOf({ scroll_id: hostileString, scroll: words("1m x") }))],
  [/\/_pit$/, jsonText(anyOf({ id: hostileString }))],
  [/\/_mapping$/, jsonText(mapping)],
  [/\/_field_caps$/, jsonText(anyOf({ fields: fc.array(field), index_filter: query }))],
  [/^\/:index$/, jsonText(anyOf({ mappings: mapping, settings: hostileValue, aliases: hostileValue }))],
  [
    /\/_settings$/,
    jsonText(
      anyOf({ index: anyOf({ number_of_replicas: hostileValue }), "index.blocks.write": hostileValue }),
    ),
  ],
  [
    /\/_aliases$/,
    jsonText(
      anyOf({
        actions: fc.array(
          member(words("add remove remove_index x"), anyOf({ index, alias: id, filter: query })),
        ),
      }),
    ),
  ],
  [/\/_reindex$/, jsonText(anyOf({ source: anyOf({ index, query }), dest: anyOf({ index }) }))],
  [/./, jsonText(fc.oneof<fc.Arbitrary<unknown>[]>(anyOf({ query, aggs }), hostileValue))],
];

const mediaType = fc.oneof(
  { weight: 12, arbitrary: fc.constant("application/json") },
  {
    weight: 1,
    arbitrary: words(
      "application/x-ndjson text/plain application/vnd.elasticsearch+json;compatible-with=8 application/yaml x/y",
    ),
  },
);

/** Searches and writes come more often than what only describes. */
const weightOf = ({ path }: ListedOperation) => (/_search|_query$|_bulk|_count|_msearch/.test(path) ? 8 : 1);

export const elasticsearchRequests = (operations: readonly ListedOperation[]) =>
  requestsTo(operations, requestOf, weightOf);

function requestOf({ method, path }: ListedOperation): fc.Arbitrary<FuzzRequest> {
  const [, body] = bodies.find(([ending]) => ending.test(path)) ?? [];
  const given = body && method !== "DELETE" && method !== "HEAD" ? body : fc.constant(undefined);
  return fc
    .record({
      path: pathOf(path, parameters, hostileString),
      query: queryOf(url, { max: 2 }),
      type: mediaType,
      accept: mediaType,
      body: method === "GET" ? fc.oneof(given, fc.constant(undefined)) : given,
    })
    .map((made) => ({
      method,
      path: `${made.path}${made.query}`,
      headers: {
        ...(made.body === undefined ? {} : { "content-type": bulkType(path) ?? made.type }),
        ...(made.accept === "application/json" ? {} : { accept: made.accept }),
      },
      body: made.body,
    }));
}

const searchRequest = (path: string, body: fc.Arbitrary<unknown>): fc.Arbitrary<FuzzRequest> =>
  body.map((one) => ({
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(one),
  }));

/** Searches of `logs`. */
export const esqlQueries = searchRequest("/_query", fc.record({ query: esql }));

/** Searches of the indices that are compared with the vendor's: most of them are answered, where those of any field are refused. */
export const dslQueries = fc.oneof(...subjects.map(({ requests }) => ({ arbitrary: requests, weight: 1 })), {
  arbitrary: searchRequest("/mapped/_search", searchBody),
  weight: 1,
});

const bulkType = (path: string) => (/_bulk$|_msearch$/.test(path) ? "application/x-ndjson" : undefined);

const hasShape = jsonRefusal(
  "error",
  "found",
  "result",
  "num_freed",
  "items",
  "responses",
  "failures",
  "docs",
  "matched",
);

export const elasticsearchShape: Shape = {
  // What is asked for as text, YAML or in part has no members to look for.
  refusal: (answer, request) =>
    /json/.test(answer.headers["content-type"] ?? "") && !request.path.includes("filter_path")
      ? hasShape(answer, request)
      : undefined,
};
