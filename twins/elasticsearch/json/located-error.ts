/** Errors with positions in a body; their causes can have positions of their own. */

import { type ErrorCause, VendorError } from "../vendor/error.ts";
import type { JsonPath, PlaceIn, Position } from "./position.ts";
import { locateIn } from "./position.ts";

/** A token of the body, where the vendor's streaming parser stands. */
export interface Spot {
  readonly path: JsonPath;
  readonly what: PlaceIn;
}

/** Finds the position of a token. `source`: the text as Jackson quotes it. */
export interface Find {
  (spot: Spot): Position | undefined;
  readonly source?: string | undefined;
}

/** An error whose lines and columns are filled in once the body's text is known. */
export class LocatedError extends VendorError {
  /** The parser's position at the failure; callers that wrap the error report it too. */
  readonly cursor: Spot;
  readonly causeAt: (find: Find) => ErrorCause;

  constructor(cursor: Spot, causeAt: (find: Find) => ErrorCause) {
    super(
      400,
      causeAt(() => undefined),
    );
    this.cursor = cursor;
    this.causeAt = causeAt;
  }

  /** The error with its positions. @param text of the body */
  at(text: string): VendorError {
    const locate = locateIn(text, []);
    const find = ({ path, what }: Spot) => locate(path, what);
    const cause = this.causeAt(Object.assign(find, { source: locate.source }));
    return new VendorError(this.status, cause, rootOf(cause));
  }
}

/** Adds positions to the errors of reading a body. */
export function withBodyText<Result>(text: string | undefined, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof LocatedError && text !== undefined) throw error.at(text);
    throw error;
  }
}

/** `[1:17]`, the prefix of an `x_content_parse_exception`. */
export function placeText(position: Position | undefined): string {
  return position ? `[${position.line}:${position.col}]` : "[1:1]";
}

/** `parsing_exception` at a position. */
export function parsingErrorAt(cursor: Spot, reason: string): LocatedError {
  return new LocatedError(cursor, (find) => ({ type: "parsing_exception", reason, ...find(cursor) }));
}

/** An error of Jackson on a value, with the position behind the value. */
export function jacksonErrorAt(path: JsonPath, value: unknown, reason: string, type: string): LocatedError {
  const isOpened = typeof value === "object" && value !== null;
  return new LocatedError({ path, what: "value" }, (find) =>
    jacksonCause(reason, type, find({ path, what: isOpened ? "inside" : "after" }), find.source),
  );
}

/** @param source the text as Jackson quotes it */
export function jacksonCause(
  reason: string,
  type: string,
  at: Position | undefined,
  source = "",
): ErrorCause & { caused_by: ErrorCause } {
  const full = `${reason}\n at [Source: (byte[])${source}; line: ${at?.line ?? -1}, column: ${at?.col ?? -1}]`;
  return {
    type: "x_content_parse_exception",
    reason: `${placeText(at)} ${full}`,
    caused_by: { type, reason: full },
  };
}

const contentErrors = new Set(["x_content_parse_exception", "x_content_e_o_f_exception"]);
/** The vendor's own exceptions, other than Java's. */
const ownErrors = new Set(["parsing_exception", "parse_exception", "query_shard_exception", "invalid_path"]);

/** The root cause: follows causes through parse errors, and from one of the vendor's own exceptions to the next. */
function rootOf(cause: ErrorCause): ErrorCause {
  const { caused_by: inner, ...root } = cause;
  if (inner) {
    const enters = contentErrors.has(cause.type)
      ? contentErrors.has(inner.type) || ownErrors.has(inner.type)
      : ownErrors.has(cause.type) && ownErrors.has(inner.type);
    if (enters) return rootOf(inner);
  }
  return root;
}
