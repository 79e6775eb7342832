/** Mistakes at places of a body, each of which may have been caused by one at another place. */

import { type ErrorCause, VendorError } from "../vendor/error.ts";
import type { JsonPath, PlaceIn, Position } from "./position.ts";
import { locateIn } from "./position.ts";

/** A token of the body: what the vendor's streaming parser stands at. */
export interface Spot {
  readonly path: JsonPath;
  readonly what: PlaceIn;
}

/** Finds a token; with the text as Jackson shows it. */
export interface Find {
  (spot: Spot): Position | undefined;
  readonly source?: string | undefined;
}

/** A mistake at places of a body: the lines and columns are known once its text is at hand. */
export class LocatedError extends VendorError {
  /** Where the parser stood when it failed, which whatever called it tells as its own place. */
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

  /** The same with its positions. @param text of the body */
  at(text: string): VendorError {
    const locate = locateIn(text, []);
    const find = ({ path, what }: Spot) => locate(path, what);
    const cause = this.causeAt(Object.assign(find, { source: locate.source }));
    return new VendorError(this.status, cause, rootOf(cause));
  }
}

/** Reads with a body's text at hand, which gives its mistakes their position. */
export function withBodyText<Result>(text: string | undefined, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof LocatedError && text !== undefined) throw error.at(text);
    throw error;
  }
}

/** `[1:17]`, as the reasons of `x_content_parse_exception` begin. */
export function placeText(position: Position | undefined): string {
  return position ? `[${position.line}:${position.col}]` : "[1:1]";
}

/** `parsing_exception` at a place. */
export function parsingErrorAt(cursor: Spot, reason: string): LocatedError {
  return new LocatedError(cursor, (find) => ({ type: "parsing_exception", reason, ...find(cursor) }));
}

/** What Jackson itself refuses of a value; it says where it has come to. */
export function jacksonErrorAt(path: JsonPath, value: unknown, reason: string, type: string): LocatedError {
  const isOpened = typeof value === "object" && value !== null;
  return new LocatedError({ path, what: "value" }, (find) =>
    jacksonCause(reason, type, find({ path, what: isOpened ? "inside" : "after" }), find.source),
  );
}

/** @param source the text as Jackson shows it */
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
/** Types that are the vendor's own exceptions, not the language's. */
const ownErrors = new Set(["parsing_exception", "parse_exception", "query_shard_exception", "invalid_path"]);

/** The root cause goes inwards through errors of parsing, and from one of the vendor's own to the next. */
export function rootOf(cause: ErrorCause): ErrorCause {
  const { caused_by: inner, ...root } = cause;
  if (inner) {
    const enters = contentErrors.has(cause.type)
      ? contentErrors.has(inner.type) || ownErrors.has(inner.type)
      : ownErrors.has(cause.type) && ownErrors.has(inner.type);
    if (enters) return rootOf(inner);
  }
  return root;
}
