/** JSON as it is written: numbers keep their digits. What follows a mistake is left out; what is before it stays. */

export type JsonNode =
  /** A text, or a number or truth value as it is written. */
  | { kind: "value"; text: string }
  | { kind: "null" }
  | { kind: "list"; items: JsonNode[]; text: string }
  /** A member's name can be there more than once. */
  | { kind: "object"; members: [name: string, value: JsonNode][]; text: string };

const maxDepth = 200;
const string = /"(?:[^"\\]|\\.)*"/sy;
const scalar = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /\s*/y;

/** @returns `undefined` when the text does not begin as an object or a list */
export function readJson(text: string): JsonNode | undefined {
  const reader = new JsonReader(text);
  return reader.begins() ? reader.node(0) : undefined;
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  /** A mistake has been met: nothing more is read. */
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
    if (depth > maxDepth) return this.#mistake();
    if (char === "{") return this.#object(depth);
    if (char === "[") return this.#list(depth);
    if (char === '"') {
      const text = this.#string();
      return text === undefined ? undefined : { kind: "value", text };
    }
    const text = this.#match(scalar);
    if (text === undefined) return this.#mistake();
    return text === "null" ? { kind: "null" } : { kind: "value", text };
  }

  #object(depth: number): JsonNode {
    const start = this.#at++;
    const members: [string, JsonNode][] = [];
    while (!this.#closed("}")) {
      const name = this.#string();
      if (name === undefined || !this.#take(":")) break;
      const value = this.node(depth + 1);
      if (value !== undefined) members.push([name, value]);
      if (this.#broken || !this.#separated("}")) break;
    }
    return { kind: "object", members, text: this.#text.slice(start, this.#at) };
  }

  #list(depth: number): JsonNode {
    const start = this.#at++;
    const items: JsonNode[] = [];
    while (!this.#closed("]")) {
      const value = this.node(depth + 1);
      if (value !== undefined) items.push(value);
      if (this.#broken || !this.#separated("]")) break;
    }
    return { kind: "list", items, text: this.#text.slice(start, this.#at) };
  }

  #closed(close: string): boolean {
    this.#skip();
    if (this.#at >= this.#text.length) this.#broken = true;
    if (this.#text[this.#at] === close) this.#at++;
    else return this.#broken;
    return true;
  }

  /** After a member or an item: a comma is next, or the end of what it is in. */
  #separated(close: string): boolean {
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
    if (written === undefined) return this.#mistake();
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

  #mistake(): undefined {
    this.#broken = true;
  }
}
