/** Reads concatenated JSON values from a text, without parsing the whole text first. */

/** The text is not JSON from here on. */
export class JsonSyntaxError extends Error {
  constructor() {
    super("this is not JSON");
    this.name = "JsonSyntaxError";
  }
}

/** Receives each text, number and boolean of a value with its dotted name; elements of a list have the name of the list. */
export type LeafListener = (name: string, text: string) => void;

const MAX_DEPTH = 200;

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Unescaped characters of a string: all from the space on, except quote and backslash. */
const plainString = /"([ !#-[\]-\uffff]*)"/y;
const anyString = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y;

export class JsonReader {
  readonly text: string;
  at: number;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  skipSpace(): void {
    for (; this.at < this.text.length; this.at++) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
    }
  }

  /** The next character; empty at the end. */
  get next(): string {
    return this.text.charAt(this.at);
  }

  /** Consumes the character if it comes next. */
  take(character: string): boolean {
    if (this.text.charAt(this.at) !== character) return false;
    this.at++;
    return true;
  }

  /** @throws JsonSyntaxError unless this character comes next */
  expect(character: string): void {
    if (!this.take(character)) throw new JsonSyntaxError();
  }

  /** Reads a string. @throws JsonSyntaxError */
  string(): string {
    plainString.lastIndex = this.at;
    const plain = plainString.exec(this.text);
    if (plain) {
      this.at = plainString.lastIndex;
      return plain[1] ?? "";
    }
    anyString.lastIndex = this.at;
    const found = anyString.exec(this.text);
    if (!found) throw new JsonSyntaxError();
    this.at = anyString.lastIndex;
    return String(JSON.parse(found[0]));
  }

  /** Consumes a value. @param listener receives its leaves @throws JsonSyntaxError */
  value(listener?: LeafListener, name = "", depth = 0): void {
    if (depth > MAX_DEPTH) throw new JsonSyntaxError();
    this.skipSpace();
    switch (this.next) {
      case "{":
        this.#object(listener, name, depth);
        return;
      case "[":
        this.#array(listener, name, depth);
        return;
      case '"': {
        const text = this.string();
        listener?.(name, text);
        return;
      }
      case "n":
        this.#word("null");
        return;
      case "t":
        this.#word("true");
        listener?.(name, "true");
        return;
      case "f":
        this.#word("false");
        listener?.(name, "false");
        return;
      default: {
        const text = this.#number();
        listener?.(name, text);
      }
    }
  }

  #object(listener: LeafListener | undefined, name: string, depth: number): void {
    this.at++;
    this.skipSpace();
    if (this.take("}")) return;
    do {
      this.skipSpace();
      const member = this.string();
      this.skipSpace();
      this.expect(":");
      this.value(listener, name === "" ? member : `${name}.${member}`, depth + 1);
      this.skipSpace();
    } while (this.take(","));
    this.expect("}");
  }

  #array(listener: LeafListener | undefined, name: string, depth: number): void {
    this.at++;
    this.skipSpace();
    if (this.take("]")) return;
    do {
      this.value(listener, name, depth + 1);
      this.skipSpace();
    } while (this.take(","));
    this.expect("]");
  }

  #number(): string {
    number.lastIndex = this.at;
    const found = number.exec(this.text);
    if (!found) throw new JsonSyntaxError();
    this.at = number.lastIndex;
    return found[0];
  }

  #word(word: string): void {
    if (!this.text.startsWith(word, this.at)) throw new JsonSyntaxError();
    this.at += word.length;
  }
}
