/**
 * `filter_path`: selects the parts of an answer. `*` matches any part of one name, `**` any number of names; `-` excludes.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/common-options.html#common-options-response-filtering
 */

import { matchesParts } from "@offhook/platform/base/star-pattern";
import { illegalArgument } from "../vendor/error.ts";
import { readExactJson } from "./read.ts";
import { isScalar, membersOf, RawJson } from "./write.ts";

type Step = { kind: "name"; matches: (name: string) => boolean } | { kind: "any-depth" };
export type Path = readonly Step[];

/** Splits a member name into the names it stands for: itself alone, or its dotted parts. */
export type SplitName = (name: string) => readonly string[];

const whole: SplitName = (name) => [name];

/** Bounds the work: each name of an answer is compared with each path. */
const MAX_PATHS = 1000;

/** Reduces the body of an answer. */
export type BodyFilter = (body: unknown) => unknown;

/** @throws VendorError for too many paths */
export function readFilter(paths: readonly string[]): BodyFilter {
  if (paths.length === 0) return (body) => body;
  if (paths.length > MAX_PATHS) throw illegalArgument(`filter_path has more than ${MAX_PATHS} paths`);
  const includes = paths.filter((path) => !path.startsWith("-")).map(readPath);
  const excludes = paths.filter((path) => path.startsWith("-")).map((path) => readPath(path.slice(1)));
  return (body) => {
    const included = includes.length === 0 ? body : includePaths(body, includes, whole);
    return (included === undefined ? undefined : excludePaths(included, excludes, whole)) ?? {};
  };
}

export function readPath(path: string): Path {
  return splitPath(path).map((name) =>
    name === "**" ? { kind: "any-depth" } : { kind: "name", matches: matcherOf(name) },
  );
}

/** `a.b` is two names; `a\.b` is one. */
function splitPath(path: string): string[] {
  return path.split(/(?<!\\)\./).map((name) => name.replaceAll("\\.", "."));
}

function matcherOf(pattern: string): (name: string) => boolean {
  const parts = pattern.split("*");
  return (name) => matchesParts(name, parts);
}

/** The rest of the paths below a name, and whether one of them ends there. */
function descend(paths: readonly Path[], names: readonly string[]): { below: Path[]; ends: boolean } {
  let below = [...paths];
  for (const name of names) {
    const found = descendOne(below, name);
    if (found.ends) return found;
    below = found.below;
  }
  return { below, ends: false };
}

function descendOne(paths: readonly Path[], name: string): { below: Path[]; ends: boolean } {
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

/** Keeps what the paths name, with its enclosing objects; `undefined` when nothing is left. */
export function includePaths(value: unknown, paths: readonly Path[], split: SplitName): unknown {
  if (value instanceof RawJson) return includePaths(readExactJson(value.text), paths, split);
  if (isScalar(value)) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item) => includePaths(item, paths, split)).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  const kept = new Map<string, unknown>();
  for (const [name, member] of membersOf(value)) {
    const { below, ends } = descend(paths, split(name));
    const part = ends ? member : below.length > 0 ? includePaths(member, below, split) : undefined;
    if (part !== undefined) kept.set(name, part);
  }
  return kept.size === 0 ? undefined : kept;
}

/** Drops what the paths name; `undefined` when nothing is left. */
export function excludePaths(value: unknown, paths: readonly Path[], split: SplitName): unknown {
  if (value instanceof RawJson) return excludePaths(readExactJson(value.text), paths, split);
  if (isScalar(value)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => excludePaths(item, paths, split)).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  const kept = new Map<string, unknown>();
  for (const [name, member] of membersOf(value)) {
    const { below, ends } = descend(paths, split(name));
    if (ends) continue;
    const part = below.length > 0 ? excludePaths(member, below, split) : member;
    if (part !== undefined) kept.set(name, part);
  }
  return kept.size === 0 ? undefined : kept;
}
