/** `buckets_path`: paths to the values of a pipeline aggregation: `a>b.c`, `a['key']>b`, `_count`. */
import { unfitResults } from "../errors.ts";
import type { Options } from "../options.ts";
import type { Bucket, Result } from "../result.ts";

export type GapPolicy = "skip" | "insert_zeros" | "keep_values";

export interface PathElement {
  name: string;
  /** Selects one bucket. */
  key: string | undefined;
}

export function readGapPolicy(options: Options): GapPolicy {
  const policy = options.text("gap_policy");
  return policy === "insert_zeros" || policy === "keep_values" ? policy : "skip";
}

export function readPathElements(path: string): PathElement[] {
  return path.split(">").map((element) => {
    const bracket = element.indexOf("[", 1);
    const key = bracket > 0 && element.endsWith("]") ? element.slice(bracket + 1, -1) : "";
    return key === ""
      ? { name: element, key: undefined }
      : { name: element.slice(0, bracket), key: unquote(key) };
  });
}

function unquote(key: string): string {
  const quote = key.charAt(0);
  return key.length > 2 && (quote === '"' || quote === "'") && key.endsWith(quote) ? key.slice(1, -1) : key;
}

/**
 * The value of a path in a bucket, after the gap policy: NaN for a gap, `undefined` when the bucket does not have the result.
 */
export function bucketValue(bucket: Bucket, path: string, policy: GapPolicy): number | undefined {
  const elements = readPathElements(path);
  const value = path === "_count" ? bucket.docCount : valueIn(bucket.results, elements, path, bucket);
  if (value === undefined) return undefined;
  const missing = !Number.isFinite(value);
  if (policy === "keep_values") return missing ? Number.NaN : value;
  if (!missing && (bucket.docCount > 0 || path === "_count")) return value;
  return policy === "insert_zeros" ? 0 : Number.NaN;
}

function valueIn(
  results: ReadonlyMap<string, Result>,
  elements: readonly PathElement[],
  path: string,
  bucket: Bucket | undefined,
): number | undefined {
  const [element, ...rest] = elements;
  if (!element) throw unusablePath(path);
  if (element.name === "_key") return bucket?.position ?? Number.NaN;
  const last = rest.length === 0;
  const { name, property } =
    last && element.key === undefined
      ? splitProperty(element.name, results)
      : { name: element.name, property: element.key };
  const result = results.get(name);
  switch (result?.kind) {
    case "metric": {
      const value = result.metricValue(property);
      if (value === undefined) {
        throw unknownValue(result.typeName, name, property);
      }
      return value;
    }
    case "single":
      if (last && (property === "_count" || property === undefined)) return result.docCount;
      if (rest[0]?.name === "_count") return result.docCount;
      return valueIn(
        result.results,
        last && property !== undefined ? [{ name: property, key: undefined }] : rest,
        path,
        undefined,
      );
    case "buckets": {
      if (property === "_bucket_count" || rest[0]?.name === "_bucket_count") return result.buckets.length;
      const found = result.buckets.find(({ key }) => key === property);
      if (property === undefined) throw unusablePath(path);
      if (!found) return Number.NaN;
      return last || rest[0]?.name === "_count" ? found.docCount : valueIn(found.results, rest, path, found);
    }
    default:
      // The result of a pipeline aggregation is absent from buckets without a value.
      return undefined;
  }
}

/** Splits at the dot between name and property; names may contain dots too. */
function splitProperty(
  text: string,
  results: ReadonlyMap<string, Result>,
): { name: string; property: string | undefined } {
  if (results.has(text)) return { name: text, property: undefined };
  for (let dot = text.indexOf("."); dot > 0; dot = text.indexOf(".", dot + 1)) {
    if (results.has(text.slice(0, dot))) return { name: text.slice(0, dot), property: text.slice(dot + 1) };
  }
  return { name: text, property: undefined };
}

function unusablePath(path: string): Error {
  const [name = ""] = path.split(">").slice(-1);
  return unfitResults(
    `buckets_path must reference either a number value or a single value numeric metric aggregation, got: [Object[]] at aggregation [${name.split(".")[0]}]`,
  );
}

function unknownValue(typeName: string, name: string, property: string | undefined): Error {
  if (typeName === "stats" || typeName === "extended_stats") {
    const constant = "org.elasticsearch.search.aggregations.metrics.InternalStats.Metrics";
    return unfitResults(`No enum constant ${constant}.${property ?? name}`);
  }
  if (property !== undefined) return unfitResults(`path not supported for [${name}]: [${property}]`);
  return unfitResults(
    `buckets_path must reference either a number value or a single value numeric metric aggregation, but [${name}] contains multiple values. Please specify which to use.`,
  );
}

/** The buckets on a path with their values: for `a>b`, the buckets of `a` with their `b`. */
export function siblingValues(
  results: ReadonlyMap<string, Result>,
  path: string,
  policy: GapPolicy,
): { key: string; value: number }[] {
  const [element = "", ...rest] = path.split(">");
  const [{ name: text, key } = { name: "", key: undefined }] = readPathElements(element);
  const { name, property } = splitProperty(text, results);
  const inner = rest.length > 0 ? rest.join(">") : (property ?? "_count");
  const result = results.get(name);
  if (result?.kind === "single") return siblingValues(result.results, inner, policy);
  if (result?.kind !== "buckets") return [];
  if (key !== undefined) {
    const found = result.buckets.find((bucket) => bucket.key === key);
    return found ? siblingValues(found.results, inner, policy) : [];
  }
  return result.buckets.flatMap((bucket) => {
    const value = bucketValue(bucket, inner, policy);
    return value === undefined || Number.isNaN(value) ? [] : [{ key: bucket.key, value }];
  });
}
