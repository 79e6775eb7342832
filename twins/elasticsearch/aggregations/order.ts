/** The order of buckets, by key, count, or a value of a sub-aggregation. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { parsingErrorAt, type Spot } from "../json/located-error.ts";
import type { JsonPath } from "../json/position.ts";
import { tokenOf } from "../json/token.ts";
import { VendorError } from "../vendor/error.ts";
import type { Aggregation, Aggregations, OrderTerm, SortOrder } from "./aggregation.ts";
import { argumentError } from "./errors.ts";
import { isRecord } from "./options.ts";
import type { Owner } from "./places.ts";
import type { Bucket, Result } from "./result.ts";
import { failedAt, type Member } from "./syntax/declared.ts";

/** `{"_count": "desc"}` or a list of such; the last of several members counts. */
export const orderMember: Member = {
  tokens: ["START_OBJECT", "START_ARRAY"],
  read(value, { path }) {
    if (!Array.isArray(value)) return [readOrderTerm(value, path)];
    if (value.length === 0) {
      throw failedAt(
        { path, what: "end" },
        {
          type: "index_out_of_bounds_exception",
          reason: "Index 0 out of bounds for length 0",
        },
      );
    }
    return value.map((item, index) => {
      if (isRecord(item)) return readOrderTerm(item, [...path, index]);
      if (Array.isArray(item)) {
        throw failedAt(
          { path: [...path, index], what: "value" },
          { type: "illegal_state_exception", reason: "expected value but got [START_ARRAY]" },
        );
      }
      // The vendor's object parser skips one token without checking it, and reports the token behind.
      const next = index + 1 < value.length;
      const cursor: Spot = next ? { path: [...path, index + 1], what: "value" } : { path, what: "end" };
      throw unexpected(cursor, next ? tokenOf(value[index + 1]) : "END_ARRAY");
    });
  },
};

function unexpected(cursor: Spot, token: string): Error {
  return parsingErrorAt(cursor, `Unexpected token [${token}] for [order]`);
}

function readOrderTerm(value: unknown, path: JsonPath): OrderTerm {
  let term: OrderTerm | undefined;
  for (const [name, order] of Object.entries(isRecord(value) ? value : {})) {
    const cursor: Spot = { path: [...path, name], what: "value" };
    if (typeof order !== "string") throw unexpected(cursor, tokenOf(order));
    if (!/^(?:asc|desc)$/i.test(order)) throw parsingErrorAt(cursor, `Unknown order direction [${order}]`);
    term = { path: name, order: /^asc$/i.test(order) ? "asc" : "desc" };
  }
  if (term) return term;
  throw parsingErrorAt({ path, what: "end" }, "Must specify at least one field for [order]");
}

/** Returns the parsed order, or the default. Appends the key as a tie-breaker, unless the order contains it. */
export function readOrder(value: unknown, fallback: readonly OrderTerm[]): readonly OrderTerm[] {
  if (!Array.isArray(value)) return fallback;
  const terms: readonly OrderTerm[] = value;
  return terms.some(({ path }) => path === "_key") ? terms : [...terms, { path: "_key", order: "asc" }];
}

/** @throws VendorError for a path to something that buckets cannot be sorted by */
export function checkOrder(order: readonly OrderTerm[], { aggregations }: Aggregations): void {
  for (const { path } of order) if (path !== "_key" && path !== "_count") resolvePath(path, aggregations);
}

/** A path to a value: nested aggregations, outermost first, and the property. */
export interface MetricPath {
  names: readonly string[];
  property: string | undefined;
}

/** Reads `a>b.c`, `a>b[c]`. @throws VendorError */
export function readPath(path: string): MetricPath {
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

/** The ORDER BY list over the columns of a grouping. */
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
      return sql`${metricValueSql(path, children, owner)} ${raw(order)} NULLS LAST`;
    }),
    ", ",
  );
}

function metricValueSql(path: string, children: readonly Aggregation[], owner: Owner): Sql {
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
      const metricValue = child.metricValue(columns, property);
      if (metricValue) return metricValue;
    }
  }
  throw invalidPath(path, `The provided aggregation [${names.at(-1)}] cannot be used to sort the buckets.`);
}

/** Parses a path and checks that its aggregations exist. @throws VendorError */
function resolvePath(path: string, children: readonly Aggregation[]): MetricPath {
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
  return new VendorError(400, {
    type: "invalid_path",
    reason: `Invalid aggregation order path [${path}]. ${reason}`,
    caused_by: { type: "illegal_argument_exception", reason },
  });
}

/** Sorts finished buckets; those without the value come last. */
export function sortBuckets(
  buckets: Bucket[],
  terms: readonly OrderTerm[],
  byKey: (a: Bucket, b: Bucket) => number,
): Bucket[] {
  return [...buckets].sort((a, b) => {
    for (const { path, order } of terms) {
      const compared =
        path === "_key"
          ? applyDirection(byKey(a, b), order)
          : compareValues(metricValueOf(a, path), metricValueOf(b, path), order);
      if (compared !== 0) return compared;
    }
    return 0;
  });
}

function applyDirection(compared: number, order: SortOrder): number {
  return order === "asc" ? compared : -compared;
}

export function compareValues(a: number, b: number, order: SortOrder): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return applyDirection(a < b ? -1 : a > b ? 1 : 0, order);
}

function metricValueOf(bucket: Bucket, path: string): number {
  if (path === "_count") return bucket.docCount;
  const { names, property } = bucket.results.has(path)
    ? { names: [path], property: undefined }
    : readPath(path);
  let results: ReadonlyMap<string, Result> = bucket.results;
  for (const [index, name] of names.entries()) {
    const result = results.get(name);
    if (result?.kind === "metric") return result.metricValue(property) ?? Number.NaN;
    if (result?.kind !== "single") return Number.NaN;
    if (index === names.length - 1) return result.docCount;
    results = result.results;
  }
  return Number.NaN;
}
