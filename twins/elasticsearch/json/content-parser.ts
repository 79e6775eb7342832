/**
 * A request's JSON token by token, as the vendor's readers take it: which mistake is found first, and where, follows from how
 * far a reader has come. Source: `XContentParser` of 8.15, over Jackson.
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
  /** The member that comes next. */
  next: number;
  readonly path: JsonPath;
}

export class ContentParser {
  /** `undefined` before the first one and behind the last one. */
  token: Token | undefined;
  /** Of the member that the current token is the name of, or is in. */
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

  /** Goes to the next token. */
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

  /** Goes from the start of an object or an array to its end; stays at everything else. */
  skipChildren(): void {
    if (this.token !== "START_OBJECT" && this.token !== "START_ARRAY") return;
    const frame = this.#frames.at(-1);
    if (!frame) return;
    frame.next = frame.members.length;
    this.next();
  }

  /** How many objects and arrays have begun and not ended. */
  get depth(): number {
    return this.#frames.length;
  }

  /** Goes to the end of the object or array that began at a depth, wherever in it reading has ended. */
  leave(depth: number): void {
    if (this.#frames.length < depth) return;
    this.#frames.length = depth;
    const frame = this.#frames.at(-1);
    if (frame) frame.next = frame.members.length;
    this.token = undefined;
    this.next();
  }

  /** The JSON at the current token: a value, or the whole object or array that begins or ends here. */
  get json(): unknown {
    return this.#value;
  }

  get path(): JsonPath {
    return this.#path;
  }

  /** Whether the current token is a text, a number or a boolean; null is no value. */
  get isValue(): boolean {
    return this.token === "VALUE_STRING" || this.token === "VALUE_NUMBER" || this.token === "VALUE_BOOLEAN";
  }

  /** Where the current token begins. */
  get location(): Position | undefined {
    const what =
      this.token === "FIELD_NAME" ? "name" : this.token?.startsWith("END_") === true ? "end" : "value";
    return this.#locate?.(this.#path, what);
  }

  /** `1:17`, for messages. */
  get place(): string {
    return placeText(this.location);
  }

  /** A text, or another value as text. */
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

  /** A value as it is; `undefined` for null. */
  scalar(): ScalarJson | undefined {
    if (this.token === "VALUE_NULL") return undefined;
    if (isScalarJson(this.#value)) return this.#value;
    return this.text();
  }

  /** The same, but the vendor takes a name, or the bracket that begins or ends an object or an array, for a text. */
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
    return booleanIn(this.text());
  }

  /** A whole number of 32 bits; a fraction is cut off. */
  integer(): number {
    return Number(this.#whole("int", INT_MAX));
  }

  /** A whole number of 64 bits. */
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

  #whole(type: "int" | "long", most: bigint): bigint {
    if (this.token === "VALUE_STRING") {
      const text = this.text();
      const number = javaDouble(text);
      if (isWithin(number, most)) return BigInt(Math.trunc(number));
      const what = type === "int" ? "an integer" : "a long";
      throw illegalValue(`Value [${text}] is out of range for ${what}`);
    }
    const number = this.#number();
    if (isWithin(number, most)) return typeof number === "bigint" ? number : BigInt(Math.trunc(number));
    throw this.jacksonError(
      `Numeric value (${number}) out of range of ${type} (${-most - 1n} - ${most})`,
      "input_coercion_exception",
    );
  }

  #number(): number | bigint {
    if (typeof this.#value === "number" || typeof this.#value === "bigint") return this.#value;
    throw this.jacksonError(
      `Current token (${jacksonTokenOf(this.#value)}) not numeric, can not use numeric value accessors`,
    );
  }

  /** What Jackson itself refuses; it says where it has come to, and shows the text. */
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

function isWithin(number: number | bigint, most: bigint): boolean {
  if (typeof number === "bigint") return number >= -most - 1n && number <= most;
  return Math.trunc(number) >= Number(-most - 1n) && Math.trunc(number) <= Number(most);
}

/** Empty text is false. Source: `Booleans.parseBoolean` of 8.15. */
function booleanIn(text: string): boolean {
  if (text === "true") return true;
  if (text === "false" || text === "") return false;
  throw illegalValue(`Failed to parse value [${text}] as only [true] or [false] are allowed.`);
}

function illegalValue(reason: string): VendorError {
  return new VendorError(400, { type: "illegal_argument_exception", reason });
}
