/**
 * The vendor's errors: one envelope for all of its routes.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/common-options.html#common-options-error-options
 */
import type { VendorResponse } from "@offhook/platform/http/operation";

/** One error object: `type`, `reason`, its cause, and members of its own (`line`, `col`, `index`, …). */
export interface ErrorCause {
  type: string;
  /** Null for a Java exception without a message. */
  reason: string | null;
  caused_by?: ErrorCause;
  [member: string]: unknown;
}

/** An error that a route answers with, in the vendor's words. */
export class VendorError extends Error {
  readonly status: number;
  override readonly cause: ErrorCause;
  /** The `root_cause` of the answer: the error itself when absent, an empty list when null. */
  readonly rootCause: ErrorCause | null | undefined;

  constructor(status: number, cause: ErrorCause, rootCause?: ErrorCause | null) {
    super(cause.reason ?? "");
    this.name = "VendorError";
    this.status = status;
    this.cause = cause;
    this.rootCause = rootCause;
  }
}

/** 400 for an argument that is wrong whatever the data holds. */
export function illegalArgument(reason: string, causedBy?: ErrorCause): VendorError {
  return new VendorError(400, {
    type: "illegal_argument_exception",
    reason,
    ...(causedBy && { caused_by: causedBy }),
  });
}

export function vendorErrorResponse({ status, cause, rootCause }: VendorError): VendorResponse {
  const { caused_by: _, ...root } = cause;
  const roots = rootCause === null ? [] : [rootCause ?? root];
  return { status, body: { error: { root_cause: roots, ...cause }, status } };
}
