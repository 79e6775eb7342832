/**
 * What the vendor answers when it refuses: one envelope for all of its routes.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/common-options.html#common-options-error-options
 */
import type { VendorResponse } from "@offhook/platform/http/operation";

/** One error object: `type` and `reason`, what caused it, and members of its own (`line`, `col`, `index`, …). */
export interface ErrorCause {
  type: string;
  /** Null where an exception of Java's says nothing. */
  reason: string | null;
  caused_by?: ErrorCause;
  [member: string]: unknown;
}

/** Thrown by whatever reads a request; the twin's operations answer it. */
export class VendorError extends Error {
  readonly status: number;
  override readonly cause: ErrorCause;
  /** What stands in `root_cause`: the error itself when absent, none when null. */
  readonly rootCause: ErrorCause | null | undefined;

  constructor(status: number, cause: ErrorCause, rootCause?: ErrorCause | null) {
    super(cause.reason ?? "");
    this.name = "VendorError";
    this.status = status;
    this.cause = cause;
    this.rootCause = rootCause;
  }
}

/** 400 for an argument that is wrong whatever the data. */
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
