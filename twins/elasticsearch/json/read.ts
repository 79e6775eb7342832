/**
 * Reads JSON without loss: keeps large integers, the order of members, and positions of errors. As in the vendor, depth is bounded
 * and duplicate members are errors.
 */
import type { ErrorCause } from "../vendor/error.ts";
import { VendorError } from "../vendor/error.ts";

/** The result of `readJson`; integers beyond 2^53 are `bigint`. */
export type Json = string | number | bigint | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

/** A number as written. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** JSON with members in order and numbers as written. */
export type ExactJson = string | NumberText | boolean | null | ExactJson[] | Map<string, ExactJson>;

/** Limit of nesting. */
const MAX_DEPTH = 1000;

/** @throws VendorError with line and column */
export function readJson(text: string): Json {
  return new Reader<Json>(text, plainMaker).document();
}

/** @throws VendorError */
export function readExactJson(text: string): ExactJson {
  return new Reader<ExactJson>(text, exactMaker).document();
}

interface Maker<Value> {
  number(text: string): Value;
  object(members: Map<string, Value>): Value;
  array(items: Value[]): Value;
  simple(value: string | boolean | null): Value;
}

const exactMaker: Maker<ExactJson> = {
  number: (text) => new NumberText(text),
  object: (members) => members,
  array: (items) => items,
  simple: (value) => value,
};

const plainMaker: Maker<Json> = {
  number(text) {
    const value = Number(text);
    return !Number.isSafeInteger(value) && /^-?\d+$/.test(text) ? BigInt(text) : value;
  },
  // A member named __proto__ becomes an own member, not the prototype.
  object: (members) => Object.fromEntries(members),
  array: (items) => items,
  simple: (value) => value,
};

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const blank = /[ \t\r\n]*/y;
const wordPattern = /[\p{L}\p{N}_$]*/uy;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const SOURCE = "[Source: (byte[]); ";

class Reader<Value> {
  readonly #text: string;
  readonly #make: Maker<Value>;
  #at = 0;
  #depth = 0;

  constructor(text: string, make: Maker<Value>) {
    this.#text = text;
    this.#make = make;
  }

  document(): Value {
    const value = this.#value();
    this.#skipBlank();
    if (this.#at < this.#text.length) throw this.#unexpected("was expecting the end of the input");
    return value;
  }

  #value(): Value {
    this.#skipBlank();
    switch (this.#text[this.#at]) {
      case "{":
        return this.#readNested(() => this.#object());
      case "[":
        return this.#readNested(() => this.#array());
      case '"':
        return this.#make.simple(this.#string());
      default:
        return this.#scalar();
    }
  }

  #readNested(read: () => Value): Value {
    if (++this.#depth > MAX_DEPTH) {
      throw this.#error(
        `Document nesting depth (${this.#depth}) exceeds the maximum allowed (${MAX_DEPTH}, from \`StreamReadConstraints.getMaxNestingDepth()\`)`,
        "stream_constraints_exception",
      );
    }
    this.#at++;
    const value = read();
    this.#depth--;
    return value;
  }

  #object(): Value {
    const members = new Map<string, Value>();
    this.#skipBlank();
    if (this.#take("}")) return this.#make.object(members);
    for (;;) {
      this.#skipBlank();
      if (this.#text[this.#at] !== '"') {
        throw this.#unexpected("was expecting double-quote to start field name");
      }
      const startsAt = this.#at;
      const name = this.#string();
      if (members.has(name)) {
        this.#at = startsAt;
        throw this.#error(`Duplicate field '${name}'`);
      }
      this.#skipBlank();
      if (!this.#take(":")) throw this.#unexpected("was expecting a colon to separate field name and value");
      members.set(name, this.#value());
      this.#skipBlank();
      if (this.#take("}")) return this.#make.object(members);
      if (!this.#take(",")) throw this.#unexpected("was expecting comma to separate Object entries");
    }
  }

  #array(): Value {
    const items: Value[] = [];
    this.#skipBlank();
    if (this.#take("]")) return this.#make.array(items);
    for (;;) {
      items.push(this.#value());
      this.#skipBlank();
      if (this.#take("]")) return this.#make.array(items);
      if (!this.#take(",")) throw this.#unexpected("was expecting comma to separate Array entries");
    }
  }

  #string(): string {
    const startsAt = this.#at;
    let escaped = false;
    for (let at = startsAt + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        const inner = this.#text.slice(startsAt + 1, at);
        return escaped ? this.#unescape(inner, startsAt) : inner;
      }
      if (code === BACKSLASH) {
        escaped = true;
        at++;
      } else if (code < SPACE) {
        this.#at = at;
        throw this.#error(
          `Illegal unquoted character ((CTRL-CHAR, code ${code})): has to be escaped using backslash to be included in string value`,
        );
      }
    }
    this.#at = this.#text.length;
    throw this.#endOfInput("Unexpected end-of-input in VALUE_STRING");
  }

  #unescape(inner: string, startsAt: number): string {
    try {
      return JSON.parse(`"${inner}"`);
    } catch {
      this.#at = startsAt;
      throw this.#error("Unrecognized character escape");
    }
  }

  #scalar(): Value {
    if (this.#at >= this.#text.length) throw this.#endOfInput("Unexpected end-of-input");
    const word = this.#match(wordPattern) ?? "";
    const known = word === "true" ? true : word === "false" ? false : word === "null" ? null : undefined;
    if (known !== undefined) return this.#make.simple(known);
    this.#at -= word.length;
    const number = this.#match(numberPattern);
    if (number) return this.#make.number(number);
    if (word !== "") {
      throw this.#error(
        `Unrecognized token '${word}': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')`,
      );
    }
    throw this.#unexpected(
      "expected a valid value (JSON String, Number (or 'NaN'/'+INF'/'-INF'), Array, Object or token 'null', 'true' or 'false')",
    );
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipBlank(): void {
    this.#match(blank);
  }

  #unexpected(expected: string): VendorError {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) return this.#endOfInput("Unexpected end-of-input");
    return this.#error(
      `Unexpected character ('${String.fromCodePoint(point)}' (code ${point})): ${expected}`,
    );
  }

  #endOfInput(reason: string): VendorError {
    const [line, column] = this.#place();
    return syntaxError(`[${line}:${column}] Unexpected end of file`, "x_content_e_o_f_exception", {
      type: "json_e_o_f_exception",
      reason: `${reason}\n at ${SOURCE}line: ${line}, column: ${column}]`,
    });
  }

  #error(reason: string, type = "json_parse_exception"): VendorError {
    const [line, column] = this.#place();
    return syntaxError(`[${line}:${column}] ${reason}`, "x_content_parse_exception", {
      type,
      reason: `${reason}\n at ${SOURCE}line: ${line}, column: ${column}]`,
    });
  }

  #place(): [line: number, column: number] {
    const before = this.#text.slice(0, this.#at);
    return [before.split("\n").length, this.#at - before.lastIndexOf("\n")];
  }
}

function syntaxError(reason: string, type: string, cause: ErrorCause): VendorError {
  return new VendorError(400, { type, reason, caused_by: cause });
}
