/** NDJSON: one JSON object a line, https://github.com/ndjson/ndjson-spec. Empty lines are skipped. */
import { EventParser } from "./event-parser.ts";
import { type BulkTarget, beginsBulk, readBulkAction, readExport, wrappedEvents } from "./exports.ts";
import { FieldTree } from "./field-tree.ts";
import { EventProblem, type Problems } from "./problems.ts";
import { countCharacters, type RowReader, type StagedColumn } from "./row-reader.ts";
import { RowValues } from "./row-values.ts";
import { MAX_ROW_BYTES, SEPARATOR, type StagingFile } from "./staging-file.ts";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const COMMA = 0x2c;
const nothing = Buffer.alloc(0);

export class NdjsonReader implements RowReader {
  readonly hasSource = true;
  isLost = false;
  readonly #out: StagingFile;
  readonly #problems: Problems;
  readonly #tree = new FieldTree();
  readonly #values = new RowValues();
  readonly #parser: EventParser;
  /** The beginning of a line whose end has not arrived. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #line = 1;
  /** A line that is not empty has been read. */
  #hasBegun = false;
  /** The file is the body of a bulk request. */
  #isBulk = false;
  /** Of the action before the next document. */
  #target: BulkTarget | undefined;

  constructor(out: StagingFile, problems: Problems) {
    this.#out = out;
    this.#problems = problems;
    this.#parser = new EventParser(this.#tree, this.#values);
  }

  get columns(): readonly StagedColumn[] {
    return this.#tree.columns;
  }

  push(bytes: Buffer): void {
    if (this.isLost) return;
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) break;
      if (this.#begun.length === 0) this.#read(bytes, from, end);
      else {
        const line = Buffer.concat([...this.#begun, bytes.subarray(from, end)]);
        this.#begun = [];
        this.#begunBytes = 0;
        this.#read(line, 0, line.length);
      }
      if (this.isLost) return;
      this.#line++;
      from = end + 1;
    }
    if (from === bytes.length) return;
    this.#begun.push(bytes.subarray(from));
    this.#begunBytes += bytes.length - from;
    if (this.#begunBytes <= MAX_ROW_BYTES) return;
    this.#problems.add({ line: this.#line, rule: `the line has more than ${MAX_ROW_BYTES} bytes` });
    this.isLost = true;
  }

  end(): void {
    if (this.isLost) return;
    if (this.#begun.length > 0) {
      const line = Buffer.concat(this.#begun);
      this.#begun = [];
      this.#read(line, 0, line.length);
    }
    if (this.#target)
      this.#problems.add({ line: this.#line, rule: "the last action has no document after it" });
  }

  position(bytes: Uint8Array, at: number): { line: number; column: number } {
    let line = this.#line;
    let from = 0;
    let before = this.#begun.reduce((sum, part) => sum + countCharacters(part, 0, part.length), 0);
    for (let index = 0; index < at; index++) {
      if (bytes[index] !== NEWLINE) continue;
      line++;
      from = index + 1;
      before = 0;
    }
    return { line, column: 1 + before + countCharacters(bytes, from, at) };
  }

  /** Reads one line, without its line feed. */
  #read(bytes: Buffer, lineStart: number, lineEnd: number): void {
    let start = lineStart;
    let end = lineEnd;
    while (start < end && isSpace(bytes[start] ?? 0)) start++;
    while (start < end && isSpace(bytes[end - 1] ?? 0)) end--;
    if (start === end) return;
    if (this.#refuseWrapped(bytes, start, end)) return;
    this.#values.clear();
    try {
      if (this.#isBulk) {
        this.#readBulk(bytes, start, end);
        return;
      }
      const line = readExport(bytes, start, end);
      if (line === "no event") return;
      if (line) {
        this.#parser.parse(bytes, line.event.start, line.event.end);
        this.#write(bytes, line.event.start, line.event.end, line.id, line.index);
      } else {
        this.#parser.parse(bytes, start, end);
        this.#write(bytes, start, end, nothing, nothing);
      }
    } catch (error) {
      if (!(error instanceof EventProblem)) throw error;
      this.#out.dropRow();
      const column = 1 + countCharacters(bytes, lineStart, error.at);
      this.#problems.add({ line: this.#line, column, rule: error.message });
    }
  }

  /** Reads a line of a bulk request: an action, or the document of the one before. */
  #readBulk(bytes: Buffer, start: number, end: number): void {
    const target = this.#target;
    this.#target = undefined;
    if (target) {
      this.#parser.parse(bytes, start, end);
      this.#write(bytes, start, end, target.id, target.index);
      return;
    }
    try {
      this.#target = readBulkAction(bytes, start, end);
    } catch (error) {
      // Without this action the next lines cannot be told apart.
      this.isLost = true;
      throw error;
    }
  }

  /** Refuses a file that is one JSON text with events inside. @returns whether it did */
  #refuseWrapped(bytes: Buffer, start: number, end: number): boolean {
    if (this.#hasBegun) return false;
    this.#hasBegun = true;
    this.#isBulk = beginsBulk(bytes.subarray(start, end));
    const rule = wrappedEvents(bytes.subarray(start, end));
    if (rule === undefined) return false;
    this.#problems.add({ line: this.#line, rule });
    this.isLost = true;
    return true;
  }

  #write(bytes: Buffer, start: number, end: number, id: Uint8Array, index: Uint8Array): void {
    const out = this.#out;
    out.reserve((end - start) * 2 + (id.length + index.length) * 2 + 64);
    out.writeNumber(this.#line);
    for (const envelope of [id, index]) {
      out.bytes[out.length++] = SEPARATOR;
      if (envelope.length > 0) out.writeQuoted(envelope, 0, envelope.length);
    }
    out.bytes[out.length++] = SEPARATOR;
    const source = withoutMembers(bytes.subarray(start, end), start, this.#parser.documentMembers);
    // The only special byte of the staging file that JSON text can have is a carriage return between values.
    if (source.includes(RETURN)) out.writeQuoted(source, 0, source.length);
    else {
      source.copy(out.bytes, out.length);
      out.length += source.length;
    }
    this.#values.write(out, this.#tree.columns.length);
    out.reserve(1);
    out.endRow();
  }
}

/** Removes members from an object; the rest keeps its spelling. @param offset of the object, in the members' ranges */
function withoutMembers(
  object: Buffer,
  offset: number,
  members: readonly { start: number; end: number }[],
): Buffer {
  let left = object;
  for (const member of members.toReversed()) {
    let start = member.start - offset;
    let end = member.end - offset;
    while (isSpace(left[end] ?? 0)) end++;
    if (left[end] === COMMA) {
      end++;
      while (isSpace(left[end] ?? 0)) end++;
    } else {
      let before = start - 1;
      while (isSpace(left[before] ?? 0)) before--;
      if (left[before] === COMMA) start = before;
    }
    left = Buffer.concat([left.subarray(0, start), left.subarray(end)]);
  }
  return left;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === RETURN;
}
