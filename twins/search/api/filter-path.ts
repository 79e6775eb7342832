/**
 * `filter_path`: which parts of an answer are sent. `*` is any part of one name, `**` any number of names, `-` leaves out.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/common-options.html#common-options-response-filtering
 */
import { readExactJson } from "../json/read.ts";
import { isScalar, membersOf, RawJson } from "../json/write.ts";
import { illegal } from "./parameters.ts";

type Step = { kind: "name"; matches: (name: string) => boolean } | { kind: "any-depth" };
type Path = readonly Step[];

/** The longest filter accepted; each name of an answer is held against each path. */
const MAX_PATHS = 1000;

/** Applies the filter to an answer's body. @throws VendorError */
export function filterPath(body: unknown, filter: readonly string[]): unknown {
  if (filter.length > MAX_PATHS) throw illegal(`filter_path has more than ${MAX_PATHS} paths`);
  const includes = filter.filter((path) => !path.startsWith("-")).map(readPath);
  const excludes = filter.filter((path) => path.startsWith("-")).map((path) => readPath(path.slice(1)));
  const kept = includes.length === 0 ? body : include(body, includes);
  const left = excludes.length === 0 ? kept : exclude(kept, excludes);
  return left === undefined ? {} : left;
}

function readPath(path: string): Path {
  return splitPath(path).map((name) =>
    name === "**" ? { kind: "any-depth" } : { kind: "name", matches: matcherOf(name) },
  );
}

/** `a.b` is two names; `a\.b` is one. */
function splitPath(path: string): string[] {
  return path.split(/(?<!\\)\./).map((name) => name.replaceAll("\\.", "."));
}

function matcherOf(pattern: string): (name: string) => boolean {
  if (!pattern.includes("*")) return (name) => name === pattern;
  const parts = pattern.split("*");
  return (name) => matchesParts(name, parts);
}

/** Whether the parts stand in the name in their order, the first at its start and the last at its end. */
function matchesParts(name: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
    return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

/** What of the paths is left below a name, and whether one of them ends there. */
function descend(paths: readonly Path[], name: string): { below: Path[]; ends: boolean } {
  const below: Path[] = [];
  let ends = false;
  const follow = (path: Path) => {
    const [step, ...rest] = path;
    if (!step) return;
    if (step.kind === "any-depth") {
      below.push(path);
      if (rest.length === 0) ends = true;
      else follow(rest);
    } else if (step.matches(name)) {
      if (rest.length === 0) ends = true;
      else below.push(rest);
    }
  };
  paths.forEach(follow);
  return { below, ends };
}

function include(value: unknown, paths: readonly Path[]): unknown {
  if (value instanceof RawJson) return include(readExactJson(value.text), paths);
  if (isScalar(value)) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item) => include(item, paths)).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  const kept = new Map<string, unknown>();
  for (const [name, member] of membersOf(value)) {
    const { below, ends } = descend(paths, name);
    const part = ends ? member : below.length > 0 ? include(member, below) : undefined;
    if (part !== undefined) kept.set(name, part);
  }
  return kept.size === 0 ? undefined : kept;
}

function exclude(value: unknown, paths: readonly Path[]): unknown {
  if (value instanceof RawJson) return exclude(readExactJson(value.text), paths);
  if (isScalar(value)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => exclude(item, paths)).filter((item) => item !== undefined);
    return items.length === 0 && value.length > 0 ? undefined : items;
  }
  const members = membersOf(value);
  const kept = new Map<string, unknown>();
  for (const [name, member] of members) {
    const { below, ends } = descend(paths, name);
    if (ends) continue;
    const part = below.length > 0 ? exclude(member, below) : member;
    if (part !== undefined) kept.set(name, part);
  }
  return kept.size === 0 && members.length > 0 ? undefined : kept;
}
