/** A lenient JSON reader that keeps the text of numbers. It reads up to the first error and keeps what came before. */

export type JsonNode =
  /** A string, or a number or boolean as written. */
  | { kind: "value"; text: string }
  | { kind: "null" }
  | { kind: "list"; items: JsonNode[]; text: string }
  /** Names may repeat. */
  | { kind: "object"; members: [name: string, value: JsonNode][]; text: string };

const MAX_DEPTH = 200;
const string = /"(?:[^"\\]|\\.)*"/sy;
const scalar = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /\s*/y;

/** @returns `undefined` unless the text begins with an object or a list */
export function readJson(text: string): JsonNode | undefined {
  const reader = new JsonReader(text);
  return reader.begins() ? reader.node(0) : undefined;
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  /** An error was found: reading stops. */
  #broken = false;

  constructor(text: string) {
    this.#text = text;
  }

  begins(): boolean {
    this.#skip();
    return this.#text[this.#at] === "{" || this.#text[this.#at] === "[";
  }

  node(depth: number): JsonNode | undefined {
    this.#skip();
    const char = this.#text[this.#at];
    if (depth > MAX_DEPTH) return this.#fail();
    if (char === "{") return this.#object(depth);
    if (char === "[") return this.#list(depth);
    if (char === '"') {
      const text = this.#string();
      return text === undefined ? undefined : { kind: "value", text };
    }
    const text = this.#match(scalar);
    if (text === undefined) return this.#fail();
    return text === "null" ? { kind: "null" } : { kind: "value", text };
  }

  #object(depth: number): JsonNode {
    const start = this.#at++;
    const members: [string, JsonNode][] = [];
    while (!this.#takeEnd("}")) {
      const name = this.#string();
      if (name === undefined || !this.#take(":")) break;
      const value = this.node(depth + 1);
      if (value !== undefined) members.push([name, value]);
      if (this.#broken || !this.#separator("}")) break;
    }
    return { kind: "object", members, text: this.#text.slice(start, this.#at) };
  }

  #list(depth: number): JsonNode {
    const start = this.#at++;
    const items: JsonNode[] = [];
    while (!this.#takeEnd("]")) {
      const value = this.node(depth + 1);
      if (value !== undefined) items.push(value);
      if (this.#broken || !this.#separator("]")) break;
    }
    return { kind: "list", items, text: this.#text.slice(start, this.#at) };
  }

  #takeEnd(close: string): boolean {
    this.#skip();
    if (this.#at >= this.#text.length) this.#broken = true;
    if (this.#text[this.#at] === close) this.#at++;
    else return this.#broken;
    return true;
  }

  /** Reads the comma after an item, unless the closing bracket is next. */
  #separator(close: string): boolean {
    this.#skip();
    if (this.#text[this.#at] === close) return true;
    return this.#take(",");
  }

  #take(symbol: string): boolean {
    this.#skip();
    if (this.#text[this.#at] === symbol) {
      this.#at++;
      return true;
    }
    this.#broken = true;
    return false;
  }

  #string(): string | undefined {
    this.#skip();
    const written = this.#match(string);
    if (written === undefined) return this.#fail();
    try {
      const text: unknown = JSON.parse(written);
      return typeof text === "string" ? text : undefined;
    } catch {
      return written.slice(1, -1);
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const matched = pattern.exec(this.#text)?.[0];
    if (matched !== undefined) this.#at += matched.length;
    return matched;
  }

  #skip(): void {
    this.#match(space);
  }

  #fail(): undefined {
    this.#broken = true;
  }
}
