/** All tables of a world, and the references between them. */
import type { ReferenceTarget } from "./column.ts";
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

/** Which references a write must keep valid: all of them, or only those that may never dangle. */
export type CheckedReferences = "all" | "lasting";

/** Whether a reference is among those that are checked. */
export function isChecked({ mayDangle }: ReferenceTarget, checked: CheckedReferences): boolean {
  return checked === "all" || !mayDangle;
}

/** Tables, columns and keys of the rows that refer to a row. */
export function* referringRows(
  state: State,
  target: string,
  key: Key,
  checked: CheckedReferences,
): IterableIterator<[TableRows, string, ReadonlySet<Key>]> {
  for (const table of state.values()) {
    for (const column of table.type.references) {
      if (column.target?.table !== target || !isChecked(column.target, checked)) continue;
      if (column.target.builtIn.has(key)) continue;
      const referrers = table.referrers(column.name, key);
      if (referrers.size > 0) yield [table, column.name, referrers];
    }
  }
}
