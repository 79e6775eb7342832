/** Aggregations, each with the SQL it needs and the reading of its rows. */
import type { Sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { HitsPlan } from "./context.ts";
import type { JsonRecord } from "./options.ts";
import type { Bucket, BucketsResult, MetricResult, Result } from "./result.ts";

interface Named {
  readonly name: string;
  /** The name in the request: `terms`. */
  readonly type: string;
  /** Returned unchanged. */
  readonly meta: JsonRecord | undefined;
}

/** One or several values computed over a bucket. */
export interface MetricAggregation extends Named {
  readonly kind: "metric";
  /** Aggregates over the documents `d`. @param filter appended to each: nothing, or ` FILTER (WHERE …)` */
  columns(filter: Sql): readonly Sql[];
  /** An expression over its columns to order buckets by; `undefined` for an unknown property. */
  metricValue(columns: readonly Sql[], property: string | undefined): Sql | undefined;
  /** @param values of its columns; `undefined` for a bucket without documents */
  result(values: readonly ResultValue[] | undefined): MetricResult;
}

/** The documents of a bucket that meet a condition. */
interface SingleAggregation extends Named {
  readonly kind: "single";
  /** `undefined` for `global`: every searched document, regardless of the query. */
  readonly condition: Sql | undefined;
  readonly children: Aggregations;
}

export interface KeyColumn {
  /** Over the documents `d`; a LIST when a document can belong to several buckets. */
  readonly value: Sql;
  readonly list: boolean;
  /** Whether documents without a value form a bucket. */
  readonly nullable: boolean;
}

export type SortOrder = "asc" | "desc";

/** A sort key of buckets: `_count`, `_key`, or a path to a value of a sub-aggregation. */
export interface OrderTerm {
  readonly path: string;
  readonly order: SortOrder;
}

/** Which groups of a parent bucket become buckets. */
type Selection =
  | { readonly kind: "all" }
  | {
      readonly kind: "top";
      readonly order: readonly OrderTerm[];
      readonly size: number;
      /** Smaller groups count in the totals and do not become buckets. */
      readonly minDocCount: number;
      /** Keys of documents outside the parent bucket become empty buckets. */
      readonly everyKey: boolean;
      /** A condition for keys that can become buckets. */
      readonly wanted: ((key: Sql) => Sql) | undefined;
    }
  | {
      readonly kind: "page";
      readonly orders: readonly { readonly order: SortOrder; readonly missing: "first" | "last" }[];
      readonly size: number;
      /** A condition for keys behind the previous page. */
      readonly after: ((keys: readonly Sql[]) => Sql) | undefined;
    };

/** One group of documents from the store. */
export interface BucketRow {
  readonly keys: readonly ResultValue[];
  readonly docCount: number;
  readonly ordinal: number;
  /** The column values of its sub-aggregations. */
  readonly values: readonly ResultValue[];
}

export interface BucketGroup {
  /** In selection order. */
  readonly rows: readonly BucketRow[];
  /** Documents over all groups, selected or not; a document counts once for each group. */
  readonly total: number;
  /** The number of groups before selection. */
  readonly groups: number;
}

/** Makes a bucket with the results of its sub-aggregations. @param row `undefined` for an empty bucket */
export type MakeBucket = (
  row: BucketRow | undefined,
  bucket: Pick<Bucket, "key" | "position" | "members">,
) => Bucket;

/** Groups documents into buckets by keys. */
export interface BucketsAggregation extends Named {
  readonly kind: "buckets";
  readonly keys: readonly KeyColumn[];
  /** One condition for each bucket, where buckets are conditions; the key is then the index. */
  readonly conditions?: readonly Sql[];
  readonly selection: Selection;
  readonly children: Aggregations;
  result(group: BucketGroup, make: MakeBucket): BucketsResult;
}

/** The top documents of a bucket. */
export interface HitsAggregation extends Named {
  readonly kind: "hits";
  readonly from: number;
  readonly size: number;
  readonly plan: HitsPlan;
}

export type Aggregation = MetricAggregation | SingleAggregation | BucketsAggregation | HitsAggregation;

/** Computed from the results of other aggregations. */
export interface PipelineAggregation extends Named {
  readonly kind: "pipeline";
  /** Computes from the finished sibling results. */
  sibling?: (results: Results) => MetricResult;
  /** Changes the buckets that contain it. */
  parent?: (buckets: BucketsResult) => void;
}

export type Results = Map<string, Result>;

export interface Aggregations {
  readonly aggregations: readonly Aggregation[];
  /** In order of computation. */
  readonly pipelines: readonly PipelineAggregation[];
}
