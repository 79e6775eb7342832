/** Searches in the URL. */

import { emptyRecord } from "@offhook/platform/base/lookup-table";
import { illegalArgument } from "../vendor/error.ts";
import type { Parameters } from "../vendor/parameters.ts";
import { checkNotNegative, readTimeLimit } from "./members.ts";
import {
  readCount,
  readStoredFields,
  readTerminateAfter,
  type SearchRequest,
  type UrlQuery,
} from "./request.ts";
import { readSortParameter } from "./sort.ts";
import { readSourceParameters, sourceParameters } from "./source-filter.ts";

/** Parameters of `q`, with their names in a `query_string`. */
const queryOptions = new Map([
  ["df", "default_field"],
  ["analyzer", "analyzer"],
  ["analyze_wildcard", "analyze_wildcard"],
  ["default_operator", "default_operator"],
  ["lenient", "lenient"],
]);

/** Parameters that `readUrlQuery` reads. */
export const urlQueryParameters = ["q", ...queryOptions.keys()];

/** Reads `?q=`; `undefined` without it. */
export function readUrlQuery(parameters: Parameters): UrlQuery | undefined {
  const text = parameters.text("q");
  if (text === undefined) return undefined;
  const options = emptyRecord<string>();
  for (const [name, option] of queryOptions) {
    const value = parameters.text(name);
    if (value !== undefined) options[option] = value;
  }
  return { text, options };
}

/** Parameters that override parts of the body. */
export const searchParameters = [
  ...urlQueryParameters,
  "from",
  "size",
  "sort",
  ...sourceParameters,
  "stored_fields",
  "docvalue_fields",
  "track_total_hits",
  "track_scores",
  "explain",
  "version",
  "seq_no_primary_term",
  "timeout",
  "terminate_after",
  "stats",
];

/** Parameters of the spread over shards, with the least value of each. */
const leastNumbers = [
  ["batched_reduce_size", "batchedReduceSize", 2],
  ["pre_filter_shard_size", "preFilterShardSize", 1],
  ["max_concurrent_shard_requests", "maxConcurrentShardRequests", 1],
] as const;
const spreadFlags = ["request_cache", "allow_partial_search_results", "ccs_minimize_roundtrips"];
const searchTypes: ReadonlySet<string> = new Set(["query_then_fetch", "dfs_query_then_fetch"]);
const preferences = /^_(?:local|only_local|shards:.+|prefer_nodes:.+|only_nodes:.+)$/;

/** Validates parameters without an effect on a single shard. @throws VendorError */
function checkSpread(parameters: Parameters): void {
  for (const [name, what, least] of leastNumbers) {
    const number = parameters.integer(name);
    if (number !== undefined && number < least) throw illegalArgument(`${what} must be >= ${least}`);
  }
  for (const name of spreadFlags) parameters.flag(name);
  const type = parameters.text("search_type");
  if (type !== undefined && !searchTypes.has(type)) throw illegalArgument(`No search type for [${type}]`);
  const preference = parameters.text("preference");
  if (preference?.startsWith("_") === true && !preferences.test(preference)) {
    throw illegalArgument(`no Preference for [${preference}]`);
  }
}

export function readSearchParameters(parameters: Parameters, request: SearchRequest): SearchRequest {
  checkSpread(parameters);
  request.urlQuery = readUrlQuery(parameters);
  const from = parameters.integer("from");
  if (from !== undefined) request.from = checkNotNegative("from", from);
  const size = parameters.integer("size");
  if (size !== undefined) request.size = checkNotNegative("size", size);
  const sort = parameters.list("sort");
  if (sort) request.sort = readSortParameter(sort);
  request.source = readSourceParameters(parameters) ?? request.source;
  const stored = parameters.list("stored_fields");
  if (stored) readStoredFields(request, stored);
  const docvalues = parameters.list("docvalue_fields");
  if (docvalues) request.docvalueFields = docvalues.map((field) => ({ field, format: undefined }));
  const count = parameters.text("track_total_hits");
  if (count !== undefined) request.countUpTo = readCount(parameters);
  request.trackScores = parameters.flag("track_scores") ?? request.trackScores;
  request.explain = parameters.flag("explain") ?? request.explain;
  request.version = parameters.flag("version") ?? request.version;
  request.seqNoPrimaryTerm = parameters.flag("seq_no_primary_term") ?? request.seqNoPrimaryTerm;
  const timeoutMs = parameters.durationMs("timeout");
  if (timeoutMs !== undefined) request.timeoutMs = readTimeLimit(timeoutMs);
  const terminateAfter = parameters.integer("terminate_after");
  if (terminateAfter !== undefined) request.terminateAfter = readTerminateAfter(terminateAfter);
  return request;
}
