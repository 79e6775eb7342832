/**
 * A pull parser for JSON that does not fit into memory: the reader enters objects and arrays, or takes a value whole, which
 * `JSON.parse` then parses. Only the value being read is held in memory.
 */

import { MAX_JSON_DEPTH } from "../base/json.ts";
import { reasonOf } from "../base/reason.ts";

/** Limit of a value that is taken whole. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;

/** The text is not JSON; `at` is the offset of the first invalid byte. */
export class MalformedJson extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(`the body is not JSON: ${message} at byte ${at}`);
    this.name = "MalformedJson";
    this.at = at;
  }
}

const space = new Set([0x20, 0x09, 0x0a, 0x0d]);
const byte = { quote: 0x22, backslash: 0x5c, comma: 0x2c, colon: 0x3a } as const;
const brackets = { object: [0x7b, 0x7d], array: [0x5b, 0x5d] } as const;

export type JsonKind = "object" | "array" | "scalar" | "end";

export class JsonStream {
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Offset of the chunk's first byte. */
  #offset: number;

  /** @param offset of the first byte, added to all positions */
  constructor(chunks: AsyncIterable<Buffer>, offset = 0) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#offset = offset;
  }

  /** The kind of the next value, which is not consumed. */
  async kind(): Promise<JsonKind> {
    const next = await this.#next();
    if (next === undefined) return "end";
    if (next === brackets.object[0]) return "object";
    return next === brackets.array[0] ? "array" : "scalar";
  }

  /** Enters the next object. The caller reads each member's value before asking for the next name. @throws MalformedJson */
  async *members(): AsyncGenerator<string> {
    for await (const _ of this.#list(brackets.object)) {
      const at = this.position;
      const name = await this.value();
      if (typeof name !== "string") throw new MalformedJson("a member has no name", at);
      await this.#expect(byte.colon, "a colon is missing");
      yield name;
    }
  }

  /** Enters the next array. The caller reads each element before asking for the next. @throws MalformedJson */
  elements(): AsyncGenerator<void> {
    return this.#list(brackets.array);
  }

  /** Reads the next value whole. @throws MalformedJson */
  async value(): Promise<unknown> {
    const pieces: Buffer[] = [];
    const start = await this.#scan((piece) => pieces.push(piece));
    const text = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    try {
      return JSON.parse(String(text));
    } catch (error) {
      const reason = reasonOf(error);
      throw new MalformedJson(reason, start);
    }
  }

  /** Expects the end of the text. @throws MalformedJson */
  async end(): Promise<void> {
    if ((await this.#next()) !== undefined)
      throw new MalformedJson("something stands behind its end", this.position);
  }

  /** Offset of the next byte. */
  get position(): number {
    return this.#offset + this.#at;
  }

  async *#list([opening, closing]: readonly [number, number]): AsyncGenerator<void> {
    await this.#expect(opening, "a bracket is missing");
    if ((await this.#next()) === closing) {
      this.#at++;
      return;
    }
    for (;;) {
      yield;
      const next = await this.#next();
      if (next !== byte.comma && next !== closing)
        throw new MalformedJson("a comma or bracket is missing", this.position);
      this.#at++;
      if (next === closing) return;
    }
  }

  async #expect(wanted: number, message: string): Promise<void> {
    if ((await this.#next()) !== wanted) throw new MalformedJson(message, this.position);
    this.#at++;
  }

  /** Peeks at the next byte that is not white space. */
  async #next(): Promise<number | undefined> {
    for (;;) {
      while (this.#at < this.#chunk.length) {
        const next = this.#chunk[this.#at] ?? 0;
        if (!space.has(next)) return next;
        this.#at++;
      }
      if (!(await this.#more())) return undefined;
    }
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done) return false;
    this.#offset += this.#chunk.length;
    this.#chunk = value;
    this.#at = 0;
    return true;
  }

  /** Consumes the next value and hands over its bytes. @returns the offset of its start */
  async #scan(take: (piece: Buffer) => void): Promise<number> {
    await this.#next();
    const start = this.position;
    const scanner = new ValueScanner();
    for (;;) {
      const from = this.#at;
      const ended = this.#at < this.#chunk.length ? scanner.scan(this.#chunk, from) : undefined;
      this.#at = ended ?? this.#chunk.length;
      if (this.#at > from) take(this.#chunk.subarray(from, this.#at));
      if (scanner.depth > MAX_JSON_DEPTH)
        throw new MalformedJson(`it is nested deeper than ${MAX_JSON_DEPTH} levels`, this.position);
      if (this.position - start > MAX_VALUE_BYTES) {
        throw new MalformedJson(`a value has more than ${MAX_VALUE_BYTES} bytes`, start);
      }
      if (ended !== undefined) {
        if (this.position === start) throw new MalformedJson("a value is missing", start);
        return start;
      }
      if (!(await this.#more())) {
        if (scanner.isScalar && this.position > start) return start;
        throw new MalformedJson("it ends too early", this.position);
      }
    }
  }
}

/** Finds the end of a value that arrives in chunks. */
class ValueScanner {
  depth = 0;
  #inString = false;
  #escaped = false;
  #began = false;

  /** Whether the value so far is a number or a word, which the end of the text can also end. */
  get isScalar(): boolean {
    return this.#began && this.depth === 0 && !this.#inString;
  }

  /** Offset in the chunk at which the value ends; `undefined`: in a later chunk. */
  scan(chunk: Buffer, from: number): number | undefined {
    for (let at = from; at < chunk.length; at++) {
      const next = chunk[at] ?? 0;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (next === byte.backslash) this.#escaped = true;
        else if (next === byte.quote) {
          this.#inString = false;
          if (this.depth === 0) return at + 1;
        }
        continue;
      }
      if (next === byte.quote) this.#inString = true;
      else if (next === brackets.object[0] || next === brackets.array[0]) {
        // Deep enough to refuse: the caller checks the depth.
        if (++this.depth > MAX_JSON_DEPTH) return at;
      } else if (next === brackets.object[1] || next === brackets.array[1]) {
        if (this.depth === 0) return at;
        if (--this.depth === 0) return at + 1;
      } else if (this.depth === 0 && (next === byte.comma || next === byte.colon || space.has(next)))
        return at;
      this.#began = true;
    }
    return undefined;
  }
}
