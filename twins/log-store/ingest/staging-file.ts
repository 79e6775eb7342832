/**
 * What a reader writes and DuckDB reads: one line a row, in a dialect that no log is in, so that nearly every value goes
 * through as it is. A missing value is nothing at all, an empty one a pair of quotes.
 */
import { type FileHandle, open } from "node:fs/promises";

/** Between two values. */
export const SEPARATOR = 0x1f;
/** Around a value that holds what would end it; doubled inside. */
export const QUOTE = 0x1e;
/** Between the values of a list, inside one value. */
export const LIST_SEPARATOR = 0x1d;
/** Before `0` it stands for itself, before `1` for the separator of a list. */
export const LIST_ESCAPE = 0x1b;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

const FLUSH_BYTES = 1 << 20;

/** Longest row; DuckDB's reader holds several in memory. */
export const MOST_ROW_BYTES = 16 << 20;

/** Whether a byte cannot stand in a value without quotes. */
export const isSpecial = (byte: number) =>
  byte === SEPARATOR || byte === QUOTE || byte === NEWLINE || byte === RETURN;

export class StagingFile {
  readonly path: string;
  readonly #handle: FileHandle;
  /** What is not on disk yet. Readers write here themselves: a call for every byte would be too slow. */
  bytes = Buffer.allocUnsafe(FLUSH_BYTES * 2);
  /** How much of `bytes` is taken. */
  length = 0;
  /** Where the row that is being written begins; all before is complete. */
  rowStart = 0;
  rows = 0;
  /** Whether a value has a line break in it: then the file cannot be read in parts. */
  brokenLines = false;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** @throws when there is a file. */
  static async create(path: string): Promise<StagingFile> {
    return new StagingFile(path, await open(path, "wx", 0o600));
  }

  /** Makes room for so many bytes more. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe((this.length + more) * 2);
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  /** A value that may hold anything, after a reservation of twice its length and two. */
  writeQuoted(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    for (let index = start; index < end; index++) {
      const byte = source[index] ?? 0;
      if (byte === QUOTE) bytes[at++] = QUOTE;
      else if (byte === NEWLINE || byte === RETURN) this.brokenLines = true;
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /** A whole number from 0, in decimal. Needs 20 bytes of room. */
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

  /** The row is complete. */
  endRow(): void {
    this.bytes[this.length++] = NEWLINE;
    this.rowStart = this.length;
    this.rows++;
  }

  /** The row has not been. */
  dropRow(): void {
    this.length = this.rowStart;
  }

  /** Writes the complete rows to disk once there are enough of them. */
  async drain(): Promise<void> {
    if (this.rowStart >= FLUSH_BYTES) await this.flush();
  }

  /** Writes all complete rows to disk. */
  async flush(): Promise<void> {
    let written = 0;
    while (written < this.rowStart) {
      const { bytesWritten } = await this.#handle.write(this.bytes, written, this.rowStart - written);
      written += bytesWritten;
    }
    this.forget();
  }

  /** Lets go of the complete rows: nobody will read them. */
  forget(): void {
    this.bytes.copyWithin(0, this.rowStart, this.length);
    this.length -= this.rowStart;
    this.rowStart = 0;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
