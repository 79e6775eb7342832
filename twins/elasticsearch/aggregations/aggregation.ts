/** Aggregations as they are read: each knows what to ask of the store and what its answer means. */
import type { Sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { HitsPlan } from "./context.ts";
import type { JsonRecord } from "./options.ts";
import type { Bucket, BucketsResult, MetricResult, Result } from "./result.ts";

interface Named {
  readonly name: string;
  /** As the request names it: `terms`. */
  readonly type: string;
  /** Given back as it came. */
  readonly meta: JsonRecord | undefined;
}

/** One or several figures of the documents of a bucket. */
export interface MetricAggregation extends Named {
  readonly kind: "metric";
  /** Aggregates over the documents `d`. @param filter what follows each: nothing, or ` FILTER (WHERE …)` */
  columns(filter: Sql): readonly Sql[];
  /** A figure to order buckets by, of its columns; `undefined` when it has no figure of that name. */
  figure(columns: readonly Sql[], property: string | undefined): Sql | undefined;
  /** @param values of its columns; `undefined` for a bucket without documents */
  result(values: readonly ResultValue[] | undefined): MetricResult;
}

/** The documents of a bucket that fit a condition. */
export interface SingleAggregation extends Named {
  readonly kind: "single";
  /** `undefined`: every document of the store, whatever the query says. */
  readonly condition: Sql | undefined;
  readonly children: Aggregations;
}

export interface KeyColumn {
  /** Over the documents `d`; a LIST when a document can be in several buckets. */
  readonly value: Sql;
  readonly list: boolean;
  /** Whether documents without a value are a bucket too. */
  readonly nullable: boolean;
}

export type SortOrder = "asc" | "desc";

/** What buckets are ordered by: `_count`, `_key`, or a path to a figure of a sub-aggregation. */
export interface OrderTerm {
  readonly path: string;
  readonly order: SortOrder;
}

/** Which of the groups of one parent become buckets. */
export type Selection =
  | { readonly kind: "all" }
  | {
      readonly kind: "top";
      readonly order: readonly OrderTerm[];
      readonly size: number;
      /** Groups of fewer documents are counted, and not selected. */
      readonly minDocCount: number;
      /** A key of any document is a bucket, even when none of the parent's documents has it. */
      readonly everyKey: boolean;
      /** Which keys can be a bucket. */
      readonly wanted: ((key: Sql) => Sql) | undefined;
    }
  | {
      readonly kind: "page";
      readonly orders: readonly { readonly order: SortOrder; readonly missing: "first" | "last" }[];
      readonly size: number;
      /** Which keys come after the last page. */
      readonly after: ((keys: readonly Sql[]) => Sql) | undefined;
    };

/** One group of documents, as the store counted it. */
export interface BucketRow {
  readonly keys: readonly ResultValue[];
  readonly docCount: number;
  readonly ordinal: number;
  /** Values of the columns of its sub-aggregations. */
  readonly values: readonly ResultValue[];
}

export interface BucketGroup {
  /** In the order of the selection. */
  readonly rows: readonly BucketRow[];
  /** Documents of all groups, also of those not selected; a document counts once a group. */
  readonly total: number;
  /** How many groups there are to select from. */
  readonly groups: number;
}

/** Makes a bucket, with the results of its sub-aggregations. @param row `undefined` for one without documents */
export type MakeBucket = (
  row: BucketRow | undefined,
  bucket: Pick<Bucket, "key" | "position" | "members">,
) => Bucket;

/** Documents in buckets by a key. */
export interface BucketsAggregation extends Named {
  readonly kind: "buckets";
  readonly keys: readonly KeyColumn[];
  /** What makes the buckets, where each is a condition: the key of a bucket is then its index. */
  readonly conditions?: readonly Sql[];
  readonly selection: Selection;
  readonly children: Aggregations;
  result(group: BucketGroup, make: MakeBucket): BucketsResult;
}

/** The best documents of a bucket themselves. */
export interface HitsAggregation extends Named {
  readonly kind: "hits";
  readonly from: number;
  readonly size: number;
  readonly plan: HitsPlan;
}

export type Aggregation = MetricAggregation | SingleAggregation | BucketsAggregation | HitsAggregation;

/** Calculated from the results of others. */
export interface PipelineAggregation extends Named {
  readonly kind: "pipeline";
  /** Over the finished results beside it. */
  sibling?: (results: Results) => MetricResult;
  /** Over the buckets it is in. */
  parent?: (buckets: BucketsResult) => void;
}

export type Results = Map<string, Result>;

export interface Aggregations {
  readonly aggregations: readonly Aggregation[];
  /** In the order they are to be calculated in. */
  readonly pipelines: readonly PipelineAggregation[];
}
