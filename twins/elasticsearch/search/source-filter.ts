/** `_source` filters: the parts of a document that a hit shows. */

import { ContentParser } from "../json/content-parser.ts";
import { excludePaths, includePaths, readPath } from "../json/filter-path.ts";
import { type ExactJson, type Json, readExactJson } from "../json/read.ts";
import { RawJson } from "../json/write.ts";
import { eachMember } from "../query/syntax/options.ts";
import { VendorError } from "../vendor/error.ts";
import type { Parameters } from "../vendor/parameters.ts";
import { NameState } from "./name-state.ts";

export type SourceFilter =
  | { kind: "all" }
  | { kind: "none" }
  | { kind: "some"; includes: readonly string[]; excludes: readonly string[] };

export const wholeSource: SourceFilter = { kind: "all" };

/** Bounds the work: each pattern is matched against every path of every hit. */
const MAX_PATTERNS = 1000;

/** Reads `_source`: a boolean, a pattern, patterns, or `{includes, excludes}`. @throws VendorError */
export function readSourceFilter(content: ContentParser): SourceFilter {
  switch (content.token) {
    case "VALUE_BOOLEAN":
      return content.boolean() ? wholeSource : { kind: "none" };
    case "VALUE_STRING":
      return patternFilter([content.text()], []);
    case "START_ARRAY": {
      const includes: string[] = [];
      while (content.next() !== "END_ARRAY") includes.push(content.text());
      return patternFilter(includes, []);
    }
    case "START_OBJECT":
      return readIncludesAndExcludes(content);
    default:
      throw content.error(
        `Expected one of [VALUE_BOOLEAN, VALUE_STRING, START_ARRAY, START_OBJECT] but found [${content.token}]`,
      );
  }
}

function readIncludesAndExcludes(content: ContentParser): SourceFilter {
  const patterns: Record<"includes" | "excludes", string[]> = { includes: [], excludes: [] };
  const unknown = () => content.error(`Unknown key for a ${content.token} in [${content.name}].`);
  eachMember(content, () => {
    const list = /^includes?$/.test(content.name) ? "includes" : "excludes";
    if (!/^(in|ex)cludes?$/.test(content.name)) throw unknown();
    if (content.token === "VALUE_STRING") {
      patterns[list] = [content.text()];
      return;
    }
    if (content.token !== "START_ARRAY") throw unknown();
    const items: string[] = [];
    for (let token = content.next(); token !== "END_ARRAY"; token = content.next()) {
      if (token !== "VALUE_STRING") throw unknown();
      items.push(content.text());
    }
    patterns[list] = items;
  });
  return patternFilter(patterns.includes, patterns.excludes);
}

/** Reads `_source` of a part of a body, such as an item of `_mget`. @throws VendorError */
export function sourceFilterOf(json: Json): SourceFilter {
  const content = new ContentParser(json);
  content.next();
  return readSourceFilter(content);
}

export const sourceParameters = ["_source", "_source_includes", "_source_excludes"];

/** Reads the equivalent URL parameters; `undefined` without any. */
export function readSourceParameters(parameters: Parameters): SourceFilter | undefined {
  const text = parameters.text("_source");
  const includes = parameters.list("_source_includes");
  const excludes = parameters.list("_source_excludes");
  if (text === undefined && !includes && !excludes) return undefined;
  if (text === "false") return { kind: "none" };
  const named = text === undefined || text === "true" || text === "" ? [] : text.split(",");
  return patternFilter([...named, ...(includes ?? [])], excludes ?? []);
}

function patternFilter(includes: readonly string[], excludes: readonly string[]): SourceFilter {
  if (includes.length === 0 && excludes.length === 0) return wholeSource;
  if (includes.length + excludes.length > MAX_PATTERNS) {
    throw parsingError(`[_source] may have at most ${MAX_PATTERNS} patterns`);
  }
  return { kind: "some", includes, excludes };
}

/** Applies a filter to a source; `undefined` shows no `_source` at all. */
export function filterSource(source: string, filter: SourceFilter): unknown {
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

/**
 * The vendor has two filter algorithms. Without a star in `excludes` it matches paths: a star stays within one name,
 * and objects left empty are dropped. With such a star it matches whole dotted names: a star crosses dots, and included
 * objects stay even when empty. In both, `a` also covers `a.b`, as a nested object or as a dotted name.
 * Source: `SourceFilter`, `FilterPath` and `XContentMapValues` of 8.15.
 */
function filterDocument(document: ExactJson, { includes, excludes }: Some): unknown {
  if (excludes.some((pattern) => pattern.includes("*"))) {
    if (!(document instanceof Map)) return document;
    const including = includes.length === 0 ? anyName : NameState.of(includes);
    return filterByName(document, including, NameState.of(excludes));
  }
  const kept = excludePaths(document, excludes.map(readPath), splitAtDots);
  const found = includes.length === 0 ? kept : includePaths(kept ?? {}, includes.map(readPath), splitAtDots);
  return found ?? {};
}

/** A leading or trailing dot is part of the name. */
function splitAtDots(name: string): string[] {
  const dot = name.indexOf(".");
  if (dot <= 0 || dot === name.length - 1) return [name];
  return [name.slice(0, dot), ...splitAtDots(name.slice(dot + 1))];
}

const anyName = NameState.of(["*"]);

function filterByName(object: ReadonlyMap<string, ExactJson>, include: NameState, exclude: NameState) {
  const kept = new Map<string, ExactJson>();
  for (const [name, value] of object) {
    const included = include.after(name);
    const excluded = exclude.after(name);
    if (included.isDead || excluded.accepts) continue;
    if (included.accepts && excluded.after(".").isDead) {
      kept.set(name, value);
      continue;
    }
    // Members of an included object are included unless excluded.
    const inner = included.accepts ? anyName : included;
    if (value instanceof Map) {
      const part = filterByName(value, inner.after("."), excluded.after("."));
      if (included.accepts || part.size > 0) kept.set(name, part);
    } else if (Array.isArray(value)) {
      const part = filterItems(value, inner, excluded);
      if (included.accepts || part.length > 0) kept.set(name, part);
    } else if (included.accepts) {
      kept.set(name, value);
    }
  }
  return kept;
}

function filterItems(items: readonly ExactJson[], include: NameState, exclude: NameState): ExactJson[] {
  return items.flatMap((item): ExactJson[] => {
    if (item instanceof Map) {
      const part = filterByName(item, include.after("."), exclude.after("."));
      return part.size > 0 ? [part] : [];
    }
    if (Array.isArray(item)) {
      const part = filterItems(item, include, exclude);
      return part.length > 0 ? [part] : [];
    }
    return include.accepts ? [item] : [];
  });
}

function parsingError(reason: string): VendorError {
  return new VendorError(400, { type: "parsing_exception", reason, line: 1, col: 1 });
}
