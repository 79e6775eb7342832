/**
 * The staging file between a reader and DuckDB: CSV with one line a row, in a dialect of control characters that logs hardly contain,
 * so that nearly every value is copied as it is. A missing value is empty, an empty one a pair of quotes.
 */
import { type FileHandle, open } from "node:fs/promises";

/** Between two values. */
export const SEPARATOR = 0x1f;
/** Around a value with special bytes; doubled inside. */
export const QUOTE = 0x1e;
/** Between the values of a list, inside one value. */
export const LIST_SEPARATOR = 0x1d;
/** Before `0` it means itself, before `1` the list separator. */
export const LIST_ESCAPE = 0x1b;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

const FLUSH_BYTES = 1 << 20;

/** DuckDB's reader holds several rows in memory. */
export const MAX_ROW_BYTES = 16 << 20;

/** Whether a value with this byte needs quotes. */
export const isSpecial = (byte: number) =>
  byte === SEPARATOR || byte === QUOTE || byte === NEWLINE || byte === RETURN;

export class StagingFile {
  readonly path: string;
  readonly #handle: FileHandle;
  /** The bytes that are not on disk yet. Readers write into it directly, since a call per byte would be too slow. */
  bytes = Buffer.allocUnsafe(FLUSH_BYTES * 2);
  /** The number of used bytes. */
  length = 0;
  /** Start of the current row; the rows before it are complete. */
  rowStart = 0;
  rows = 0;
  /** Whether a value has a line break: then DuckDB cannot read the file in parallel. */
  hasLineBreaks = false;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** @throws Error when the file exists */
  static async create(path: string): Promise<StagingFile> {
    return new StagingFile(path, await open(path, "wx", 0o600));
  }

  /** Makes room for so many more bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe((this.length + more) * 2);
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  /** Writes any value in quotes. The caller has reserved twice its length plus 2. */
  writeQuoted(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    for (let index = start; index < end; index++) {
      const byte = source[index] ?? 0;
      if (byte === QUOTE) bytes[at++] = QUOTE;
      else if (byte === NEWLINE || byte === RETURN) this.hasLineBreaks = true;
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /** Writes an integer from 0, in decimal. The caller has reserved 20 bytes. */
  writeNumber(value: number): void {
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
    let rest = value;
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      const next = Math.floor(rest / 10);
      this.bytes[at] = 0x30 + (rest - next * 10);
      rest = next;
    }
    this.length += digits;
  }

  /** Completes the current row. */
  endRow(): void {
    this.bytes[this.length++] = NEWLINE;
    this.rowStart = this.length;
    this.rows++;
  }

  /** Discards the current row. */
  dropRow(): void {
    this.length = this.rowStart;
  }

  /** Writes the complete rows to disk if there are enough of them. */
  async flushIfFull(): Promise<void> {
    if (this.rowStart >= FLUSH_BYTES) await this.flush();
  }

  /** Writes all complete rows to disk. */
  async flush(): Promise<void> {
    let written = 0;
    while (written < this.rowStart) {
      const { bytesWritten } = await this.#handle.write(this.bytes, written, this.rowStart - written);
      written += bytesWritten;
    }
    this.discardRows();
  }

  /** Discards the complete rows. */
  discardRows(): void {
    this.bytes.copyWithin(0, this.rowStart, this.length);
    this.length -= this.rowStart;
    this.rowStart = 0;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
