/** What the readers of all formats are: bytes of UTF-8 in, rows of a staging file out, and what was found on the way. */

/** Most fields of a dataset: each is a column, and each text has postings of its own. */
export const MAX_FIELDS = 1000;

/** What the values of a column were in the file. A CSV value is not told apart: it has `cell`. */
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
  /** Some row has several values, so all are written as lists. */
  multi: boolean;
}

export interface RowReader {
  /** Reads some more; whole characters. What is wrong goes to the problems it was made with. */
  push(bytes: Buffer): void;
  /** The file is over. */
  end(): void;
  /** Where a byte of what was pushed last, or comes next, is in the file. Lines and characters from 1. */
  position(bytes: Uint8Array, at: number): { line: number; column: number };
  readonly columns: readonly StagedColumn[];
  /** Whether every row begins with the event as it was written; else it is made of the values. */
  readonly hasSource: boolean;
  /** Nothing that follows can be understood. */
  readonly lost: boolean;
}

/** How many characters begin in these bytes. */
export function countCharacters(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++) if (((bytes[index] ?? 0) & 0xc0) !== 0x80) count++;
  return count;
}
