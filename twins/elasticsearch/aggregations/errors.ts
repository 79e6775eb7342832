/** What the vendor answers to an aggregation that it refuses. */
import { LocatedError } from "../json/located-error.ts";
import { type ErrorCause, VendorError } from "../vendor/error.ts";

/** An aggregation of a type that is not served. A translator may know it. */
export class UnrecognisedAggregation extends LocatedError {
  /** The aggregation of the request that it is, or that it is in. */
  readonly topLevelName: string;

  /** @param error what is answered without a translator */
  constructor({ cursor, causeAt }: LocatedError, topLevelName: string) {
    super(cursor, causeAt);
    this.name = "UnrecognisedAggregation";
    this.topLevelName = topLevelName;
  }
}

export function argumentError(reason: string): VendorError {
  return new VendorError(400, { type: "illegal_argument_exception", reason });
}

/** Results are not such as a pipeline needs. */
export function unfitResults(reason: string): VendorError {
  return reduceFailure({ type: "illegal_argument_exception", reason });
}

/** What fails when the results of shards are brought together. */
function reduceFailure(cause: ErrorCause): VendorError {
  return new VendorError(
    400,
    {
      type: "search_phase_execution_exception",
      reason: "",
      phase: "rank-feature",
      grouped: true,
      failed_shards: [],
      caused_by: cause,
    },
    null,
  );
}

/** The request as a whole does not hold together. */
export function validationError(reasons: readonly string[]): VendorError {
  const list = reasons.map((reason, index) => `${index + 1}: ${reason};`).join("");
  return new VendorError(400, {
    type: "action_request_validation_exception",
    reason: `Validation Failed: ${list}`,
  });
}

/** The most buckets of one answer. */
export const MAX_BUCKETS = 65_536;

export function tooManyBuckets(): VendorError {
  return reduceFailure({
    type: "too_many_buckets_exception",
    reason:
      `Trying to create too many buckets. Must be less than or equal to: [${MAX_BUCKETS}] but this number of buckets was exceeded. ` +
      "This limit can be set by changing the [search.max_buckets] cluster level setting.",
    max_buckets: MAX_BUCKETS,
  });
}

/** A page of more buckets than an answer may have. */
export function tooManyBucketsAsked(size: number): VendorError {
  return new VendorError(400, {
    type: "too_many_buckets_exception",
    reason:
      `Trying to create too many buckets. Must be less than or equal to: [${MAX_BUCKETS}] but was [${size}]. ` +
      "This limit can be set by changing the [search.max_buckets] cluster level setting.",
    max_buckets: MAX_BUCKETS,
  });
}
