/** Buckets at regular intervals: fills gaps, applies bounds, sorts. */
import type { Aggregations, BucketGroup, BucketRow, MakeBucket, OrderTerm } from "./aggregation.ts";
import { argumentError, MAX_BUCKETS, tooManyBuckets } from "./errors.ts";
import type { Options } from "./options.ts";
import { checkOrder, orderMember, readOrder, sortBuckets } from "./order.ts";
import type { Bucket, Members } from "./result.ts";
import { flag, long, notNegative } from "./syntax/members.ts";

export interface Bounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** The text in errors. */
  readonly text: string;
}

/** Maps the bounds that are present. */
export function mapBounds({ min, max, text }: Bounds, change: (bound: number) => number): Bounds {
  return {
    min: min === undefined ? undefined : change(min),
    max: max === undefined ? undefined : change(max),
    text,
  };
}

export interface HistogramShape {
  minDocCount: number;
  /** Empty buckets are added up to here; rounded. */
  extended: Bounds;
  order: readonly OrderTerm[];
  /** The position of a group's bucket. */
  position(row: BucketRow): number;
  next(position: number): number;
  /** All members but the count. */
  describe(position: number): { key: string; members: Members };
}

const byKey: readonly OrderTerm[] = [{ path: "_key", order: "asc" }];

/** Members that both histograms share. */
export const histogramMembers = {
  keyed: flag,
  min_doc_count: long(notNegative("minDocCount")),
  order: orderMember,
};

/** @throws VendorError for an order by a missing aggregation */
export function readHistogramOptions(options: Options, children: Aggregations) {
  const minDocCount = options.integer("min_doc_count") ?? 0;
  const keyed = options.boolean("keyed") ?? false;
  const order = readOrder(options.any("order"), byKey);
  checkOrder(order, children);
  return { minDocCount, keyed, order };
}

/** @throws VendorError for extended bounds outside the hard bounds */
export function checkBounds(extended: Bounds, hard: Bounds): void {
  const outside =
    (hard.min !== undefined && extended.min !== undefined && extended.min < hard.min) ||
    (hard.max !== undefined && extended.max !== undefined && extended.max > hard.max);
  if (!outside) return;
  throw argumentError(
    `Extended bounds have to be inside hard bounds, hard bounds: [${hard.text}], extended bounds: [${extended.text}]`,
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
    fillGaps(found, shape, add);
  }
  return sortBuckets(buckets, shape.order, (a, b) => (a.position ?? 0) - (b.position ?? 0));
}

function fillGaps(
  found: readonly { row: BucketRow; position: number }[],
  { extended, next }: HistogramShape,
  add: (position: number, row: BucketRow | undefined) => void,
): void {
  const first = found[0]?.position;
  const last = found.at(-1)?.position;
  const start = minDefined(
    first,
    first === undefined && extended.max === undefined ? undefined : extended.min,
  );
  const end = maxDefined(last, first === undefined && extended.min === undefined ? undefined : extended.max);
  if (start === undefined || end === undefined) return;
  let index = 0;
  let count = 0;
  for (let position = start; position <= end || index < found.length; ) {
    if (++count > MAX_BUCKETS) throw tooManyBuckets();
    const here = found[index];
    if (here && here.position <= position) {
      add(here.position, here.row);
      index++;
      // Rounding errors can put a group beside the steps: continue from the group.
      position = here.position < position ? position : stepBeyond(here.position, next);
    } else {
      add(position, undefined);
      position = stepBeyond(position, next);
    }
  }
}

/** @throws VendorError when adding the interval does not change a number of this size */
function stepBeyond(position: number, next: (position: number) => number): number {
  const after = next(position);
  if (after > position) return after;
  throw argumentError(`the interval is too small for the value [${position}]`);
}

function minDefined(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function maxDefined(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
