/**
 * Rows of this program's own that many statements read: a table that is looked into by each search. A statement that reads them says
 * so, and the database keeps them between such statements, as long as it has room; see `store/kept-tables.ts`.
 */

import { Sql } from "./sql.ts";

export interface KeptColumn {
  readonly name: string;
  readonly type: "text" | "number";
  readonly multi: boolean;
}

export type KeptValue = string | number | null | readonly (string | number)[];

let numbers = 0;

export class KeptRows {
  /** Grows with every one that is made. */
  readonly number = ++numbers;
  /** Name of their table; no other rows of the process have it. */
  readonly table = `kept_${this.number}`;
  /** What they are the rows of. Those made later take the place of those made before. */
  readonly of: string;
  /** VARCHAR, DOUBLE or a LIST of that; after them is `n` BIGINT, the number of the row from 0. */
  readonly columns: readonly KeptColumn[];
  /** Values stand in the order of the columns. Never changed. */
  readonly rows: readonly (readonly KeptValue[])[];
  /** About what they take in memory. */
  readonly bytes: number;

  constructor(of: string, columns: readonly KeptColumn[], rows: readonly (readonly KeptValue[])[]) {
    this.of = of;
    this.columns = columns;
    this.rows = rows;
    this.bytes = rows.reduce(
      (sum, row) => sum + row.reduce((all: number, value) => all + sizeOf(value), 8),
      0,
    );
  }

  /** Their table, where a statement names one. */
  get from(): Sql {
    return new Sql([`memory.main.${this.table}`], [], [], [this]);
  }
}

const VALUE_BYTES = 16;

function sizeOf(value: KeptValue): number {
  if (typeof value === "string") return VALUE_BYTES + value.length;
  if (value === null || typeof value === "number") return VALUE_BYTES;
  return value.reduce((sum: number, one) => sum + sizeOf(one), VALUE_BYTES);
}
