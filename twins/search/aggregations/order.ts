/** The order of buckets, by their key, their count, or a figure of a sub-aggregation. */
import { joined, raw, type Sql, sql } from "../../datasets/sql.ts";
import { textOf, tokenOf } from "../json/token.ts";
import type { Aggregation, OrderTerm, SortOrder } from "./aggregation.ts";
import { argumentError, optionError } from "./errors.ts";
import { isRecord } from "./options.ts";
import type { Owner } from "./places.ts";
import type { Bucket, Result } from "./result.ts";

/** Reads `{"_count": "desc"}`, or a list of such. A tie is broken by the key, unless the order names it. */
export function readOrder(
  value: unknown,
  type: string,
  fallback: readonly OrderTerm[],
): readonly OrderTerm[] {
  if (value === undefined) return fallback;
  const terms = (Array.isArray(value) ? value : [value]).map((one) => readOrderTerm(one, type));
  return terms.some(({ path }) => path === "_key") ? terms : [...terms, { path: "_key", order: "asc" }];
}

function readOrderTerm(value: unknown, type: string): OrderTerm {
  if (!isRecord(value)) {
    throw optionError(`[${type}] order doesn't support values of type: ${tokenOf(value)}`);
  }
  const [entry, ...others] = Object.entries(value);
  if (!entry || others.length > 0) {
    throw optionError(`[${type}] failed to parse field [order]`, {
      type: "parsing_exception",
      reason: entry
        ? `Must specify exactly one field for [order]`
        : "Must specify at least one field for [order]",
    });
  }
  const [path, order] = entry;
  if (typeof order !== "string" || !/^(?:asc|desc)$/i.test(order)) {
    throw optionError(`[${type}] failed to parse field [order]`, {
      type: "parsing_exception",
      reason: `Unknown order direction [${textOf(order)}]`,
    });
  }
  // `_term` and `_time` are older names of the key.
  const name = path === "_term" || path === "_time" ? "_key" : path;
  return { path: name, order: /^asc$/i.test(order) ? "asc" : "desc" };
}

/** A path to a figure: aggregations, each in the one before, and the figure's name. */
export interface FigurePath {
  names: readonly string[];
  property: string | undefined;
}

/** Reads `a>b.c`, `a>b[c]`. @throws VendorError */
export function readPath(path: string): FigurePath {
  const names = path.split(">");
  const last = names.pop() ?? "";
  const bracket = last.endsWith("]") ? last.lastIndexOf("[", last.length - 3) : -1;
  const at = bracket > 0 ? bracket : last.indexOf(".");
  const name = at > 0 ? last.slice(0, at) : last;
  const property = at > 0 ? last.slice(at + 1, bracket > 0 ? -1 : undefined) : undefined;
  if (name === "" || names.includes(""))
    throw argumentError(`Invalid path element [${path}] in path [${path}]`);
  return { names: [...names, name], property: property?.replace(/^(['"])(.*)\1$/, "$2") };
}

/** What stands after ORDER BY, over the columns of a grouping. */
export function orderSql(
  terms: readonly OrderTerm[],
  key: Sql,
  children: readonly Aggregation[],
  owner: Owner,
): Sql {
  return joined(
    terms.map(({ path, order }) => {
      if (path === "_key") return sql`${key} ${raw(order)}`;
      if (path === "_count") return sql`n ${raw(order)}`;
      return sql`${figureSql(path, children, owner)} ${raw(order)} NULLS LAST`;
    }),
    ", ",
  );
}

function figureSql(path: string, children: readonly Aggregation[], owner: Owner): Sql {
  const { names, property } = resolvePath(path, children);
  let level = children;
  for (const name of names) {
    const child = level.find((one) => one.name === name);
    const place = child && owner.places.get(child);
    if (child?.kind === "single" && place?.kind === "single") {
      if (name === names.at(-1)) return raw(`coalesce(${owner.columns[place.first]}, 0)`);
      level = child.children.aggregations;
    } else if (child?.kind === "metric" && place?.kind === "metric") {
      const columns = owner.columns
        .slice(place.first, place.first + place.count)
        .map((column) => raw(column));
      const figure = child.figure(columns, property);
      if (figure) return figure;
    }
  }
  throw invalidPath(path, `The provided aggregation [${names.at(-1)}] cannot be used to sort the buckets.`);
}

/** The path, checked against the aggregations it names. @throws VendorError as the vendor words it */
export function resolvePath(path: string, children: readonly Aggregation[]): FigurePath {
  const read = readPath(path);
  const whole = children.find(({ name }) => name === path);
  const { names, property } = whole ? { names: [path], property: undefined } : read;
  let level = children;
  names.forEach((name, index) => {
    const child = level.find((one) => one.name === name);
    if (!child) {
      throw invalidPath(
        path,
        `The provided aggregation [${name}] either does not exist, or is a pipeline aggregation and cannot be used to sort the buckets.`,
      );
    }
    const last = index === names.length - 1;
    if (child.kind === "buckets" || child.kind === "hits") {
      throw invalidPath(
        path,
        last
          ? `Ordering on a multi-bucket aggregation [${name}] can only be done on its single-bucket or metrics sub-aggregations`
          : `Buckets can only be sorted on a sub-aggregator path that is built out of zero or more single-bucket aggregations within the path and a final single-bucket or a metrics aggregation at the path end. Sub-path [${name}] points to non single-bucket aggregation`,
      );
    }
    if (!last && child.kind === "metric") {
      throw invalidPath(path, `Sub-path [${name}] points to a metrics aggregation`);
    }
    level = child.kind === "single" ? child.children.aggregations : [];
  });
  return { names, property };
}

function invalidPath(path: string, reason: string): Error {
  return argumentError(`Invalid aggregation order path [${path}]. ${reason}`);
}

/** Orders finished buckets; those without the figure come last. */
export function sortBuckets(
  buckets: Bucket[],
  terms: readonly OrderTerm[],
  byKey: (a: Bucket, b: Bucket) => number,
): Bucket[] {
  return [...buckets].sort((a, b) => {
    for (const { path, order } of terms) {
      const compared =
        path === "_key"
          ? directed(byKey(a, b), order)
          : compareFigures(figureOf(a, path), figureOf(b, path), order);
      if (compared !== 0) return compared;
    }
    return 0;
  });
}

function directed(compared: number, order: SortOrder): number {
  return order === "asc" ? compared : -compared;
}

export function compareFigures(a: number, b: number, order: SortOrder): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return directed(a < b ? -1 : a > b ? 1 : 0, order);
}

function figureOf(bucket: Bucket, path: string): number {
  if (path === "_count") return bucket.docCount;
  const { names, property } = bucket.results.has(path)
    ? { names: [path], property: undefined }
    : readPath(path);
  let results: ReadonlyMap<string, Result> = bucket.results;
  for (const [index, name] of names.entries()) {
    const result = results.get(name);
    if (result?.kind === "metric") return result.figure(property) ?? Number.NaN;
    if (result?.kind !== "single") return Number.NaN;
    if (index === names.length - 1) return result.docCount;
    results = result.results;
  }
  return Number.NaN;
}
