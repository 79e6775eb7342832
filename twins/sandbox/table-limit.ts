/** Keeps tables within their limits: what arrives makes the oldest rows leave, and the rows that refer to those. */
import { sizeOfJson } from "./json.ts";
import { type Addition, type PlacedRow, referringRows, type State } from "./state.ts";
import { isKey, type Key, type TableRows } from "./table.ts";
import type { Problem } from "./world.ts";

type Leaving = Map<TableRows, Map<Key, PlacedRow>>;

/** The rows that have to go for `additions`. Where not enough may go, a problem is added and nothing is to be done. */
export function planRoom(state: State, additions: readonly Addition[], problems: Problem[]): PlacedRow[] {
  const leaving: Leaving = new Map();
  for (const table of new Set(additions.map((addition) => addition.table))) {
    const arriving = additions.filter((addition) => addition.table === table);
    const arrivingBytes = arriving.reduce((bytes, { row }) => bytes + sizeOfJson(row), 0);
    let surplusRows = table.size + arriving.length - table.type.limit.rows;
    let surplusBytes = table.bytes + arrivingBytes - table.type.limit.bytes;
    if (surplusRows <= 0 && surplusBytes <= 0) continue;
    const needed = neededBy(additions, table);
    for (const row of table.rows()) {
      if (surplusRows <= 0 && surplusBytes <= 0) break;
      const key = row[table.type.key];
      if (!isKey(key) || needed.has(key) || !table.type.limit.mayLetGo(row)) continue;
      letGo(state, { table, row }, key, leaving);
      surplusRows--;
      surplusBytes -= sizeOfJson(row);
    }
    if (surplusRows > 0 || surplusBytes > 0) problems.push(fullTable(table));
  }
  return [...leaving.values()].flatMap((rows) => [...rows.values()]);
}

function fullTable(table: TableRows): Problem {
  const { rows, bytes } = table.type.limit;
  const rule = `is full: it holds at most ${rows} rows and ${bytes} bytes, and no more of its rows may be let go`;
  return { table: table.type.name, rule };
}

/** Keys of `table` that arriving rows refer to; these have to stay. */
function neededBy(additions: readonly Addition[], table: TableRows): Set<unknown> {
  const keys = new Set<unknown>();
  for (const { table: from, row } of additions) {
    for (const { name, target } of from.type.references) {
      if (target?.table === table.type.name) keys.add(row[name]);
    }
  }
  return keys;
}

function letGo(state: State, placed: PlacedRow, key: Key, leaving: Leaving): void {
  let rows = leaving.get(placed.table);
  if (!rows) {
    rows = new Map();
    leaving.set(placed.table, rows);
  }
  if (rows.has(key)) return;
  rows.set(key, placed);
  for (const [table, , referrers] of referringRows(state, placed.table.type.name, key)) {
    for (const referrer of referrers) {
      const row = table.get(referrer);
      if (row) letGo(state, { table, row }, referrer, leaving);
    }
  }
}
