/**
 * Members of an object as the vendor's `ObjectParser` reads them, which is what reads most bodies that are no query: a value of
 * another kind is refused with its place, never converted.
 */
import type { JsonPath, Position } from "../query/compiled-query.ts";
import { locateIn } from "../query/json-position.ts";
import { type ErrorCause, VendorError } from "../vendor-error.ts";
import type { Json } from "./read.ts";
import { tokenOf } from "./token.ts";

/** A mistake at a place of a body: the line and column are known once its text is at hand. */
export class BodyError extends VendorError {
  readonly #causeAt: (position: Position | undefined) => ErrorCause;
  readonly #path: JsonPath;
  readonly #what: "name" | "value";

  /** @param causeAt the error as it is with a position, and without one */
  constructor(
    path: JsonPath,
    causeAt: (position: Position | undefined) => ErrorCause,
    what: "name" | "value" = "value",
  ) {
    super(400, causeAt(undefined));
    this.#causeAt = causeAt;
    this.#path = path;
    this.#what = what;
  }

  /** The same in a part of a body. @param base path of the part */
  within(base: JsonPath): BodyError {
    return new BodyError([...base, ...this.#path], this.#causeAt, this.#what);
  }

  /** The same with its position. @param text of the body */
  at(text: string): VendorError {
    return new VendorError(this.status, this.#causeAt(locateIn(text, [])(this.#path, this.#what)));
  }
}

/** Reads with a body's text at hand, which gives its mistakes their position. */
export function withBodyText<Result>(text: string | undefined, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof BodyError && text !== undefined) throw error.at(text);
    throw error;
  }
}

export class ObjectParser {
  /** As errors name it: `field_sort`. */
  readonly #name: string;
  readonly #path: JsonPath;

  /** @param path of the object in the body */
  constructor(name: string, path: JsonPath) {
    this.#name = name;
    this.#path = path;
  }

  /** A text; numbers are none. @throws BodyError */
  text(member: string, value: Json): string {
    if (typeof value === "string") return value;
    throw this.wrongKind(member, value);
  }

  /** A list of scalars as texts. @throws BodyError */
  texts(member: string, value: Json): string[] {
    if (!Array.isArray(value)) throw this.wrongKind(member, value);
    return value.map((item, index) => {
      if (typeof item !== "object") return String(item);
      return this.#fail([member, index], member, (position) => ({
        type: "illegal_state_exception",
        reason: Array.isArray(item)
          ? "expected value but got [START_ARRAY]"
          : `Can't get text on a ${tokenOf(item)} at ${placeText(position)}`,
      }));
    });
  }

  /** `true`, `false`, or one of them as text. @throws BodyError */
  flag(member: string, value: Json): boolean {
    if (value === true || value === "true") return true;
    if (value === false || value === "false") return false;
    if (typeof value !== "string") throw this.wrongKind(member, value);
    return this.fail(
      member,
      "illegal_argument_exception",
      `Failed to parse value [${value}] as only [true] or [false] are allowed.`,
    );
  }

  wrongKind(member: string, value: Json): BodyError {
    return this.#error([member], `${member} doesn't support values of type: ${tokenOf(value)}`);
  }

  /** @param hint what it may be instead, as text that follows */
  unknown(member: string, hint = ""): BodyError {
    return this.#error([member], `unknown field [${member}]${hint}`, "name");
  }

  /** Refuses a value of the right kind. @throws BodyError */
  fail(member: string, type: string, reason: string): never {
    return this.#fail([member], member, () => ({ type, reason }));
  }

  #fail(path: JsonPath, member: string, cause: (position: Position | undefined) => ErrorCause): never {
    throw new BodyError([...this.#path, ...path], (position) => ({
      ...this.#causeAt(position, `failed to parse field [${member}]`),
      caused_by: cause(position),
    }));
  }

  #error(path: JsonPath, reason: string, what?: "name"): BodyError {
    return new BodyError([...this.#path, ...path], (position) => this.#causeAt(position, reason), what);
  }

  #causeAt(position: Position | undefined, reason: string): ErrorCause {
    return {
      type: "x_content_parse_exception",
      reason: `[${placeText(position)}] [${this.#name}] ${reason}`,
    };
  }
}

function placeText(position: Position | undefined): string {
  return position ? `${position.line}:${position.col}` : "1:1";
}
