/**
 * Walks a request's JSON token by token like the vendor's readers: their errors depend on how far they have read.
 * Source: `XContentParser` of 8.15, over Jackson.
 */

import { type ErrorCause, VendorError } from "../vendor/error.ts";
import { placeText } from "./content-error.ts";
import { javaDouble } from "./java-number.ts";
import { jacksonCause } from "./located-error.ts";
import type { JsonPath, Locate, Position } from "./position.ts";
import { isScalarJson, jacksonTokenOf, type ScalarJson, tokenOf } from "./token.ts";

export type Token =
  | "FIELD_NAME"
  | "START_OBJECT"
  | "END_OBJECT"
  | "START_ARRAY"
  | "END_ARRAY"
  | "VALUE_STRING"
  | "VALUE_NUMBER"
  | "VALUE_BOOLEAN"
  | "VALUE_NULL";

interface Frame {
  readonly json: object;
  readonly members: readonly [step: string | number, value: unknown][];
  /** Index of the next member. */
  next: number;
  readonly path: JsonPath;
}

export class ContentParser {
  /** `undefined` before the first token and behind the last one. */
  token: Token | undefined;
  /** Name of the current member. */
  name = "";
  readonly #root: unknown;
  readonly #locate: Locate | undefined;
  readonly #frames: Frame[] = [];
  #started = false;
  #value: unknown;
  #path: JsonPath = [];

  constructor(json: unknown, locate?: Locate) {
    this.#root = json;
    this.#locate = locate;
  }

  /** Moves to the next token. */
  next(): Token | undefined {
    const frame = this.#frames.at(-1);
    if (!frame) {
      if (this.#started) {
        this.token = undefined;
        return undefined;
      }
      this.#started = true;
      return this.#enter(this.#root, []);
    }
    const isList = Array.isArray(frame.json);
    const member = frame.members[frame.next];
    if (this.token === "FIELD_NAME" && frame.next > 0) {
      const [step, value] = frame.members[frame.next - 1] ?? ["", null];
      return this.#enter(value, [...frame.path, step]);
    }
    if (!member) {
      this.#frames.pop();
      this.#value = frame.json;
      this.#path = frame.path;
      this.token = isList ? "END_ARRAY" : "END_OBJECT";
      return this.token;
    }
    frame.next++;
    const [step, value] = member;
    if (isList) return this.#enter(value, [...frame.path, step]);
    this.name = String(step);
    this.#value = step;
    this.#path = [...frame.path, step];
    this.token = "FIELD_NAME";
    return this.token;
  }

  /** Moves from the start of an object or array to its end; stays at any other token. */
  skipChildren(): void {
    if (this.token !== "START_OBJECT" && this.token !== "START_ARRAY") return;
    const frame = this.#frames.at(-1);
    if (!frame) return;
    frame.next = frame.members.length;
    this.next();
  }

  /** The number of open objects and arrays. */
  get depth(): number {
    return this.#frames.length;
  }

  /** Moves to the end of the object or array at a depth, from anywhere inside. */
  leave(depth: number): void {
    if (this.#frames.length < depth) return;
    this.#frames.length = depth;
    const frame = this.#frames.at(-1);
    if (frame) frame.next = frame.members.length;
    this.token = undefined;
    this.next();
  }

  /** The JSON at the current token: a value, or the object or array that begins or ends here. */
  get json(): unknown {
    return this.#value;
  }

  get path(): JsonPath {
    return this.#path;
  }

  /** Whether the current token is a text, a number or a boolean; null does not count. */
  get isValue(): boolean {
    return this.token === "VALUE_STRING" || this.token === "VALUE_NUMBER" || this.token === "VALUE_BOOLEAN";
  }

  /** The position of the current token. */
  get location(): Position | undefined {
    const what =
      this.token === "FIELD_NAME" ? "name" : this.token?.startsWith("END_") === true ? "end" : "value";
    return this.#locate?.(this.#path, what);
  }

  /** `1:17`, for messages. */
  get place(): string {
    return placeText(this.location);
  }

  /** The current scalar as text. */
  text(): string {
    if (isScalarJson(this.#value) && this.isValue) return String(this.#value);
    throw new VendorError(400, {
      type: "illegal_state_exception",
      reason: `Can't get text on a ${this.token} at ${this.place}`,
    });
  }

  textOrNull(): string | undefined {
    return this.token === "VALUE_NULL" ? undefined : this.text();
  }

  /** The current scalar; `undefined` for null. */
  scalar(): ScalarJson | undefined {
    if (this.token === "VALUE_NULL") return undefined;
    if (isScalarJson(this.#value)) return this.#value;
    return this.text();
  }

  /** The same, except that a member name, or a bracket of an object or array, counts as text, as in the vendor. */
  scalarOrBracket(): ScalarJson | undefined {
    switch (this.token) {
      case "START_OBJECT":
        return "{";
      case "END_OBJECT":
        return "}";
      case "START_ARRAY":
        return "[";
      case "END_ARRAY":
        return "]";
      case "FIELD_NAME":
        return this.name;
      default:
        return this.scalar();
    }
  }

  boolean(): boolean {
    if (typeof this.#value === "boolean") return this.#value;
    if (this.token !== "VALUE_STRING") {
      throw this.jacksonError(`Current token (${jacksonTokenOf(this.#value)}) not of boolean type`);
    }
    return parseBoolean(this.text());
  }

  /** A 32-bit integer; a fraction is truncated. */
  integer(): number {
    return Number(this.#whole("int", INT_MAX));
  }

  /** A 64-bit integer; a fraction is truncated. */
  long(): bigint {
    return this.#whole("long", LONG_MAX);
  }

  double(): number {
    if (this.token === "VALUE_STRING") return javaDouble(this.text());
    return Number(this.#number());
  }

  float(): number {
    return Math.fround(this.double());
  }

  #whole(type: "int" | "long", max: bigint): bigint {
    if (this.token === "VALUE_STRING") {
      const text = this.text();
      const number = javaDouble(text);
      if (isWithin(number, max)) return BigInt(Math.trunc(number));
      const what = type === "int" ? "an integer" : "a long";
      throw illegalValue(`Value [${text}] is out of range for ${what}`);
    }
    const number = this.#number();
    if (isWithin(number, max)) return typeof number === "bigint" ? number : BigInt(Math.trunc(number));
    throw this.jacksonError(
      `Numeric value (${number}) out of range of ${type} (${-max - 1n} - ${max})`,
      "input_coercion_exception",
    );
  }

  #number(): number | bigint {
    if (typeof this.#value === "number" || typeof this.#value === "bigint") return this.#value;
    throw this.jacksonError(
      `Current token (${jacksonTokenOf(this.#value)}) not numeric, can not use numeric value accessors`,
    );
  }

  /** An error of Jackson, which reports its position and quotes the text. */
  jacksonError(reason: string, type = "json_parse_exception"): VendorError {
    const at = this.#locate?.(this.#path, this.token?.startsWith("START_") === true ? "inside" : "after");
    return new VendorError(400, jacksonCause(reason, type, at, this.#locate?.source));
  }

  /** `parsing_exception` at the current token. */
  error(reason: string, causedBy?: ErrorCause): VendorError {
    const at = this.location;
    return new VendorError(400, {
      type: "parsing_exception",
      reason,
      ...(at && { line: at.line, col: at.col }),
      ...(causedBy && { caused_by: causedBy }),
    });
  }

  #enter(value: unknown, path: JsonPath): Token {
    this.#value = value;
    this.#path = path;
    const token = tokenOf(value);
    if (typeof value === "object" && value !== null) {
      const members: [string | number, unknown][] = Array.isArray(value)
        ? value.map((item, index) => [index, item])
        : Object.entries(value);
      this.#frames.push({ json: value, members, next: 0, path });
    }
    this.token = token;
    return token;
  }
}

const INT_MAX = 2n ** 31n - 1n;
const LONG_MAX = 2n ** 63n - 1n;

function isWithin(number: number | bigint, max: bigint): boolean {
  if (typeof number === "bigint") return number >= -max - 1n && number <= max;
  return Math.trunc(number) >= Number(-max - 1n) && Math.trunc(number) <= Number(max);
}

/** Empty text is false. Source: `Booleans.parseBoolean` of 8.15. */
function parseBoolean(text: string): boolean {
  if (text === "true") return true;
  if (text === "false" || text === "") return false;
  throw illegalValue(`Failed to parse value [${text}] as only [true] or [false] are allowed.`);
}

function illegalValue(reason: string): VendorError {
  return new VendorError(400, { type: "illegal_argument_exception", reason });
}
