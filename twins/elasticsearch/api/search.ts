/** Searching and counting. */

import type { Method, Operation } from "@offhook/platform/http/operation";
import { expressionParameters, readExpressionOptions } from "../indices/expression.ts";
import type { JsonObject } from "../json/read.ts";
import { scopeOf } from "../search/context.ts";
import { readSearchBody, type SearchRequest } from "../search/request.ts";
import { countHits, runSearch } from "../search/run.ts";
import { searchBody } from "../search/search-body.ts";
import {
  readSearchParameters,
  readUrlQuery,
  searchParameters,
  urlQueryParameters,
} from "../search/url-parameters.ts";
import type { SearchTwin } from "../search-twin.ts";
import { VendorError } from "../vendor/error.ts";
import { searchShards } from "../vendor/node.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { pointInTimeScope, startScroll } from "./scroll.ts";

/** URL parameters of the spread over shards, which have no effect on a single shard. */
export const spreadParameters = [
  "allow_partial_search_results",
  "batched_reduce_size",
  "ccs_minimize_roundtrips",
  "max_concurrent_shard_requests",
  "min_compatible_shard_node",
  "pre_filter_shard_size",
  "preference",
  "request_cache",
  "routing",
  "search_type",
  "force_synthetic_source",
  "include_named_queries_score",
];

const parameters = [
  ...searchParameters,
  ...expressionParameters,
  ...spreadParameters,
  "rest_total_hits_as_int",
  "typed_keys",
  "scroll",
  "suggest_field",
  "suggest_mode",
  "suggest_size",
  "suggest_text",
];

/** The same route with and without an index, for each method. */
function routes(
  id: string,
  path: string,
  summary: string,
  names: readonly string[],
  handle: (call: Call, twin: SearchTwin) => Promise<Answer>,
): Operation<SearchTwin>[] {
  const methods: Method[] = ["POST", "GET"];
  return methods.flatMap((method) =>
    [path, `/:index${path}`].map((route) =>
      api({ id, method, path: route, summary, parameters: names, handle }),
    ),
  );
}

export const searchOperations: readonly Operation<SearchTwin>[] = [
  ...routes("search", "/_search", "Searches events by a query of the Query DSL.", parameters, search),
  ...routes(
    "count",
    "/_count",
    "Counts the events that a query matches.",
    [...expressionParameters, ...urlQueryParameters, "min_score", "preference", "routing", "terminate_after"],
    count,
  ),
];

async function search(call: Call, twin: SearchTwin): Promise<Answer> {
  const body = readSearchBody(call.object(), { text: call.text(), fidelity: twin.fidelity });
  const request = readSearchParameters(call.parameters, body);
  const options = readExpressionOptions(call.parameters);
  const scope =
    pointInTimeScope(call, twin, request) ?? (await scopeOf(call.segment("index"), options, twin));
  if (call.parameters.has("scroll")) return { body: await startScroll(call, twin, request, scope) };
  // The vendor reads `typed_keys` only when it writes aggregations.
  const typedKeys = request.aggregations !== undefined && (call.parameters.flag("typed_keys") ?? false);
  const result = await runSearch(request, scope, await call.openSearch(twin), { typedKeys });
  const totalAsNumber = call.parameters.flag("rest_total_hits_as_int") ?? false;
  const ofPit = request.pit ? { pit_id: request.pit.id } : {};
  return { body: { ...ofPit, ...searchBody(result, request, { totalAsNumber }) } };
}

async function count(call: Call, twin: SearchTwin): Promise<Answer> {
  const request = readCountBody(call.object(), twin);
  request.urlQuery = readUrlQuery(call.parameters);
  request.terminateAfter = call.parameters.integer("terminate_after") ?? 0;
  const minScore = call.parameters.text("min_score");
  if (minScore !== undefined) request.minScore = Number(minScore);
  const scope = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin);
  const counted = await countHits(request, scope, await call.openSearch(twin));
  return { body: { count: counted, _shards: searchShards(scope.selection.names.length) } };
}

/** The body of a count holds a query alone. @throws VendorError */
function readCountBody(body: JsonObject, { fidelity }: SearchTwin): SearchRequest {
  const { query, ...rest } = body;
  const request = readSearchBody(query === undefined ? {} : { query }, { fidelity });
  const [unknown] = Object.keys(rest);
  if (unknown === undefined) return request;
  const reason = `request does not support [${unknown}]`;
  const error = new VendorError(400, { type: "parsing_exception", reason, line: 1, col: 2 });
  if (fidelity === "vendor") throw error;
  return { ...request, unrecognised: { body, error } };
}
