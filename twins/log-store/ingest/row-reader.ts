/** The interface of the format readers: UTF-8 bytes in, rows of a staging file out. */

/** Most fields of a dataset: each is a column, and each text has postings of its own. */
export const MAX_FIELDS = 1000;

/** The kinds of a column's values in the file. All CSV values are of kind `cell`. */
export interface ValueKinds {
  cell: boolean;
  text: boolean;
  number: boolean;
  boolean: boolean;
}

/** A column of the staging file. */
export interface StagedColumn {
  name: string;
  kinds: ValueKinds;
  /** Some row has several values, so all values are staged as lists. */
  multi: boolean;
}

export interface RowReader {
  /** Reads more bytes, which end with a complete character. Problems go to the reader's `Problems`. */
  push(bytes: Buffer): void;
  /** Call it at the end of the file. */
  end(): void;
  /** The place in the file of a byte of the last or next push. Lines and characters count from 1. */
  position(bytes: Uint8Array, at: number): { line: number; column: number };
  readonly columns: readonly StagedColumn[];
  /** Whether rows include the event as JSON text; else that is composed of the values. */
  readonly hasSource: boolean;
  /** The rest of the file cannot be parsed. */
  readonly isLost: boolean;
}

/** The number of characters that begin in these bytes. */
export function countCharacters(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++) if (((bytes[index] ?? 0) & 0xc0) !== 0x80) count++;
  return count;
}
