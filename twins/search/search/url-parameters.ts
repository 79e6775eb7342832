/** The parts of a search that a URL can say. */
import type { Parameters } from "../api/parameters.ts";
import {
  limit,
  notNegative,
  readCount,
  readStoredFields,
  readTerminateAfter,
  type SearchRequest,
} from "./request.ts";
import { readSortParameter } from "./sort.ts";
import { readSourceParameters } from "./source-filter.ts";

/** URL parameters that stand for parts of the body; they win over it. */
export const searchParameters = [
  "q",
  "df",
  "analyzer",
  "analyze_wildcard",
  "default_operator",
  "lenient",
  "from",
  "size",
  "sort",
  "_source",
  "_source_includes",
  "_source_excludes",
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

export function readSearchParameters(parameters: Parameters, request: SearchRequest): SearchRequest {
  const text = parameters.text("q");
  if (text !== undefined) request.urlQuery = { text, options: queryOptions(parameters) };
  const from = parameters.integer("from");
  if (from !== undefined) request.from = notNegative("from", from);
  const size = parameters.integer("size");
  if (size !== undefined) request.size = notNegative("size", size);
  const sort = parameters.list("sort");
  if (sort) request.sort = readSortParameter(sort);
  request.source = readSourceParameters(parameters) ?? request.source;
  const stored = parameters.list("stored_fields");
  if (stored) readStoredFields(request, stored);
  const docvalues = parameters.list("docvalue_fields");
  if (docvalues) request.docvalueFields = docvalues.map((field) => ({ field, format: undefined }));
  const count = parameters.text("track_total_hits");
  if (count !== undefined) request.countUpTo = readCount(count);
  request.trackScores = parameters.flag("track_scores") ?? request.trackScores;
  request.explain = parameters.flag("explain") ?? request.explain;
  request.version = parameters.flag("version") ?? request.version;
  request.seqNoPrimaryTerm = parameters.flag("seq_no_primary_term") ?? request.seqNoPrimaryTerm;
  const timeoutMs = parameters.durationMs("timeout");
  if (timeoutMs !== undefined) request.timeoutMs = limit(timeoutMs);
  const terminateAfter = parameters.integer("terminate_after");
  if (terminateAfter !== undefined) request.terminateAfter = readTerminateAfter(terminateAfter);
  return request;
}

/** The options of `q`, by their names in a `query_string`. */
export function queryOptions(parameters: Parameters): Record<string, string> {
  const options: Record<string, string> = {};
  for (const [name, option] of [
    ["df", "default_field"],
    ["analyzer", "analyzer"],
    ["analyze_wildcard", "analyze_wildcard"],
    ["default_operator", "default_operator"],
    ["lenient", "lenient"],
  ] as const) {
    const value = parameters.text(name);
    if (value !== undefined) options[option] = value;
  }
  return options;
}
