/** The values of one event, by column, as references into the file's bytes. */
import {
  isSpecial,
  LIST_ESCAPE,
  LIST_SEPARATOR,
  QUOTE,
  SEPARATOR,
  type StagingFile,
} from "./staging-file.ts";

/** Index of no value. */
const NONE = -1;

export class RowValues {
  /** First and last value of each column; `NONE` for no value. */
  #first = new Int32Array(64).fill(NONE);
  #last = new Int32Array(64).fill(NONE);
  #columns: number[] = [];
  /** Of each value: its buffer, its start and end there, and the next value of its column. */
  #source: Uint8Array[] = [];
  #start: number[] = [];
  #end: number[] = [];
  #next: number[] = [];
  #length = 0;

  clear(): void {
    for (const column of this.#columns) this.#first[column] = NONE;
    this.#columns.length = 0;
    this.#length = 0;
  }

  /** @returns whether the column had a value already */
  add(column: number, source: Uint8Array, start: number, end: number): boolean {
    if (column >= this.#first.length) this.#grow(column);
    const value = this.#length++;
    this.#source[value] = source;
    this.#start[value] = start;
    this.#end[value] = end;
    this.#next[value] = NONE;
    const several = this.#first[column] !== NONE;
    if (several) this.#next[this.#last[column] ?? 0] = value;
    else {
      this.#first[column] = value;
      this.#columns.push(column);
    }
    this.#last[column] = value;
    return several;
  }

  /** Writes the values of the columns in their order, each after a separator. */
  write(out: StagingFile, columns: number): void {
    for (let column = 0; column < columns; column++) {
      const first = this.#first[column] ?? NONE;
      out.reserve(4);
      out.bytes[out.length++] = SEPARATOR;
      if (first === NONE) continue;
      if (this.#next[first] === NONE && !this.#needsEscapes(first)) this.#copy(out, first);
      else this.#writeEscaped(out, first);
    }
  }

  #copy(out: StagingFile, value: number): void {
    const source = this.#source[value];
    const start = this.#start[value] ?? 0;
    const end = this.#end[value] ?? 0;
    if (!source) return;
    out.reserve(end - start + 4);
    const { bytes } = out;
    let at = out.length;
    if (start === end) {
      bytes[at++] = QUOTE;
      bytes[at++] = QUOTE;
    } else for (let index = start; index < end; index++) bytes[at++] = source[index] ?? 0;
    out.length = at;
  }

  /** Whether the value has bytes with a meaning in the staging file. */
  #needsEscapes(value: number): boolean {
    const source = this.#source[value];
    const end = this.#end[value] ?? 0;
    for (let index = this.#start[value] ?? 0; index < end; index++) {
      const byte = source?.[index] ?? 0;
      if (byte < 0x20 && (isSpecial(byte) || byte === LIST_SEPARATOR || byte === LIST_ESCAPE)) return true;
    }
    return false;
  }

  /** Writes a list, or a value that needs escapes. */
  #writeEscaped(out: StagingFile, first: number): void {
    const text: number[] = [];
    for (let value = first; value !== NONE; value = this.#next[value] ?? NONE) {
      if (value !== first) text.push(LIST_SEPARATOR);
      const source = this.#source[value];
      for (let index = this.#start[value] ?? 0; index < (this.#end[value] ?? 0); index++) {
        const byte = source?.[index] ?? 0;
        if (byte === LIST_SEPARATOR) text.push(LIST_ESCAPE, 0x31);
        else if (byte === LIST_ESCAPE) text.push(LIST_ESCAPE, 0x30);
        else text.push(byte);
      }
    }
    const bytes = Uint8Array.from(text);
    out.reserve(bytes.length * 2 + 4);
    out.writeQuoted(bytes, 0, bytes.length);
  }

  #grow(column: number): void {
    const grown = (old: Int32Array) => {
      const larger = new Int32Array(Math.max(column + 1, old.length * 2)).fill(NONE);
      larger.set(old);
      return larger;
    };
    this.#first = grown(this.#first);
    this.#last = grown(this.#last);
  }
}
