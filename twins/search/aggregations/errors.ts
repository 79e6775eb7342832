/** What the vendor answers to an aggregation that it refuses. */
import { type ErrorCause, VendorError } from "../vendor-error.ts";

/** The request itself is wrong. */
export function parsingError(reason: string, causedBy?: ErrorCause): VendorError {
  return new VendorError(400, withCause({ type: "parsing_exception", reason }, causedBy));
}

/** An aggregation of a type that is not served. A translator may know it. */
export class UnrecognisedAggregation extends VendorError {
  /** The aggregation of the request that it is, or that it is in. */
  readonly topLevelName: string;

  /** @param error what is answered without a translator */
  constructor(error: VendorError, topLevelName: string) {
    super(error.status, error.cause, error.rootCause);
    this.name = "UnrecognisedAggregation";
    this.topLevelName = topLevelName;
  }
}

/** An option is unknown, or its value is of a wrong kind. */
export function optionError(reason: string, causedBy?: ErrorCause): VendorError {
  return new VendorError(400, withCause({ type: "x_content_parse_exception", reason }, causedBy));
}

export function argumentError(reason: string): VendorError {
  return new VendorError(400, { type: "illegal_argument_exception", reason });
}

/** Results are not such as the aggregation needs. */
export function executionError(reason: string): VendorError {
  return new VendorError(400, { type: "aggregation_execution_exception", reason });
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

export function tooManyBuckets(count: number): VendorError {
  return new VendorError(400, {
    type: "search_phase_execution_exception",
    reason: "",
    phase: "fetch",
    grouped: true,
    failed_shards: [],
    caused_by: {
      type: "too_many_buckets_exception",
      reason:
        `Trying to create too many buckets. Must be less than or equal to: [${MAX_BUCKETS}] but was [${count}]. ` +
        "This limit can be set by changing the [search.max_buckets] cluster level setting.",
      max_buckets: MAX_BUCKETS,
    },
  });
}

function withCause(cause: ErrorCause, causedBy: ErrorCause | undefined): ErrorCause {
  return causedBy ? { ...cause, caused_by: causedBy } : cause;
}
