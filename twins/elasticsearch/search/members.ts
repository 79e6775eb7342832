/** Shared readers for members of a search body, with the vendor's errors. */

import type { ContentParser } from "../json/content-parser.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";

/** The vendor has a different message for each of the two. */
export function checkNotNegative(name: "from" | "size", value: number): number {
  if (value >= 0) return value;
  throw illegalArgument(
    name === "from"
      ? `[from] parameter cannot be negative but was [${value}]`
      : `[size] parameter cannot be negative, found [${value}]`,
  );
}

/** A time limit; a negative one means no limit. */
export function readTimeLimit(ms: number): number | undefined {
  return ms < 0 ? undefined : ms;
}

/** Whether a member's value asks for nothing. */
export function isEmpty(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A member that the vendor has and this twin does not serve. */
export class UnservedKey extends VendorError {
  constructor(reason: string) {
    super(400, { type: "illegal_argument_exception", reason });
  }
}

/** A member that a search does not have, or a value of the wrong type. */
export class UnknownKey extends VendorError {
  /** @param content positioned at the member's value */
  constructor(content: ContentParser) {
    const { status, cause } = content.error(`Unknown key for a ${content.token} in [${content.name}].`);
    super(status, cause);
  }
}
