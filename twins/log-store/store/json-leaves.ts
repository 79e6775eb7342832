/**
 * Parses an event's JSON text into leaves: dotted names, with the values as they are spelled. `JSON.parse` would round
 * integers beyond 2^53, make `1.0` an integer, and keep the last of two members of one name.
 */

import { brokenNameRule } from "../field-name.ts";

export interface Leaf {
  kind: "integer" | "decimal" | "string" | "boolean" | "null";
  /** A number or boolean as it is spelled, or the content of a string. */
  text: string;
  /** Offset in the source, in UTF-16 units. */
  offset: number;
}

/** The values of one field. */
export interface LeafField {
  name: string;
  leaves: Leaf[];
}

/** Why a text is no event. */
export class JsonMistake extends Error {
  readonly kind: "malformed_json" | "too_deep" | "bad_field_name";
  readonly offset: number;
  readonly field: string | undefined;
  constructor(kind: JsonMistake["kind"], message: string, offset: number, field?: string) {
    super(message);
    this.name = "JsonMistake";
    this.kind = kind;
    this.offset = offset;
    this.field = field;
  }
}

/** Deepest nesting of objects: the vendor's `index.mapping.depth.limit`. Arrays in arrays have their own limit. */
export const MAX_OBJECT_DEPTH = 20;
const MAX_ARRAY_DEPTH = 200;

const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
/** A string without escapes: every character from U+0020 on, except quote and backslash. */
const plainString = /"([ !#-[\]-\uffff]*)"/y;
const anyString = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y;
const space = /[ \t\n\r]*/y;

const halfPair = /\\u[dD][89a-fA-F]/;
/** An escape sequence: a surrogate pair, a lone surrogate (captured), or any other. */
const escapeSequence =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)/gs;

/**
 * Replaces lone surrogates by U+FFFD. DuckDB's JSON reader rejects a document that has one, and so fails every query that reads a
 * member of all documents.
 */
export function wellFormedJson(source: string): string {
  if (!halfPair.test(source)) return source;
  return source.replace(escapeSequence, (found, half: string | undefined) =>
    half === undefined ? found : "\\ufffd",
  );
}

/** @param nulls whether `null` is a leaf @throws JsonMistake */
export function readLeaves(source: string, nulls: "kept" | "left out" = "left out"): LeafField[] {
  return new LeafReader(source, nulls).read();
}

class LeafReader {
  readonly #source: string;
  readonly #nulls: "kept" | "left out";
  readonly #fields = new Map<string, LeafField>();
  #at = 0;

  constructor(source: string, nulls: "kept" | "left out") {
    this.#source = source;
    this.#nulls = nulls;
  }

  read(): LeafField[] {
    this.#skipSpace();
    if (this.#source[this.#at] !== "{") throw this.#mistake("an event is a JSON object");
    this.#object("", 1);
    this.#skipSpace();
    if (this.#at < this.#source.length) throw this.#mistake("there is text after the object");
    return [...this.#fields.values()];
  }

  #object(path: string, depth: number): void {
    if (depth > MAX_OBJECT_DEPTH) {
      throw new JsonMistake(
        "too_deep",
        `objects are nested deeper than ${MAX_OBJECT_DEPTH} levels`,
        this.#at,
        path,
      );
    }
    this.#at++;
    const names = new Set<string>();
    this.#skipSpace();
    if (this.#take("}")) return;
    do {
      this.#skipSpace();
      const offset = this.#at;
      const name = this.#string();
      if (names.has(name)) throw this.#mistake(`there are two members "${name}"`, offset);
      names.add(name);
      checkName(name, path, offset);
      this.#skipSpace();
      if (!this.#take(":")) throw this.#mistake('":" is missing');
      this.#value(path === "" ? name : `${path}.${name}`, depth, 0);
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#mistake('"," or "}" is missing');
  }

  #array(path: string, depth: number, arrays: number): void {
    if (arrays > MAX_ARRAY_DEPTH) {
      throw new JsonMistake(
        "too_deep",
        `arrays are nested deeper than ${MAX_ARRAY_DEPTH} levels`,
        this.#at,
        path,
      );
    }
    this.#at++;
    this.#skipSpace();
    if (this.#take("]")) return;
    do {
      this.#value(path, depth, arrays);
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("]")) throw this.#mistake('"," or "]" is missing');
  }

  #value(path: string, depth: number, arrays: number): void {
    this.#skipSpace();
    const offset = this.#at;
    switch (this.#source[offset]) {
      case "{":
        this.#object(path, depth + 1);
        return;
      case "[":
        this.#array(path, depth, arrays + 1);
        return;
      case '"':
        this.#leaf(path, "string", this.#string(), offset);
        return;
      case "n":
        this.#word("null");
        if (this.#nulls === "kept") this.#leaf(path, "null", "null", offset);
        return;
      case "t":
        this.#leaf(path, "boolean", this.#word("true"), offset);
        return;
      case "f":
        this.#leaf(path, "boolean", this.#word("false"), offset);
        return;
      default: {
        number.lastIndex = offset;
        const found = number.exec(this.#source);
        if (!found) throw this.#mistake("a value is missing");
        this.#at = number.lastIndex;
        this.#leaf(path, found[1] || found[2] ? "decimal" : "integer", found[0], offset);
      }
    }
  }

  #leaf(name: string, kind: Leaf["kind"], text: string, offset: number): void {
    const field = this.#fields.get(name);
    if (field) field.leaves.push({ kind, text, offset });
    else this.#fields.set(name, { name, leaves: [{ kind, text, offset }] });
  }

  #string(): string {
    plainString.lastIndex = this.#at;
    const plain = plainString.exec(this.#source);
    if (plain) {
      this.#at = plainString.lastIndex;
      return plain[1] ?? "";
    }
    anyString.lastIndex = this.#at;
    const found = anyString.exec(this.#source);
    if (!found) throw this.#mistake("a string is missing or not closed");
    this.#at = anyString.lastIndex;
    return String(JSON.parse(found[0]));
  }

  #word<Word extends string>(word: Word): Word {
    if (!this.#source.startsWith(word, this.#at)) throw this.#mistake("a value is missing");
    this.#at += word.length;
    return word;
  }

  #take(character: string): boolean {
    if (this.#source[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    const code = this.#source.charCodeAt(this.#at);
    if (code > 32) return;
    space.lastIndex = this.#at;
    space.test(this.#source);
    this.#at = space.lastIndex;
  }

  #mistake(message: string, offset = this.#at): JsonMistake {
    return new JsonMistake("malformed_json", message, offset);
  }
}

function checkName(name: string, path: string, offset: number): void {
  const rule = brokenNameRule(name);
  if (rule === undefined) return;
  const full = path === "" ? name : `${path}.${name}`;
  throw new JsonMistake("bad_field_name", `the name ${JSON.stringify(full)} ${rule}`, offset, full);
}
