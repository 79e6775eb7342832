/**
 * What a search asks for: the body of a search, with the URL parameters that stand for parts of it.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/search-search.html
 */

import { lookupTable } from "../../sandbox/lookup-table.ts";
import { illegal, readDurationMs } from "../api/parameters.ts";
import { invalidRequest } from "../documents/errors.ts";
import { BodyError } from "../json/object-parser.ts";
import type { Json, JsonObject } from "../json/read.ts";
import type { Fidelity } from "../query/compiled-query.ts";
import { VendorError } from "../vendor-error.ts";
import { type Collapse, readCollapse } from "./collapse.ts";
import { type FieldRequest, readFieldRequests } from "./fields.ts";
import { type Highlight, readHighlight } from "./highlight.ts";
import {
  booleanOf,
  integerOf,
  isEmpty,
  limit,
  notNegative,
  numberOf,
  objectOf,
  scalarText,
  UnknownKey,
  UnservedKey,
} from "./members.ts";
import { readSort, type Sort } from "./sort.ts";
import { readSourceFilter, type SourceFilter, wholeSource } from "./source-filter.ts";

/** A query of the URL, with its options. */
export interface UrlQuery {
  text: string;
  options: Record<string, string>;
}

/** A body that is not a search as this twin knows them. */
export interface UnrecognisedBody {
  body: JsonObject;
  /** What the vendor would say. */
  error: VendorError;
}

export interface SearchRequest {
  /** Set when a model is needed to say which events are searched for. */
  unrecognised: UnrecognisedBody | undefined;
  query: Json | undefined;
  urlQuery: UrlQuery | undefined;
  postFilter: Json | undefined;
  from: number;
  size: number;
  sort: Sort[];
  source: SourceFilter;
  fields: FieldRequest[];
  docvalueFields: FieldRequest[];
  highlight: Highlight | undefined;
  collapse: Collapse | undefined;
  /** How many hits are counted: all, none, or up to a number. */
  countUpTo: number;
  trackScores: boolean;
  minScore: number | undefined;
  searchAfter: Json[] | undefined;
  pit: { id: string; keepAliveMs: number | undefined } | undefined;
  timeoutMs: number | undefined;
  /** 0: no limit. */
  terminateAfter: number;
  explain: boolean;
  profile: boolean;
  version: boolean;
  seqNoPrimaryTerm: boolean;
  aggregations: { member: string; json: JsonObject; afterQuery: boolean } | undefined;
  /** Factors of scores, by pattern of index. */
  indicesBoost: [pattern: string, factor: number][];
}

export const DEFAULT_SIZE = 10;
/** The vendor's `index.max_result_window`. */
export const MAX_WINDOW = 10_000;
/** Hits are counted exactly up to here, unless told. */
const DEFAULT_COUNT = 10_000;

export function emptyRequest(): SearchRequest {
  return {
    unrecognised: undefined,
    query: undefined,
    urlQuery: undefined,
    postFilter: undefined,
    from: 0,
    size: DEFAULT_SIZE,
    sort: [],
    source: wholeSource,
    fields: [],
    docvalueFields: [],
    highlight: undefined,
    collapse: undefined,
    countUpTo: DEFAULT_COUNT,
    trackScores: false,
    minScore: undefined,
    searchAfter: undefined,
    pit: undefined,
    timeoutMs: undefined,
    terminateAfter: 0,
    explain: false,
    profile: false,
    version: false,
    seqNoPrimaryTerm: false,
    aggregations: undefined,
    indicesBoost: [],
  };
}

export interface BodyOptions {
  /** Of the body, for the line and column of its mistakes. */
  text?: string;
  /** In `specification`, a member that is not known makes the body one for the translator; default `vendor`. */
  fidelity?: Fidelity;
}

/** @throws VendorError for what the vendor would not take */
export function readSearchBody(
  body: JsonObject,
  { text, fidelity = "vendor" }: BodyOptions = {},
): SearchRequest {
  const request = emptyRequest();
  for (const [name, value] of Object.entries(body)) {
    try {
      readMember(request, name, value);
    } catch (error) {
      const unknown = error instanceof UnknownKey || error instanceof UnservedKey;
      const placed = error instanceof BodyError && text !== undefined ? error.at(text) : error;
      if (fidelity === "vendor" || !unknown || !(placed instanceof VendorError)) throw placed;
      request.unrecognised ??= { body, error: placed };
    }
  }
  return request;
}

/** What this twin has no data for, or runs no scripts for. */
const refused = lookupTable<string>({
  knn: "This twin does not search vectors: [knn] is not supported",
  rescore: "This twin does not rescore: [rescore] is not supported",
  suggest: "This twin does not suggest: [suggest] is not supported",
  script_fields: "This twin runs no scripts: [script_fields] is not supported",
  runtime_mappings: "This twin runs no scripts: [runtime_mappings] is not supported",
  rank: "This twin does not fuse rankings: [rank] is not supported",
  retriever: "This twin does not fuse rankings: [retriever] is not supported",
  sub_searches: "This twin does not fuse rankings: [sub_searches] is not supported",
  slice: "This twin does not slice searches: [slice] is not supported",
});

function readMember(request: SearchRequest, name: string, value: Json): void {
  const reason = refused[name];
  if (reason !== undefined) {
    if (isEmpty(value)) return;
    throw new UnservedKey(reason);
  }
  switch (name) {
    case "query":
      request.query = objectOf(name, value);
      return;
    case "post_filter":
      request.postFilter = objectOf(name, value);
      return;
    case "aggs":
    case "aggregations":
      request.aggregations = {
        member: name,
        json: objectOf(name, value),
        afterQuery: request.query !== undefined,
      };
      return;
    case "highlight":
      request.highlight = readHighlight(objectOf(name, value));
      return;
    case "collapse":
      request.collapse = readCollapse(objectOf(name, value));
      return;
    case "from":
      request.from = notNegative(name, integerOf(name, value));
      return;
    case "size":
      request.size = notNegative(name, integerOf(name, value));
      return;
    case "sort":
      request.sort = readSort(value);
      return;
    case "_source":
      request.source = readSourceFilter(value);
      return;
    case "fields":
      request.fields = readFieldRequests(value);
      return;
    case "docvalue_fields":
      request.docvalueFields = readFieldRequests(value);
      return;
    case "stored_fields":
      readStoredFields(
        request,
        (Array.isArray(value) ? value : [value]).map((field) => scalarText(name, field)),
      );
      return;
    case "track_total_hits":
      request.countUpTo = readCount(scalarText(name, value));
      return;
    case "track_scores":
      request.trackScores = booleanOf(name, value);
      return;
    case "explain":
      request.explain = booleanOf(name, value);
      return;
    case "profile":
      request.profile = booleanOf(name, value);
      return;
    case "version":
      request.version = booleanOf(name, value);
      return;
    case "seq_no_primary_term":
      request.seqNoPrimaryTerm = booleanOf(name, value);
      return;
    case "min_score":
      request.minScore = numberOf(name, value);
      return;
    case "search_after":
      if (!Array.isArray(value)) throw new UnknownKey(name, value);
      request.searchAfter = value;
      return;
    case "pit":
      request.pit = readPit(objectOf(name, value));
      return;
    case "timeout":
      request.timeoutMs = limit(readDurationMs(scalarText(name, value), "timeout"));
      return;
    case "terminate_after":
      request.terminateAfter = readTerminateAfter(integerOf(name, value));
      return;
    case "indices_boost":
      request.indicesBoost = readBoosts(value);
      return;
    case "stats":
    case "ext":
      return;
    default:
      throw new UnknownKey(name, value);
  }
}

/** @throws VendorError for what does not go together */
export function checkSearch(request: SearchRequest): void {
  const problems: string[] = [];
  if (request.searchAfter && request.from > 0) {
    problems.push("`from` parameter must be set to 0 when `search_after` is used");
  }
  if (request.searchAfter && request.sort.length === 0 && !request.pit) {
    throw illegal("Sort must contain at least one field.");
  }
  if (request.searchAfter && request.collapse && request.sort.length > 1) {
    problems.push(
      "cannot use `collapse` in conjunction with `search_after` unless the sort is by the same field",
    );
  }
  if (problems.length > 0) throw invalidRequest(problems);
}

export function readStoredFields(request: SearchRequest, names: readonly string[]): void {
  // Fields are stored in the source alone: naming any leaves the source out.
  if (!names.includes("_source")) request.source = { kind: "none" };
}

export function readCount(text: string): number {
  if (text === "true" || text === "") return Number.POSITIVE_INFINITY;
  if (text === "false") return 0;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 0) return count;
  if (count === -1) return Number.POSITIVE_INFINITY;
  throw illegal(`[track_total_hits] parameter must be positive or equals to -1, got ${text}`);
}

export function readTerminateAfter(value: number): number {
  if (value >= 0) return value;
  throw illegal("terminateAfter must be > 0");
}

function readPit(json: JsonObject): SearchRequest["pit"] {
  const { id, keep_alive } = json;
  if (typeof id !== "string") throw illegal("Required [id]");
  const keepAliveMs =
    keep_alive === undefined ? undefined : readDurationMs(scalarText("keep_alive", keep_alive), "keep_alive");
  return { id, keepAliveMs };
}

function readBoosts(json: Json): [string, number][] {
  const entries = (Array.isArray(json) ? json : [json]).flatMap((item) =>
    typeof item === "object" && item !== null ? Object.entries(item) : [],
  );
  return entries.map(([pattern, factor]) => [pattern, numberOf("indices_boost", factor)]);
}
