/**
 * Plans a write before anything changes: which rows it adds, which it evicts, and every problem with it.
 */

import { getOrAdd } from "../base/get-or-add.ts";
import { mergeRow, readChanges, readRow, truncateValue } from "./row.ts";
import {
  type Addition,
  type CheckedReferences,
  isChecked,
  type PlacedRow,
  referringRows,
  type State,
} from "./state.ts";
import { identityOf, isKey, type Key, keysIn, type TableRows, type TableType } from "./table.ts";
import { planGrowth, planRoom } from "./table-limit.ts";
import {
  missingRow,
  type Problem,
  type Row,
  type RowChange,
  repeatedRow,
  type Tables,
  unknownTable,
  WorldRefusal,
} from "./world.ts";

export interface InsertPlan {
  additions: Addition[];
  /** Old rows evicted for the new ones, with the rows that refer to them. */
  evicted: PlacedRow[];
}

/** Rows that are about to be added, by table and key. */
class Arrivals {
  readonly #byTable = new Map<string, Map<Key, Readonly<Row>>>();

  has(table: string, key: Key): boolean {
    return this.#byTable.get(table)?.has(key) ?? false;
  }

  add(table: string, key: Key, row: Readonly<Row>): void {
    getOrAdd(this.#byTable, table, () => new Map()).set(key, row);
  }
}

/** Plans the addition of rows of many tables, which may refer to one another. @throws WorldRefusal with all problems. */
export function planInsert(state: State, data: Tables, checked: CheckedReferences): InsertPlan {
  const problems: Problem[] = [];
  const arrivals = new Arrivals();
  const additions: Addition[] = [];
  for (const [name, rows] of Object.entries(data)) {
    const table = state.get(name);
    if (!table) {
      problems.push(unknownTable(name, state.keys()));
    } else if (!Array.isArray(rows)) {
      problems.push({ table: name, value: truncateValue(rows), rule: "is an array of rows" });
    } else {
      // One by one: `push(...rows)` fails for a million arguments.
      for (const addition of readAdditions(table, rows, arrivals, problems)) additions.push(addition);
    }
  }
  for (const { table, row, position } of additions) {
    problems.push(...referenceProblems(state, table.type, row, checked, arrivals, position));
  }
  const evicted = problems.length === 0 ? planRoom(state, additions, problems) : [];
  if (problems.length > 0) throw new WorldRefusal(problems);
  return { additions, evicted };
}

function readAdditions(
  table: TableRows,
  rows: unknown[],
  arrivals: Arrivals,
  problems: Problem[],
): Addition[] {
  const { name, key: keyColumn } = table.type;
  const additions: Addition[] = [];
  rows.forEach((given, position) => {
    const reading = readRow(table.type, given, position);
    if (!reading.ok) {
      problems.push(...reading.problems);
      return;
    }
    const key = identityOf(table.type, reading.row);
    if (key === undefined) return;
    const place = { table: name, row: position, column: keyColumn, value: reading.row[keyColumn] };
    if (table.get(key)) problems.push({ ...place, rule: "a row with this key exists already" });
    else if (arrivals.has(name, key)) problems.push({ ...place, rule: "an earlier row has the same key" });
    else {
      arrivals.add(name, key, reading.row);
      additions.push({ table, row: reading.row, position });
    }
  });
  return additions;
}

export interface ChangePlan {
  /** The rows as they will be. */
  rows: PlacedRow[];
  /** Old rows evicted because changed rows grow. */
  evicted: PlacedRow[];
}

/** Plans changes of rows of many tables, each named by its key. @throws WorldRefusal with all problems. */
export function planChanges(state: State, changes: readonly RowChange[]): ChangePlan {
  const problems: Problem[] = [];
  const arrivals = new Arrivals();
  const rows: PlacedRow[] = [];
  for (const change of changes) {
    const table = state.get(change.table);
    if (!table) {
      problems.push(unknownTable(change.table, state.keys()));
      continue;
    }
    const key = identityOf(table.type, change.key);
    const before = key === undefined ? undefined : table.get(key);
    const reading = readChanges(table.type, change.changes);
    if (!before) problems.push(missingRow(change));
    if (key !== undefined && arrivals.has(change.table, key)) problems.push(repeatedRow(change));
    if (!reading.ok) {
      problems.push(...reading.problems.map((problem) => ({ ...problem, row: change.row })));
      continue;
    }
    problems.push(...referenceProblems(state, table.type, reading.row, "all", undefined, change.row));
    if (!before || key === undefined) continue;
    const row = mergeRow(before, reading.row);
    arrivals.add(change.table, key, row);
    rows.push({ table, row });
  }
  if (problems.length > 0) throw new WorldRefusal(problems);
  return { rows, evicted: planGrowth(state, rows) };
}

/** One problem for each dangling reference of `row`. Absent columns are not checked. */
export function referenceProblems(
  state: State,
  type: TableType,
  row: Readonly<Row>,
  checked: CheckedReferences,
  arrivals?: Arrivals,
  position?: number,
): Problem[] {
  const problems: Problem[] = [];
  for (const { name, target } of type.references) {
    if (!target || !isChecked(target, checked)) continue;
    const builtIn = target.builtIn.size > 0 ? ` and it is none of ${[...target.builtIn].join(", ")}` : "";
    for (const value of keysIn(row[name])) {
      if (state.get(target.table)?.get(value) || arrivals?.has(target.table, value)) continue;
      if (target.builtIn.has(value)) continue;
      problems.push({
        table: type.name,
        ...(position === undefined ? {} : { row: position }),
        column: name,
        value: truncateValue(value),
        rule: `refers to ${target.table}.${target.column}, where there is no such row${builtIn}`,
      });
    }
  }
  return problems;
}

/** The rows matching `where`. @throws WorldRefusal when other rows refer to one of them. */
export function planRemoval(
  state: State,
  table: TableRows,
  where: Row,
  checked: CheckedReferences,
): Readonly<Row>[] {
  const rows = [...table.find(where)];
  const leaving = new Set(rows.map((row) => identityOf(table.type, row)));
  const problems: Problem[] = [];
  for (const row of rows) {
    const key = row[table.type.key];
    if (!isKey(key)) continue;
    for (const [referring, column, referrers] of referringRows(state, table.type.name, key, checked)) {
      const staying = [...referrers].filter((referrer) => referring !== table || !leaving.has(referrer));
      if (staying.length === 0) continue;
      const where = `${referring.type.name}.${column}`;
      const rule = `is referred to by ${staying.length} row${staying.length === 1 ? "" : "s"} (${where}); remove those first`;
      problems.push({ table: table.type.name, column: table.type.key, value: key, rule });
    }
  }
  if (problems.length > 0) throw new WorldRefusal(problems);
  return rows;
}
