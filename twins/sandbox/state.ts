/** The tables of a world together, and who refers to whom in them. */
import type { Key, TableRows } from "./table.ts";
import type { Row } from "./world.ts";

/** All tables of a world, by name. */
export type State = Map<string, TableRows>;

export interface PlacedRow {
  table: TableRows;
  row: Readonly<Row>;
}

export interface Addition extends PlacedRow {
  /** Position in the array of the body. */
  position: number;
}

/** Tables, columns and keys of the rows that refer to a row. */
export function* referringRows(
  state: State,
  target: string,
  key: Key,
): IterableIterator<[TableRows, string, ReadonlySet<Key>]> {
  for (const table of state.values()) {
    for (const column of table.type.references) {
      if (column.target?.table !== target) continue;
      const referrers = table.referrers(column.name, key);
      if (referrers.size > 0) yield [table, column.name, referrers];
    }
  }
}
