/** `bucket_script`, `bucket_selector`, `bucket_sort`: each works on its enclosing buckets. */
import { textOf } from "../../json/token.ts";
import type { Naming } from "../build.ts";
import { argumentError } from "../errors.ts";
import { isRecord, type JsonRecord, Options } from "../options.ts";
import { compareValues } from "../order.ts";
import type { Bucket } from "../result.ts";
import type { Member, Syntax } from "../syntax/declared.ts";
import { integer, object, text } from "../syntax/members.ts";
import { declaredPipeline, type PipelineDefinition, type PipelineType } from "./definition.ts";
import { bucketValue, type GapPolicy, readGapPolicy } from "./path.ts";
import { compileScript, type Script, type ScriptValue } from "./script.ts";
import { gapPolicyMember, readPrint, requirePath, simpleValue } from "./values.ts";

const scriptSyntax: Syntax = {
  members: {
    id: text(),
    source: text(),
    inline: text(),
    lang: text(),
    params: { tokens: ["START_OBJECT"], read: (value) => value },
    options: { tokens: ["START_OBJECT"], read: (value) => value },
  },
};

const inlineScript = object("script", scriptSyntax);

/** A script source, or an object with one. */
const script: Member = {
  tokens: ["START_OBJECT", "VALUE_STRING"],
  read: (value, place, before) =>
    typeof value === "string" ? value : inlineScript.read(value, place, before),
};

const scriptedMembers = {
  buckets_path: { tokens: ["START_OBJECT", "START_ARRAY", "VALUE_STRING"], read: readPaths },
  script,
  gap_policy: gapPolicyMember,
};

function requireScript(values: JsonRecord): void {
  requirePath(values);
  if (values.script === undefined) throw argumentError("Required [script]");
}

export const bucketScriptType: PipelineType = {
  read: declaredPipeline("bucket_script", {
    members: { ...scriptedMembers, format: text() },
    check: requireScript,
  }),
  define: defineBucketScript,
};

function defineBucketScript(naming: Naming, options: Options): PipelineDefinition {
  const { paths, script, policy, valuesOf } = readScriptAndPaths(options);
  const print = readPrint(options);
  return {
    pipeline: {
      kind: "pipeline",
      ...naming,
      parent(result) {
        for (const bucket of result.buckets) {
          const values = valuesOf(bucket);
          const isGap = (value: ScriptValue | undefined) => value === null || Number.isNaN(value);
          const skipped =
            policy !== "insert_zeros" && [...paths.keys()].some((name) => isGap(values.get(name)));
          if (skipped) continue;
          const value = script.run(values);
          if (value === null) continue;
          if (typeof value !== "number" && typeof value !== "bigint") {
            throw argumentError(
              `[${naming.name}]: the script must return a number, but returned [${String(value)}]`,
            );
          }
          bucket.results.set(naming.name, simpleValue(naming, Number(value), print));
        }
      },
    },
    paths: [...paths.values()],
    needs: "buckets",
  };
}

export const bucketSelectorType: PipelineType = {
  read: declaredPipeline("bucket_selector", { members: scriptedMembers, check: requireScript }),
  define: defineBucketSelector,
};

function defineBucketSelector(naming: Naming, options: Options): PipelineDefinition {
  const { paths, script, valuesOf } = readScriptAndPaths(options);
  return {
    pipeline: {
      kind: "pipeline",
      ...naming,
      parent(result) {
        result.buckets = result.buckets.filter((bucket) => {
          const value = script.run(valuesOf(bucket));
          if (typeof value === "boolean") return value;
          throw argumentError(
            `[${naming.name}]: the script must return a boolean, but returned [${String(value)}]`,
          );
        });
      },
    },
    paths: [...paths.values()],
    needs: "buckets",
  };
}

/** Reads a script and its bucket paths. */
function readScriptAndPaths(options: Options) {
  const paths = new Map(
    Object.entries(options.record("buckets_path") ?? {}).map(([name, path]) => [name, textOf(path)]),
  );
  const { script, params } = readScript(options);
  const policy = readGapPolicy(options);
  const valuesOf = (bucket: Bucket): Map<string, ScriptValue> => {
    const values = new Map(params);
    for (const [name, path] of paths) values.set(name, bucketValue(bucket, path, policy) ?? null);
    return values;
  };
  return { paths, script, policy, valuesOf };
}

/** Reads paths by their names in the script. */
function readPaths(value: unknown): JsonRecord {
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, path]) => [name, textOf(path)]));
  if (!Array.isArray(value)) return { _value: value };
  return Object.fromEntries(value.map((path, index) => [`_value${index}`, textOf(path)]));
}

function readScript(options: Options): { script: Script; params: ReadonlyMap<string, ScriptValue> } {
  const value = options.any("script");
  if (typeof value === "string") return { script: compileScript(value, "painless"), params: new Map() };
  const inner = new Options("script", isRecord(value) ? value : {});
  if (inner.has("id")) throw argumentError(`unable to find script [${inner.text("id")}] in cluster state`);
  const source = inner.text("source") ?? inner.text("inline");
  const lang = inner.text("lang") ?? "painless";
  const params = readParams(inner.record("params") ?? {});
  if (source === undefined)
    throw argumentError("must specify either [source] for an inline script or [id] for a stored script");
  return { script: compileScript(source, lang), params };
}

function readParams(record: JsonRecord): ReadonlyMap<string, ScriptValue> {
  return new Map(
    Object.entries(record).map(([name, value]): [string, ScriptValue] => {
      if (typeof value === "number") return [name, Number.isSafeInteger(value) ? BigInt(value) : value];
      if (typeof value === "bigint" || typeof value === "boolean" || typeof value === "string")
        return [name, value];
      if (value === null) return [name, null];
      throw argumentError(`[params.${name}]: lists and objects are not supported in scripts`);
    }),
  );
}

interface BucketOrder {
  path: string;
  order: "asc" | "desc";
}

export const bucketSortType: PipelineType = {
  read: declaredPipeline("bucket_sort", {
    members: {
      sort: { tokens: ["START_OBJECT", "START_ARRAY", "VALUE_STRING"], read: readBucketOrders },
      from: integer((from) => {
        if (from < 0) throw argumentError(`[from] must be a non-negative integer: [${from}]`);
      }),
      size: integer((size) => {
        if (size <= 0) throw argumentError(`[size] must be a positive integer: [${size}]`);
      }),
      gap_policy: gapPolicyMember,
    },
  }),
  define: defineBucketSort,
};

function readBucketOrders(value: unknown): readonly BucketOrder[] {
  return (Array.isArray(value) ? value : [value]).map(readBucketOrder);
}

function isBucketOrder(value: unknown): value is BucketOrder {
  return isRecord(value) && typeof value.path === "string";
}

function defineBucketSort(naming: Naming, options: Options): PipelineDefinition {
  const orders = (options.list("sort") ?? []).filter(isBucketOrder);
  const from = options.integer("from") ?? 0;
  const size = options.integer("size");
  const policy = readGapPolicy(options);
  if (orders.length === 0 && size === undefined && from === 0) {
    throw argumentError(
      `[${naming.name}] is configured to perform nothing. Please set either of [sort, size, from] to use bucket_sort`,
    );
  }
  return {
    pipeline: {
      kind: "pipeline",
      ...naming,
      parent(result) {
        const sorted = orders.length === 0 ? result.buckets : sortBuckets(result.buckets, orders, policy);
        result.buckets = sorted.slice(from, size === undefined ? undefined : from + size);
      },
    },
    paths: orders.map(({ path }) => path),
    needs: "buckets",
  };
}

function readBucketOrder(json: unknown): BucketOrder {
  if (typeof json === "string") return { path: json, order: json === "_score" ? "desc" : "asc" };
  const [entry] = isRecord(json) ? Object.entries(json) : [];
  if (!entry)
    throw argumentError(`malformed sort format, either start with array, object, or an actual string`);
  const [path, value] = entry;
  const order = isRecord(value) ? (value.order ?? "asc") : value;
  if (order !== "asc" && order !== "desc") throw argumentError(`Unknown SortOrder [${textOf(order)}]`);
  return { path, order };
}

/** Sorts buckets. Those without any of the values are dropped; those without one come last by it. */
function sortBuckets(
  buckets: readonly Bucket[],
  orders: readonly BucketOrder[],
  policy: GapPolicy,
): Bucket[] {
  return buckets
    .map((bucket) => ({
      bucket,
      values: orders.map(({ path }) =>
        path === "_key" ? Number.NaN : (bucketValue(bucket, path, policy) ?? Number.NaN),
      ),
    }))
    .filter(({ values }) =>
      values.some((value, index) => orders[index]?.path === "_key" || !Number.isNaN(value)),
    )
    .sort((a, b) => {
      for (const [index, { path, order }] of orders.entries()) {
        const compared =
          path === "_key"
            ? compareKeys(a.bucket, b.bucket, order)
            : compareValues(a.values[index] ?? Number.NaN, b.values[index] ?? Number.NaN, order);
        if (compared !== 0) return compared;
      }
      return 0;
    })
    .map(({ bucket }) => bucket);
}

function compareKeys(a: Bucket, b: Bucket, order: "asc" | "desc"): number {
  if (a.position !== undefined && b.position !== undefined)
    return compareValues(a.position, b.position, order);
  const compared = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
  return order === "asc" ? compared : -compared;
}
