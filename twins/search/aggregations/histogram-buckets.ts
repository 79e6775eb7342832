/** Buckets at regular distances: gaps filled, bounds kept, ordered. */
import { illegalOnShard } from "../shard-failure.ts";
import type { Aggregations, BucketGroup, BucketRow, MakeBucket, OrderTerm } from "./aggregation.ts";
import { argumentError, MAX_BUCKETS, tooManyBuckets } from "./errors.ts";
import type { Naming } from "./metrics.ts";
import type { Options } from "./options.ts";
import { readOrder, resolvePath, sortBuckets } from "./order.ts";
import type { Bucket, Members } from "./result.ts";

export interface Bounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** As errors show them. */
  readonly text: string;
}

/** Both bounds, where they are, as another says. */
export function mapBounds({ min, max, text }: Bounds, change: (bound: number) => number): Bounds {
  return {
    min: min === undefined ? undefined : change(min),
    max: max === undefined ? undefined : change(max),
    text,
  };
}

export interface HistogramShape {
  minDocCount: number;
  /** Buckets to fill, rounded. */
  extended: Bounds;
  order: readonly OrderTerm[];
  /** Where a group's bucket is. */
  position(row: BucketRow): number;
  next(position: number): number;
  /** Members but the count. */
  describe(position: number): { key: string; members: Members };
}

const byKey: readonly OrderTerm[] = [{ path: "_key", order: "asc" }];

/** Options of both histograms. @throws VendorError */
export function readHistogramOptions(naming: Naming, options: Options, { aggregations }: Aggregations) {
  const minDocCount = options.integer("min_doc_count") ?? 0;
  if (minDocCount < 0) {
    throw argumentError(
      `[minDocCount] must be greater than or equal to 0. Found [${minDocCount}] in [${naming.name}]`,
    );
  }
  const keyed = options.boolean("keyed") ?? false;
  const order = readOrder(options.any("order"), naming.type, byKey);
  for (const { path } of order) if (!path.startsWith("_")) resolvePath(path, aggregations);
  return { minDocCount, keyed, order };
}

/** @throws VendorError when buckets are to be filled that are not to be shown */
export function checkBounds(extended: Bounds, hard: Bounds, index: string): void {
  const outside =
    (hard.min !== undefined && extended.min !== undefined && extended.min < hard.min) ||
    (hard.max !== undefined && extended.max !== undefined && extended.max > hard.max);
  if (!outside) return;
  throw illegalOnShard(
    `Extended bounds have to be inside hard bounds, hard bounds: [${hard.text}], extended bounds: [${extended.text}]`,
    index,
  );
}

export function histogramBuckets({ rows }: BucketGroup, make: MakeBucket, shape: HistogramShape): Bucket[] {
  const found = rows
    .map((row) => ({ row, position: shape.position(row) }))
    .sort((a, b) => a.position - b.position);
  const buckets: Bucket[] = [];
  const add = (position: number, row: BucketRow | undefined) => {
    const { key, members } = shape.describe(position);
    buckets.push(make(row, { key, position, members: [...members, ["doc_count", row?.docCount ?? 0]] }));
  };
  if (shape.minDocCount > 0) {
    for (const { row, position } of found) if (row.docCount >= shape.minDocCount) add(position, row);
  } else {
    fill(found, shape, add);
  }
  return sortBuckets(buckets, shape.order, (a, b) => (a.position ?? 0) - (b.position ?? 0));
}

function fill(
  found: readonly { row: BucketRow; position: number }[],
  { extended, next }: HistogramShape,
  add: (position: number, row: BucketRow | undefined) => void,
): void {
  const first = found[0]?.position;
  const last = found.at(-1)?.position;
  const start = least(first, first === undefined && extended.max === undefined ? undefined : extended.min);
  const end = greatest(last, first === undefined && extended.min === undefined ? undefined : extended.max);
  if (start === undefined || end === undefined) return;
  let index = 0;
  let count = 0;
  for (let position = start; position <= end || index < found.length; ) {
    if (++count > MAX_BUCKETS) throw tooManyBuckets(count);
    const here = found[index];
    if (here && here.position <= position) {
      add(here.position, here.row);
      index++;
      // Rounding may land beside what steps reach: go on from where there are documents.
      position = here.position < position ? position : stepped(here.position, next);
    } else {
      add(position, undefined);
      position = stepped(position, next);
    }
  }
}

/** @throws VendorError when the step is too small to move a number of this size */
function stepped(position: number, next: (position: number) => number): number {
  const after = next(position);
  if (after > position) return after;
  throw argumentError(`the interval is too small for the value [${position}]`);
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function greatest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
