/** Positions of values in the text of a request, for errors with line and column. */

/** Member names and array indices, from the root of the query's JSON: `["bool", "must", 0, "term"]`. */
export type JsonPath = readonly (string | number)[];

export interface Position {
  /** From 1. */
  line: number;
  /** From 1, in bytes. */
  col: number;
}

/**
 * A position relative to the value at a path: `name` is the start of its member name, `value` its own start, `inside` just behind its
 * opening bracket, `end` its closing bracket, `after` the text behind it.
 */
export type PlaceIn = "name" | "value" | "end" | "after" | "inside";

/** Finds a position in the text of the request. */
export interface Locate {
  (path: JsonPath, what: PlaceIn): Position | undefined;
  /** The text as Jackson quotes it in errors: its first 500 bytes. */
  readonly source?: string;
}

/**
 * Finds paths in JSON that was read without error. Each lookup walks the text: they happen only to report an error.
 * @param text of the request
 * @param base path of the query in it: `["query"]`
 */
export function locateIn(text: string, base: JsonPath): Locate {
  const locate = (path: JsonPath, what: PlaceIn) => {
    const offset = new Walker(text).find([...base, ...path], what);
    return offset === undefined ? undefined : positionAt(text, offset);
  };
  return Object.assign(locate, { source: sourceText(text) });
}

/** Line and column of an offset; the column counts bytes, as Jackson does. */
function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  return { line: before.split("\n").length, col: Buffer.byteLength(line) + 1 };
}

/** Control characters other than line ends. */
const control = /(?![\r\n])\p{Cc}/gu;
/** Jackson truncates the quoted text here. */
const MAX_SOURCE_BYTES = 500;

/** The text of a request as Jackson quotes it in an error. */
function sourceText(text: string): string {
  const bytes = Buffer.from(text);
  const shown = bytes.subarray(0, MAX_SOURCE_BYTES).toString();
  const more = bytes.length - MAX_SOURCE_BYTES;
  const escaped = shown.replaceAll(control, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  });
  return `"${escaped}"${more > 0 ? `[truncated ${more} bytes]` : ""}`;
}

class Walker {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  find(path: JsonPath, what: PlaceIn): number | undefined {
    let nameAt = 0;
    for (const step of path) {
      const found = typeof step === "number" ? this.#item(step) : this.#member(step);
      if (found === undefined) return undefined;
      nameAt = found;
    }
    this.#blank();
    switch (what) {
      case "name":
        return nameAt;
      case "value":
        return this.#at;
      case "inside":
        return this.#at + 1;
      case "after":
        this.#skip();
        return this.#at;
      case "end":
        this.#skip();
        return this.#at - 1;
    }
  }

  /** Moves to a member's value. @returns the offset of its name */
  #member(name: string): number | undefined {
    if (!this.#take("{")) return undefined;
    while (!this.#take("}")) {
      this.#take(",");
      this.#blank();
      const nameAt = this.#at;
      const found = this.#string();
      if (!this.#take(":")) return undefined;
      if (found === name) return nameAt;
      this.#skip();
    }
    return undefined;
  }

  /** Moves to an item. @returns its offset */
  #item(index: number): number | undefined {
    if (!this.#take("[")) return undefined;
    for (let at = 0; at < index; at++) {
      this.#skip();
      if (!this.#take(",")) return undefined;
    }
    this.#blank();
    return this.#at;
  }

  /** Skips one value, however deep. */
  #skip(): void {
    let depth = 0;
    do {
      this.#blank();
      const character = this.#text[this.#at];
      if (character === undefined) return;
      if (character === '"') this.#string();
      else {
        if (character === "{" || character === "[") depth++;
        if (character === "}" || character === "]") depth--;
        if (/[{}[\],:]/.test(character)) this.#at++;
        else while (/[^\s{}[\],:"]/.test(this.#text[this.#at] ?? " ")) this.#at++;
      }
    } while (depth > 0);
  }

  #string(): string | undefined {
    const from = this.#at;
    if (this.#text[this.#at] !== '"') return undefined;
    this.#at++;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    }
    this.#at++;
    return String(JSON.parse(this.#text.slice(from, this.#at)));
  }

  #take(character: string): boolean {
    this.#blank();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #blank(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }
}
