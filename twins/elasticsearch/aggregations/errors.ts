/** The vendor's errors for aggregations. */
import { LocatedError } from "../json/located-error.ts";
import { type ErrorCause, VendorError } from "../vendor/error.ts";

/** An aggregation of an unsupported type. A translator may know it. */
export class UnrecognisedAggregation extends LocatedError {
  /** The outermost aggregation around it, or itself. */
  readonly topLevelName: string;

  /** @param error the answer without a translator */
  constructor({ cursor, causeAt }: LocatedError, topLevelName: string) {
    super(cursor, causeAt);
    this.name = "UnrecognisedAggregation";
    this.topLevelName = topLevelName;
  }
}

export function argumentError(reason: string): VendorError {
  return new VendorError(400, { type: "illegal_argument_exception", reason });
}

/** A pipeline cannot use the results it refers to. */
export function unfitResults(reason: string): VendorError {
  return reduceFailure({ type: "illegal_argument_exception", reason });
}

/** A failure of the reduce phase. */
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

/** The request as a whole is inconsistent. */
export function validationError(reasons: readonly string[]): VendorError {
  const list = reasons.map((reason, index) => `${index + 1}: ${reason};`).join("");
  return new VendorError(400, {
    type: "action_request_validation_exception",
    reason: `Validation Failed: ${list}`,
  });
}

/** `search.max_buckets` */
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

/** A page larger than `search.max_buckets`. */
export function tooManyBucketsAsked(size: number): VendorError {
  return new VendorError(400, {
    type: "too_many_buckets_exception",
    reason:
      `Trying to create too many buckets. Must be less than or equal to: [${MAX_BUCKETS}] but was [${size}]. ` +
      "This limit can be set by changing the [search.max_buckets] cluster level setting.",
    max_buckets: MAX_BUCKETS,
  });
}
