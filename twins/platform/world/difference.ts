/** How a world differs from its baseline: its state at the start, or after the last reset. */
import { isDeepStrictEqual } from "node:util";
import { getOrAdd } from "../base/get-or-add.ts";
import { isDeferred } from "./traced-change.ts";
import type { DeferredRow, Row, RowDifference, TableDescription, Tables } from "./world.ts";

/** A row at the baseline and now, where it was and is. */
interface WrittenStates {
  before: WrittenRow | undefined;
  after: WrittenRow | undefined;
}

type RowId = string | number;
type WrittenRow = Readonly<Row> | DeferredRow;

/** The rows written since the baseline, each with its state of then and of now. */
export class WrittenRows {
  readonly #tables = new Map<string, Map<RowId, WrittenStates>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Makes the present state the baseline. */
  clear(): void {
    this.#tables.clear();
    this.#size = 0;
  }

  /**
   * Notes a write of one row.
   * @param id tells the row from all others of its table
   * @param before the row until then; absent when it was added
   * @param after the row from then on; absent when it was removed
   */
  note(table: string, id: RowId, before: WrittenRow | undefined, after: WrittenRow | undefined): void {
    const rows = getOrAdd(this.#tables, table, () => new Map());
    const known = rows.get(id);
    if (known) known.after = after;
    else {
      rows.set(id, { before, after });
      this.#size++;
    }
    if (after !== undefined || (known ?? { before }).before !== undefined) return;
    rows.delete(id);
    this.#size--;
  }

  /**
   * Rows that were changed back are no difference.
   * @param keyColumns of a table
   */
  differences(keyColumns: (table: string) => readonly string[]): RowDifference[] {
    return [...this.#tables].flatMap(([table, rows]) => {
      const columns = keyColumns(table);
      return [...rows.values()].flatMap((states) => {
        const before = states.before && read(states.before);
        const after = states.after && read(states.after);
        return differenceOf(table, keyOf(after ?? before ?? {}, columns), before, after);
      });
    });
  }
}

function read(row: WrittenRow): Readonly<Row> {
  return isDeferred(row) ? row.read() : row;
}

function differenceOf(
  table: string,
  key: Row,
  before: Readonly<Row> | undefined,
  after: Readonly<Row> | undefined,
): RowDifference[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return [{ table, difference: "added", key, ...(after ? { after } : {}) }];
  if (after === undefined) return [{ table, difference: "removed", key, before }];
  return isDeepStrictEqual(before, after) ? [] : [{ table, difference: "changed", key, before, after }];
}

/** Compares two whole states. Rows of a table without a key are told apart by all their columns. */
export function compareTables(
  schema: readonly TableDescription[],
  before: Tables,
  after: Tables,
): RowDifference[] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.flatMap((name) => {
    const description = schema.find((table) => table.name === name);
    const columns = description ? (description.key_columns ?? [description.key]) : [];
    const then = rowsByKey(before[name] ?? [], columns);
    const now = rowsByKey(after[name] ?? [], columns);
    const ids = [...new Set([...now.keys(), ...then.keys()])];
    return ids.flatMap((id) => {
      const [old, present] = [then.get(id), now.get(id)];
      return differenceOf(name, keyOf(present ?? old ?? {}, columns), old, present);
    });
  });
}

function rowsByKey(rows: readonly Row[], columns: readonly string[]): Map<string, Row> {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const id = JSON.stringify(columns.length > 0 ? columns.map((column) => row[column]) : row);
    // Equal rows without a key are numbered.
    let unique = id;
    for (let copy = 2; byKey.has(unique); copy++) unique = `${id} ${copy}`;
    byKey.set(unique, row);
  }
  return byKey;
}

function keyOf(row: Readonly<Row>, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((column) => [column, row[column]]));
}
