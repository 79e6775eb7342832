/** Results of aggregations, and their rendering. */
import type { JsonRecord } from "./options.ts";

/** Ordered members of an object. */
export type Members = readonly (readonly [name: string, value: unknown])[];

interface Described {
  /** The type in `typed_keys`: `sterms`. */
  readonly typeName: string;
  readonly meta: JsonRecord | undefined;
}

/** A number that paths, orders and pipelines refer to; NaN without a value. */
export type MetricValue = number;

export interface MetricResult extends Described {
  readonly kind: "metric";
  readonly members: Members;
  /** @param name `undefined`: the only one @returns `undefined` for an unknown name */
  metricValue(name: string | undefined): MetricValue | undefined;
}

/** Whether a path's property means the only value of a metric. */
export function namesValue(property: string | undefined): boolean {
  return property === undefined || property === "value";
}

/** A result with one value. */
export function valueResult(described: Described, value: MetricValue, members: Members): MetricResult {
  const { typeName, meta } = described;
  return {
    kind: "metric",
    typeName,
    meta,
    members,
    metricValue: (property) => (namesValue(property) ? value : undefined),
  };
}

interface SingleResult extends Described {
  readonly kind: "single";
  readonly docCount: number;
  readonly results: Map<string, Result>;
}

export interface Bucket {
  /** The key in paths, and the member name when buckets are keyed. */
  readonly key: string;
  /** The numeric key, if it has one. */
  readonly position: number | undefined;
  readonly docCount: number;
  /** Members before the sub-aggregations. */
  readonly members: Members;
  readonly results: Map<string, Result>;
}

export interface BucketsResult extends Described {
  readonly kind: "buckets";
  /** Members before `buckets`. */
  readonly members: Members;
  /** Renders an object of buckets by key instead of a list. */
  readonly keyed: boolean;
  buckets: Bucket[];
}

export interface HitsResult extends Described {
  readonly kind: "hits";
  hits: unknown;
}

export type Result = MetricResult | SingleResult | BucketsResult | HitsResult;

interface RenderOptions {
  /** Prefixes names with their types: `sterms#name`. */
  readonly typedKeys: boolean;
}

/** Renders results as an object by their names. */
export function renderResults(
  results: ReadonlyMap<string, Result>,
  options: RenderOptions,
): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [name, result] of results) {
    members.set(options.typedKeys ? `${result.typeName}#${name}` : name, renderResult(result, options));
  }
  return members;
}

function renderResult(result: Result, options: RenderOptions): Map<string, unknown> {
  const object = new Map<string, unknown>();
  if (result.meta) object.set("meta", result.meta);
  switch (result.kind) {
    case "metric":
      for (const [name, value] of result.members) object.set(name, value);
      break;
    case "single":
      object.set("doc_count", result.docCount);
      addAll(object, renderResults(result.results, options));
      break;
    case "buckets": {
      for (const [name, value] of result.members) object.set(name, value);
      const buckets = result.buckets.map((bucket) => renderBucket(bucket, options));
      object.set(
        "buckets",
        result.keyed ? new Map(result.buckets.map(({ key }, index) => [key, buckets[index]])) : buckets,
      );
      break;
    }
    case "hits":
      object.set("hits", result.hits);
      break;
  }
  return object;
}

function renderBucket({ members, results }: Bucket, options: RenderOptions): Map<string, unknown> {
  const object = new Map<string, unknown>(members);
  addAll(object, renderResults(results, options));
  return object;
}

function addAll(object: Map<string, unknown>, members: ReadonlyMap<string, unknown>): void {
  for (const [name, value] of members) object.set(name, value);
}
