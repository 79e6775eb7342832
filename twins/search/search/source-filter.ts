/** Which parts of a document's source are answered. */

import { matchesPattern } from "../../sandbox/star-pattern.ts";
import type { Parameters } from "../api/parameters.ts";
import { type ExactJson, type Json, readExactJson } from "../json/read.ts";
import { tokenOf } from "../json/token.ts";
import { RawJson } from "../json/write.ts";
import { VendorError } from "../vendor-error.ts";

export type SourceFilter =
  | { kind: "all" }
  | { kind: "none" }
  | { kind: "some"; includes: readonly string[]; excludes: readonly string[] };

export const wholeSource: SourceFilter = { kind: "all" };

/** Longest list of patterns; each is held against every path of every hit. */
const MAX_PATTERNS = 1000;

/** `_source` of a body: a boolean, a pattern, patterns, or `{includes, excludes}`. @throws VendorError */
export function readSourceFilter(json: Json): SourceFilter {
  if (json === true) return wholeSource;
  if (json === false) return { kind: "none" };
  if (typeof json === "string" || Array.isArray(json)) return some(patterns(json), []);
  if (typeof json !== "object" || json === null) {
    throw parsing(
      `Expected one of [VALUE_BOOLEAN, VALUE_STRING, START_ARRAY, START_OBJECT] but found [${tokenOf(json)}]`,
    );
  }
  let includes: string[] = [];
  let excludes: string[] = [];
  for (const [name, value] of Object.entries(json)) {
    if (name === "includes" || name === "include") includes = patterns(value);
    else if (name === "excludes" || name === "exclude") excludes = patterns(value);
    else throw parsing(`Unknown key for a ${tokenOf(value)} in [${name}].`);
  }
  return some(includes, excludes);
}

export const sourceParameters = ["_source", "_source_includes", "_source_excludes"];

/** The same as URL parameters; `undefined` when there are none. */
export function readSourceParameters(parameters: Parameters): SourceFilter | undefined {
  const text = parameters.text("_source");
  const includes = parameters.list("_source_includes");
  const excludes = parameters.list("_source_excludes");
  if (text === undefined && !includes && !excludes) return undefined;
  if (text === "false") return { kind: "none" };
  const named = text === undefined || text === "true" || text === "" ? [] : text.split(",");
  return some([...named, ...(includes ?? [])], excludes ?? []);
}

function some(includes: readonly string[], excludes: readonly string[]): SourceFilter {
  if (includes.length === 0 && excludes.length === 0) return wholeSource;
  if (includes.length + excludes.length > MAX_PATTERNS) {
    throw parsing(`[_source] may have at most ${MAX_PATTERNS} patterns`);
  }
  return { kind: "some", includes, excludes };
}

function patterns(json: Json): string[] {
  const items = Array.isArray(json) ? json : [json];
  return items.map((item) => {
    if (typeof item === "string") return item;
    throw parsing(`Unknown key for a ${tokenOf(item)} in [_source].`);
  });
}

/** What of a source is answered; `undefined`: nothing, not even an empty one. */
export function filteredSource(source: string, filter: SourceFilter): unknown {
  switch (filter.kind) {
    case "all":
      return new RawJson(source);
    case "none":
      return undefined;
    case "some":
      return filterDocument(readExactJson(source), filter);
  }
}

type Some = Extract<SourceFilter, { kind: "some" }>;

export function filterDocument(document: ExactJson, filter: Some): ExactJson {
  return part(document, "", filter, filter.includes.length === 0) ?? new Map();
}

/** @param included whether a pattern has taken in what is above */
function part(value: ExactJson, path: string, filter: Some, included: boolean): ExactJson | undefined {
  if (Array.isArray(value)) {
    const items = value
      .map((item) => part(item, path, filter, included))
      .filter((item) => item !== undefined);
    return items.length === 0 && value.length > 0
      ? undefined
      : included || items.length > 0
        ? items
        : undefined;
  }
  if (!(value instanceof Map)) return included ? value : undefined;
  const kept = new Map<string, ExactJson>();
  for (const [name, member] of value) {
    const inner = path === "" ? name : `${path}.${name}`;
    if (filter.excludes.some((pattern) => matchesPattern(inner, pattern))) continue;
    const within = included || filter.includes.some((pattern) => matchesPattern(inner, pattern));
    const found = part(member, inner, filter, within);
    if (found !== undefined) kept.set(name, found);
  }
  if (kept.size > 0 || (included && (value.size === 0 || path !== ""))) return kept;
  return path === "" ? kept : undefined;
}

function parsing(reason: string): VendorError {
  return new VendorError(400, { type: "parsing_exception", reason, line: 1, col: 1 });
}
