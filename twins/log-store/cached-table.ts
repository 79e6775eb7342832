/**
 * A table of this program's own rows that many statements read, such as a lookup. A statement names the tables that it reads; the
 * database keeps them in memory between statements as long as there is room (see `store/table-cache.ts`).
 */

export interface CachedColumn {
  readonly name: string;
  readonly type: "text" | "number";
  readonly multi: boolean;
}

export type CachedValue = string | number | null | readonly (string | number)[];

let generations = 0;

export class CachedTable {
  /** Grows with every table that is made. */
  readonly generation = ++generations;
  /** Its name in the database, unique in the process. */
  readonly table = `cached_${this.generation}`;
  /** A table replaces earlier ones of the same key. */
  readonly key: string;
  /** VARCHAR, DOUBLE or a LIST of one of these; the column `n` BIGINT follows them: the row's number, from 0. */
  readonly columns: readonly CachedColumn[];
  /** Values stand in the order of the columns. Never changed. */
  readonly rows: readonly (readonly CachedValue[])[];
  /** Estimate of the memory that the rows take. */
  readonly bytes: number;

  constructor(key: string, columns: readonly CachedColumn[], rows: readonly (readonly CachedValue[])[]) {
    this.key = key;
    this.columns = columns;
    this.rows = rows;
    this.bytes = rows.reduce(
      (sum, row) => sum + row.reduce((all: number, value) => all + sizeOf(value), 8),
      0,
    );
  }
}

const VALUE_BYTES = 16;

function sizeOf(value: CachedValue): number {
  if (typeof value === "string") return VALUE_BYTES + value.length;
  if (value === null || typeof value === "number") return VALUE_BYTES;
  return value.reduce((sum: number, one) => sum + sizeOf(one), VALUE_BYTES);
}
