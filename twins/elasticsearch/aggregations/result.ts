/** Results of aggregations, and how they go out. */
import type { JsonRecord } from "./options.ts";

/** Members of an object, in their order. */
export type Members = readonly (readonly [name: string, value: unknown])[];

interface Described {
  /** How `typed_keys` names the type: `sterms`. */
  readonly typeName: string;
  readonly meta: JsonRecord | undefined;
}

/** A number, or NaN when there is none: what paths, orders and pipelines see. */
export type Figure = number;

export interface MetricResult extends Described {
  readonly kind: "metric";
  readonly members: Members;
  /** @param name `undefined`: the one it has; @returns `undefined` when it has none of that name */
  figure(name: string | undefined): Figure | undefined;
}

/** Whether a path's property means the figure of a metric that has only one. */
export function namesValue(property: string | undefined): boolean {
  return property === undefined || property === "value";
}

/** A result of one figure. */
export function valueResult(described: Described, value: Figure, members: Members): MetricResult {
  const { typeName, meta } = described;
  return {
    kind: "metric",
    typeName,
    meta,
    members,
    figure: (property) => (namesValue(property) ? value : undefined),
  };
}

export interface SingleResult extends Described {
  readonly kind: "single";
  readonly docCount: number;
  readonly results: Map<string, Result>;
}

export interface Bucket {
  /** As a path names it, and the name of its member when buckets are keyed. */
  readonly key: string;
  /** Its key as a number, where it has one. */
  readonly position: number | undefined;
  readonly docCount: number;
  /** Before those of its sub-aggregations. */
  readonly members: Members;
  readonly results: Map<string, Result>;
}

export interface BucketsResult extends Described {
  readonly kind: "buckets";
  /** Before `buckets`. */
  readonly members: Members;
  /** An object of buckets by their key, rather than a list. */
  readonly keyed: boolean;
  buckets: Bucket[];
}

export interface HitsResult extends Described {
  readonly kind: "hits";
  hits: unknown;
}

export type Result = MetricResult | SingleResult | BucketsResult | HitsResult;

/** The object that holds results by their names. */
export function renderResults(
  results: ReadonlyMap<string, Result>,
  typedKeys: boolean,
): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [name, result] of results) {
    members.set(typedKeys ? `${result.typeName}#${name}` : name, renderResult(result, typedKeys));
  }
  return members;
}

function renderResult(result: Result, typedKeys: boolean): Map<string, unknown> {
  const object = new Map<string, unknown>();
  if (result.meta) object.set("meta", result.meta);
  switch (result.kind) {
    case "metric":
      for (const [name, value] of result.members) object.set(name, value);
      break;
    case "single":
      object.set("doc_count", result.docCount);
      addAll(object, renderResults(result.results, typedKeys));
      break;
    case "buckets": {
      for (const [name, value] of result.members) object.set(name, value);
      const buckets = result.buckets.map((bucket) => renderBucket(bucket, typedKeys));
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

function renderBucket({ members, results }: Bucket, typedKeys: boolean): Map<string, unknown> {
  const object = new Map<string, unknown>(members);
  addAll(object, renderResults(results, typedKeys));
  return object;
}

function addAll(object: Map<string, unknown>, members: ReadonlyMap<string, unknown>): void {
  for (const [name, value] of members) object.set(name, value);
}
