/**
 * A search request: the body, and the URL parameters that override parts of it.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/search-search.html
 */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { invalidRequest } from "../documents/errors.ts";
import { ContentParser, type Token } from "../json/content-parser.ts";
import { isObject } from "../json/object.ts";
import { ObjectParser, textField } from "../json/object-parser.ts";
import type { JsonPath } from "../json/position.ts";
import { locateIn } from "../json/position.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { checkQuery } from "../query/compile.ts";
import { eachMember } from "../query/syntax/options.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import type { Fidelity } from "../vendor/fidelity.ts";
import { type Parameters, readDurationMs } from "../vendor/parameters.ts";
import { type Collapse, readCollapse } from "./collapse.ts";
import { type FieldRequest, readFieldRequests } from "./fields.ts";
import { type Highlight, readHighlight } from "./highlight-options.ts";
import { checkNotNegative, isEmpty, readTimeLimit, UnknownKey, UnservedKey } from "./members.ts";
import { readSort, type Sort, sortBy } from "./sort.ts";
import { readSourceFilter, type SourceFilter, wholeSource } from "./source-filter.ts";

/** `?q=` with its options. */
export interface UrlQuery {
  text: string;
  options: Record<string, string>;
}

/** A body that this twin does not recognise as a search. */
export interface UnrecognisedBody {
  body: JsonObject;
  /** The vendor's error for it. */
  error: VendorError;
}

export interface SearchRequest {
  /** Set when only a model can tell which events to search for. */
  unrecognised: UnrecognisedBody | undefined;
  query: Json | undefined;
  urlQuery: UrlQuery | undefined;
  postFilter: Json | undefined;
  from: number;
  size: number;
  sort: Sort[];
  source: SourceFilter;
  /** `stored_fields: _none_`: hits show no stored field, not even their id. */
  storesNothing: boolean;
  fields: FieldRequest[];
  docvalueFields: FieldRequest[];
  highlight: Highlight | undefined;
  collapse: Collapse | undefined;
  /** `track_total_hits` as a number: count all, none, or up to a bound. */
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
  /** Score factors by index pattern. */
  indicesBoost: [pattern: string, factor: number][];
}

const DEFAULT_SIZE = 10;
/** The vendor's `index.max_result_window`. */
export const MAX_WINDOW = 10_000;
/** Default of `track_total_hits`. */
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
    storesNothing: false,
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
  /** Text of the body, to locate mistakes. */
  text?: string;
  /** Path of the body in the text, when it is only a part. */
  path?: JsonPath;
  /** In `specification` unknown members make the body a question for the translator; default `vendor`. */
  fidelity?: Fidelity;
}

/** Reads a search body token by token. @throws VendorError for what the vendor refuses */
export function readSearchBody(
  body: JsonObject,
  { text, path = [], fidelity = "vendor" }: BodyOptions = {},
): SearchRequest {
  const content = new ContentParser(body, text === undefined ? undefined : locateIn(text, path));
  const reading: Reading = { content, request: emptyRequest(), body, fidelity };
  content.next();
  eachMember(content, () => {
    try {
      readMember(reading);
    } catch (error) {
      const unknown = error instanceof UnknownKey || error instanceof UnservedKey;
      if (fidelity === "vendor" || !unknown) throw error;
      reading.request.unrecognised ??= { body, error };
      content.skipChildren();
    }
  });
  if (content.next() !== undefined) {
    throw content.error(`Unexpected token [${content.token}] found after the main object.`);
  }
  return reading.request;
}

/** Members that need data or scripts that this twin does not have. */
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

interface Reading {
  content: ContentParser;
  request: SearchRequest;
  body: JsonObject;
  fidelity: Fidelity;
}

/** Reads the current token's value into the request. */
type MemberReader = (reading: Reading) => void;

/** Members that take a text, a number or a boolean. */
const values = lookupTable<MemberReader>({
  from({ content, request }) {
    request.from = checkNotNegative("from", content.integer());
  },
  size({ content, request }) {
    request.size = checkNotNegative("size", content.integer());
  },
  timeout({ content, request }) {
    request.timeoutMs = readTimeLimit(readDurationMs(content.text(), "timeout"));
  },
  terminate_after({ content, request }) {
    request.terminateAfter = readTerminateAfter(content.integer());
  },
  min_score({ content, request }) {
    request.minScore = content.float();
  },
  version({ content, request }) {
    request.version = content.boolean();
  },
  seq_no_primary_term({ content, request }) {
    request.seqNoPrimaryTerm = content.boolean();
  },
  explain({ content, request }) {
    request.explain = content.boolean();
  },
  track_scores({ content, request }) {
    request.trackScores = content.boolean();
  },
  include_named_queries_score({ content }) {
    content.boolean();
  },
  profile({ content, request }) {
    request.profile = content.boolean();
  },
  track_total_hits({ content, request }) {
    const { json } = content;
    const isFlag = typeof json === "boolean" || json === "true" || json === "false";
    request.countUpTo = isFlag ? (content.boolean() ? ALL : NOT_COUNTED) : countUpTo(content.integer());
  },
  sort({ content, request }) {
    request.sort = [sortBy(content.text())];
  },
  _source: readSource,
  stored_fields: readStored,
});

const objects = lookupTable<MemberReader>({
  query({ content, request, body, fidelity }) {
    request.query = body.query;
    checkQuery(content, fidelity);
  },
  post_filter({ content, request, body, fidelity }) {
    request.postFilter = body.post_filter;
    checkQuery(content, fidelity);
  },
  aggs: readAggregations,
  aggregations: readAggregations,
  highlight({ content, request }) {
    request.highlight = readHighlight(content);
  },
  collapse({ content, request }) {
    request.collapse = readCollapse(content);
  },
  pit({ content, request }) {
    request.pit = readPit(content);
  },
  ext({ content }) {
    if (content.next() === "END_OBJECT") return;
    const category = "org.elasticsearch.search.SearchExtBuilder";
    const reason = `unknown named object category [${category}]`;
    throw new VendorError(400, { type: "x_content_parse_exception", reason });
  },
  sort: readSorts,
  _source: readSource,
});

const arrays = lookupTable<MemberReader>({
  sort: readSorts,
  _source: readSource,
  stored_fields: readStored,
  fields({ content, request }) {
    request.fields = readFieldRequests(content);
  },
  docvalue_fields({ content, request }) {
    request.docvalueFields = readFieldRequests(content);
  },
  search_after({ content, request, body: { search_after: values } }) {
    readAfter(content);
    if (Array.isArray(values)) request.searchAfter = values;
  },
  indices_boost({ content, request }) {
    request.indicesBoost = readBoosts(content);
  },
  stats({ content }) {
    while (content.next() !== "END_ARRAY") {
      if (content.token === "VALUE_STRING") continue;
      throw content.error(`Expected [VALUE_STRING] in [stats] but found [${content.token}]`);
    }
  },
});

function readMember(reading: Reading): void {
  const { content } = reading;
  const { name, token } = content;
  const reason = refused[name];
  if (reason !== undefined && (token === "START_OBJECT" || token === "START_ARRAY")) {
    if (!isEmpty(content.json)) throw new UnservedKey(reason);
    content.skipChildren();
    return;
  }
  const read = tableOf(content)?.[name];
  if (!read) throw new UnknownKey(content);
  read(reading);
}

function tableOf({ isValue, token }: ContentParser): Readonly<Record<string, MemberReader>> | undefined {
  if (isValue) return values;
  if (token === "START_OBJECT") return objects;
  return token === "START_ARRAY" ? arrays : undefined;
}

function readSorts({ content, request }: Reading): void {
  request.sort = readSort(content);
}

function readSource({ content, request }: Reading): void {
  request.source = readSourceFilter(content);
}

function readAggregations({ content, request, body }: Reading): void {
  const json = body[content.name];
  if (json !== undefined && isObject(json) && !isEmpty(json)) {
    request.aggregations = { member: content.name, json, afterQuery: request.query !== undefined };
  }
  content.skipChildren();
}

function readStored({ content, request }: Reading): void {
  if (content.isValue && content.token !== "VALUE_STRING") {
    throw content.error(
      `Expected [VALUE_STRING] or [START_ARRAY] in [stored_fields] but found [${content.token}]`,
    );
  }
  const names = content.token === "START_ARRAY" ? [] : [content.text()];
  if (content.token === "START_ARRAY") while (content.next() !== "END_ARRAY") names.push(content.text());
  readStoredFields(request, names);
}

/** Checks that the values of `search_after` are scalars or null. */
function readAfter(content: ContentParser): void {
  let found = false;
  while (content.next() !== "END_ARRAY") {
    if (!content.isValue && content.token !== "VALUE_NULL") {
      throw content.error(
        `Expected [VALUE_STRING] or [VALUE_NUMBER] or [VALUE_BOOLEAN] or [VALUE_NULL] but found [${content.token}] inside search_after.`,
      );
    }
    found = true;
  }
  if (!found) throw illegalArgument("Values must contains at least one value.");
}

/** @throws VendorError for options that exclude each other */
export function checkSearch({ searchAfter, from, storesNothing, source, fields }: SearchRequest): void {
  const isSourceAsked = source.kind !== "none";
  const problems = [
    searchAfter && from > 0 && "[from] parameter must be set to 0 when [search_after] is used",
    storesNothing && isSourceAsked && "[stored_fields] cannot be disabled if [_source] is requested",
    storesNothing && fields.length > 0 && "[stored_fields] cannot be disabled when using the [fields] option",
  ].filter((problem) => typeof problem === "string");
  if (problems.length > 0) throw invalidRequest(problems);
}

export function readStoredFields(request: SearchRequest, names: readonly string[]): void {
  request.storesNothing = names.includes("_none_");
  if (request.storesNothing && names.length > 1)
    throw illegalArgument("cannot combine _none_ with other fields");
  // Every stored field is part of the source, so naming one only removes the source.
  if (!names.includes("_source")) request.source = { kind: "none" };
}

const ALL = Number.POSITIVE_INFINITY;
/** Hits are found but not counted. */
export const NOT_COUNTED = -1;

/** Reads `track_total_hits` of a URL. @throws VendorError */
export function readCount(parameters: Parameters): number {
  const text = parameters.text("track_total_hits");
  if (text === "true" || text === "") return ALL;
  return text === "false" ? NOT_COUNTED : countUpTo(parameters.integer("track_total_hits") ?? -1);
}

function countUpTo(count: number): number {
  if (count >= NOT_COUNTED) return count;
  throw illegalArgument(`[track_total_hits] parameter must be positive or equals to -1, got ${count}`);
}

export function readTerminateAfter(value: number): number {
  if (value >= 0) return value;
  throw illegalArgument("terminateAfter must be > 0");
}

type Pit = NonNullable<SearchRequest["pit"]>;

const pitParser = new ObjectParser<Partial<Pit>>("pit", {
  id: textField((id, pit) => {
    pit.id = id;
  }),
  keep_alive: textField((text, pit) => {
    pit.keepAliveMs = readDurationMs(text, "keep_alive");
  }),
});

function readPit(content: ContentParser): Pit {
  const { id, keepAliveMs } = pitParser.parse(content, {});
  if (id === undefined) throw illegalArgument("point in time id is not provided");
  return { id, keepAliveMs };
}

function readBoosts(content: ContentParser): [string, number][] {
  const boosts: [string, number][] = [];
  const expect = (token: Token, place = "indices_boost") => {
    if (content.token === token) return;
    throw content.error(`Expected [${token}] in [${place}] but found [${content.token}]`);
  };
  while (content.next() !== "END_ARRAY") {
    // The vendor's message names the member it has yet to read: none.
    expect("START_OBJECT", "null");
    content.next();
    expect("FIELD_NAME");
    content.next();
    expect("VALUE_NUMBER");
    boosts.push([content.name, content.float()]);
    content.next();
    expect("END_OBJECT");
  }
  return boosts;
}
