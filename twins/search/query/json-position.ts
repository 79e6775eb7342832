/** Where values stand in the text of a request, for errors that say line and column. */
import type { JsonPath, Locate, PlaceIn, Position } from "./compiled-query.ts";

/**
 * Looks paths up in JSON that has been read without error. The text is walked when something is asked, which is when there is an
 * error to report.
 * @param text of the request
 * @param base path of the query in it: `["query"]`
 */
export function locateIn(text: string, base: JsonPath): Locate {
  return (path, what) => {
    const offset = new Walker(text).find([...base, ...path], what);
    return offset === undefined ? undefined : positionAt(text, offset);
  };
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, col: offset - before.lastIndexOf("\n") };
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
    if (what === "name") return nameAt;
    if (what === "value") return this.#at;
    this.#skip();
    return this.#at - 1;
  }

  /** Goes to a member's value. @returns where its name is */
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

  /** Goes to an item. */
  #item(index: number): number | undefined {
    if (!this.#take("[")) return undefined;
    for (let at = 0; at < index; at++) {
      this.#skip();
      if (!this.#take(",")) return undefined;
    }
    this.#blank();
    return this.#at;
  }

  /** Passes over one value, however deep. */
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
