/** Errors in objects with declared members. */
import { type ErrorCause, VendorError } from "../vendor/error.ts";
import type { Position } from "./position.ts";

/** `x_content_parse_exception`: a syntax error in an object with declared members. */
export function contentError(reason: string, at: Position | undefined, causedBy?: VendorError): VendorError {
  return new VendorError(
    400,
    {
      type: "x_content_parse_exception",
      reason: `${placeOf(at)}${reason}`,
      ...(causedBy && { caused_by: causedBy.cause }),
    },
    innermost(causedBy),
  );
}

/** The vendor's own exceptions; a cause of another type is never the root cause. */
const OWN_TYPES = /^(parsing|parse|query_shard|x_content_parse)_exception$/;

/** The root cause: the innermost of a chain of the vendor's own exceptions. */
function innermost(error: VendorError | undefined): ErrorCause | undefined {
  if (!error || !OWN_TYPES.test(error.cause.type)) return undefined;
  return error.rootCause ?? withoutCause(error.cause);
}

function withoutCause({ caused_by: _, ...root }: ErrorCause): ErrorCause {
  return root;
}

function placeOf(at: Position | undefined): string {
  return `[${placeText(at)}] `;
}

/** `1:17` */
export function placeText(at: Position | undefined): string {
  return at ? `${at.line}:${at.col}` : "-1:-1";
}
