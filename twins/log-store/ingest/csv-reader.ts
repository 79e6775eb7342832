/**
 * CSV as RFC 4180 has it (https://www.rfc-editor.org/rfc/rfc4180), byte by byte:
 * - the first record is the header, and every other record has as many values; empty lines are skipped;
 * - a quoted value may have separators, line breaks and doubled quotes; a quote inside an unquoted value is an ordinary character;
 * - an empty value is missing.
 */
import { endOfHeader, MAX_HEADER_BYTES, readHeader } from "./csv-header.ts";
import type { Problems } from "./problems.ts";
import { countCharacters, MAX_FIELDS, type RowReader, type StagedColumn } from "./row-reader.ts";
import { isSpecial, MAX_ROW_BYTES, SEPARATOR, type StagingFile } from "./staging-file.ts";

const QUOTE = 0x22;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** The state of the reader within a record. */
type State =
  /** Before the first byte of a value. */
  | "start"
  | "plain"
  | "quoted"
  /** After a quote in a quoted value: it ends the value, or is the first of two. */
  | "quote"
  /** After a carriage return outside quotes. */
  | "return";

/** Classes of bytes in a value: part of it, its end, or part of it that needs quotes in the staging file. */
const PLAIN = 0;
const ENDS = 1;
const SPECIAL = 2;

const inQuotes = new Uint8Array(256).map((_, byte) =>
  byte === QUOTE ? ENDS : isSpecial(byte) ? SPECIAL : PLAIN,
);

export class CsvReader implements RowReader {
  readonly hasSource = false;
  columns: StagedColumn[] = [];
  isLost = false;
  readonly #out: StagingFile;
  readonly #problems: Problems;
  /** The bytes so far, until the header is complete. */
  #header: Buffer | undefined = Buffer.alloc(0);
  #separator = 0;
  #withoutQuotes = inQuotes;
  #state: State = "start";
  #line = 1;
  /** Start of the line in the last push, and the characters of the line in earlier pushes. */
  #lineStart = 0;
  #charactersBefore = 0;
  /** Complete values of the current record. */
  #values = 0;
  #recordLine = 1;
  /** Start of the value, relative to the staged row. */
  #valueStart = 0;
  #special = false;
  #quoted = false;
  /** A problem of the record has been reported. */
  #refused = false;
  #openedAt = { line: 1, column: 1 };

  constructor(out: StagingFile, problems: Problems) {
    this.#out = out;
    this.#problems = problems;
  }

  push(bytes: Buffer): void {
    if (this.isLost) return;
    if (this.#header === undefined) this.#read(bytes, 0);
    else this.#readHeader(Buffer.concat([this.#header, bytes]));
  }

  end(): void {
    if (this.isLost) return;
    if (this.#header !== undefined) this.#endInHeader(this.#header);
    else if (this.#state === "quoted") {
      this.#problems.add({ ...this.#openedAt, rule: "the quote opened here is never closed" });
    } else if (this.#state !== "start" || this.#values > 0) this.#read(Buffer.from("\n"), 0);
  }

  position(bytes: Uint8Array, at: number): { line: number; column: number } {
    let line = this.#line;
    let from = this.#lineStart;
    let before = this.#charactersBefore;
    for (let index = from; index < at; index++) {
      if (bytes[index] !== NEWLINE) continue;
      line++;
      from = index + 1;
      before = 0;
    }
    return { line, column: 1 + before + countCharacters(bytes, from, at) };
  }

  #readHeader(bytes: Buffer): void {
    const end = endOfHeader(bytes);
    if (end < 0 && bytes.length <= MAX_HEADER_BYTES) {
      this.#header = bytes;
      return;
    }
    this.#header = undefined;
    const before = this.#problems.total;
    const header = bytes.subarray(0, Math.max(end, 0));
    if (end < 0) this.#problems.add({ line: 1, rule: `the header has more than ${MAX_HEADER_BYTES} bytes` });
    else this.#begin(header);
    this.isLost = this.#problems.total > before;
    if (this.isLost) return;
    for (const byte of header) if (byte === NEWLINE) this.#line++;
    this.#line++;
    this.#read(bytes, end + 1);
  }

  #begin(header: Buffer): void {
    const { separator, names } = readHeader(header, this.#problems);
    if (names.length > MAX_FIELDS) {
      const rule = `the header names ${names.length} columns; a dataset has at most ${MAX_FIELDS}`;
      this.#problems.add({ line: 1, rule });
    }
    this.#separator = separator;
    this.#withoutQuotes = new Uint8Array(256).map((_, byte) => {
      if (byte === separator || byte === NEWLINE || byte === RETURN) return ENDS;
      return isSpecial(byte) ? SPECIAL : PLAIN;
    });
    const kinds = { cell: true, text: false, number: false, boolean: false };
    this.columns = names.map((name) => ({ name, kinds, multi: false }));
  }

  #endInHeader(header: Buffer): void {
    if (header.length === 0) {
      this.#problems.add({ rule: "the file is empty; its first line must name the columns" });
      return;
    }
    this.#readHeader(Buffer.concat([header, Buffer.from("\n")]));
    if (this.#header !== undefined)
      this.#problems.add({ line: 1, rule: "a quote of the header is never closed" });
  }

  #read(bytes: Buffer, from: number): void {
    this.#lineStart = from;
    // Staging may add quotes, and the line number at the start of each record.
    this.#out.reserve((bytes.length - from) * 2 + 64);
    for (let at = from; at < bytes.length; ) at = this.#step(bytes, at);
    this.#charactersBefore += countCharacters(bytes, this.#lineStart, bytes.length);
    this.#lineStart = 0;
    if (this.#out.length - this.#out.rowStart <= MAX_ROW_BYTES) return;
    const opened = this.#state === "quoted" ? "; is the quote that was opened last ever closed?" : "";
    const rule = `the record has more than ${MAX_ROW_BYTES} bytes${opened}`;
    this.#problems.add({ ...(opened === "" ? { line: this.#recordLine } : this.#openedAt), rule });
    this.isLost = true;
  }

  /** Reads while the state stays the same. @returns the offset to continue at */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case "start":
        return this.#beginValue(bytes, at);
      case "plain":
        return this.#readPlain(bytes, at);
      case "quoted":
        return this.#readQuoted(bytes, at);
      case "quote":
        return this.#readAfterQuote(bytes, at);
      case "return":
        return this.#readAfterReturn(bytes, at);
    }
  }

  #beginValue(bytes: Buffer, at: number): number {
    const out = this.#out;
    if (this.#values === 0) {
      this.#recordLine = this.#line;
      this.#refused = false;
      // A line can be shorter than its number.
      out.reserve((bytes.length - at) * 2 + 64);
      out.writeNumber(this.#line);
    }
    out.bytes[out.length++] = SEPARATOR;
    this.#valueStart = out.length - out.rowStart;
    this.#special = false;
    this.#quoted = bytes[at] === QUOTE;
    this.#state = this.#quoted ? "quoted" : "plain";
    if (!this.#quoted) return at;
    this.#openedAt.line = this.#line;
    this.#openedAt.column = 1 + this.#charactersBefore + at - this.#lineStart;
    return at + 1;
  }

  #readPlain(bytes: Buffer, from: number): number {
    const out = this.#out;
    const target = out.bytes;
    const kinds = this.#withoutQuotes;
    let at = from;
    let length = out.length;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      const kind = kinds[byte];
      if (kind === ENDS) break;
      if (kind === SPECIAL) this.#special = true;
      target[length++] = byte;
    }
    out.length = length;
    return at < bytes.length ? this.#endBy(bytes, at) : at;
  }

  #readQuoted(bytes: Buffer, from: number): number {
    const out = this.#out;
    const target = out.bytes;
    let at = from;
    let length = out.length;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      const kind = inQuotes[byte];
      if (kind === ENDS) break;
      if (kind === SPECIAL) {
        this.#special = true;
        if (byte === NEWLINE) this.#nextLine(at);
      }
      target[length++] = byte;
    }
    out.length = length;
    if (at === bytes.length) return at;
    this.#state = "quote";
    return at + 1;
  }

  #readAfterQuote(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      this.#out.bytes[this.#out.length++] = QUOTE;
      this.#state = "quoted";
      return at + 1;
    }
    if (this.#withoutQuotes[byte] === ENDS) return this.#endBy(bytes, at);
    this.#refuse(bytes, at, "after the quote that ends a value comes a separator or the end of the line");
    this.#state = "plain";
    return at;
  }

  #readAfterReturn(bytes: Buffer, at: number): number {
    if (bytes[at] === NEWLINE) return this.#endBy(bytes, at);
    if (this.#quoted) {
      this.#refuse(bytes, at, "after the quote that ends a value comes a separator or the end of the line");
    }
    // The carriage return ended no line, so it belongs to the value.
    this.#out.bytes[this.#out.length++] = RETURN;
    this.#special = true;
    this.#state = "plain";
    return at;
  }

  /** Handles a byte that ends a value, or starts a line end. */
  #endBy(bytes: Buffer, at: number): number {
    const byte = bytes[at];
    if (byte === RETURN) {
      this.#state = "return";
      return at + 1;
    }
    this.#endValue();
    this.#state = "start";
    if (byte === this.#separator) return at + 1;
    this.#endRecord(bytes, at);
    this.#nextLine(at);
    return at + 1;
  }

  #endValue(): void {
    this.#values++;
    if (!this.#special) return;
    const out = this.#out;
    const start = out.rowStart + this.#valueStart;
    const value = Buffer.from(out.bytes.subarray(start, out.length));
    out.length = start;
    out.reserve(value.length * 2 + 64);
    out.writeQuoted(value, 0, value.length);
  }

  #endRecord(bytes: Buffer, at: number): void {
    const out = this.#out;
    const values = this.#values;
    this.#values = 0;
    const empty = values === 1 && !this.#quoted && out.length - out.rowStart === this.#valueStart;
    if (!empty && values !== this.columns.length && !this.#refused) {
      const columns = this.columns.length;
      const rule = `the record has ${countOf(values, "value")}, the header names ${countOf(columns, "column")}`;
      // A record of several lines is reported at its first.
      const { line, column } = this.position(bytes, at);
      this.#problems.add({ line: this.#recordLine, ...(line === this.#recordLine ? { column } : {}), rule });
      this.#refused = true;
    }
    if (empty || this.#refused) out.dropRow();
    else out.endRow();
  }

  #nextLine(at: number): void {
    this.#line++;
    this.#lineStart = at + 1;
    this.#charactersBefore = 0;
  }

  #refuse(bytes: Buffer, at: number, rule: string): void {
    if (!this.#refused) this.#problems.add({ ...this.position(bytes, at), rule });
    this.#refused = true;
  }
}

function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
