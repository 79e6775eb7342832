/** JSON that keeps the order of members and the text of numbers. */

/** A number as written. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type ExactJson = string | NumberText | boolean | null | ExactJson[] | Map<string, ExactJson>;

const MAX_DEPTH = 500;
const blanks = /[ \t\r\n]*/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const stringToken = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const wordToken = /true|false|null/y;

/** @returns `undefined` for malformed or too deeply nested JSON */
export function readExactJson(text: string): ExactJson | undefined {
  try {
    return new Reader(text).document();
  } catch (error) {
    if (error instanceof MalformedJson || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Writes JSON on one line. */
export function jsonText(value: ExactJson): string {
  if (value instanceof NumberText) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** The value of a field: texts without quotes, objects and lists as JSON; `null` for null. */
export function fieldText(value: ExactJson): string | null {
  if (value === null || typeof value === "string") return value;
  return jsonText(value);
}

class MalformedJson extends Error {}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): ExactJson {
    const value = this.#value(0);
    this.#match(blanks);
    if (this.#at < this.#text.length) throw new MalformedJson();
    return value;
  }

  #value(depth: number): ExactJson {
    if (depth > MAX_DEPTH) throw new MalformedJson();
    this.#match(blanks);
    if (this.#take("{")) return this.#object(depth);
    if (this.#take("[")) return this.#list(depth);
    const string = this.#match(stringToken);
    if (string !== undefined) return stringOf(string);
    const number = this.#match(numberToken);
    if (number !== undefined) return new NumberText(number);
    const word = this.#match(wordToken);
    if (word === undefined) throw new MalformedJson();
    return word === "null" ? null : word === "true";
  }

  #object(depth: number): ExactJson {
    const members = new Map<string, ExactJson>();
    this.#items("}", () => {
      this.#match(blanks);
      const name = this.#match(stringToken);
      this.#match(blanks);
      if (name === undefined || !this.#take(":")) throw new MalformedJson();
      members.set(stringOf(name), this.#value(depth + 1));
    });
    return members;
  }

  #list(depth: number): ExactJson {
    const items: ExactJson[] = [];
    this.#items("]", () => items.push(this.#value(depth + 1)));
    return items;
  }

  #items(close: string, read: () => void): void {
    this.#match(blanks);
    if (this.#take(close)) return;
    do {
      read();
      this.#match(blanks);
    } while (this.#take(","));
    if (!this.#take(close)) throw new MalformedJson();
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

function stringOf(token: string): string {
  const value: unknown = JSON.parse(token);
  if (typeof value !== "string") throw new MalformedJson();
  return value;
}
