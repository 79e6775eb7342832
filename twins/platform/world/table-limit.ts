/** Keeps tables within their limits: new rows evict the oldest ones, together with the rows that refer to those. */

import { getOrAdd } from "../base/get-or-add.ts";
import { sizeOfJson } from "../base/json.ts";
import { type Addition, type PlacedRow, referringRows, type State } from "./state.ts";
import { identityOf, type Key, keysIn, type TableRows } from "./table.ts";
import { type Problem, WorldRefusal } from "./world.ts";

type Evictions = Map<TableRows, Map<Key, PlacedRow>>;

/** Plans which rows `additions` evict. Where too few may be evicted, adds a problem; the write must then be refused. */
export function planRoom(state: State, additions: readonly Addition[], problems: Problem[]): PlacedRow[] {
  const evictions: Evictions = new Map();
  for (const table of new Set(additions.map((addition) => addition.table))) {
    const arriving = additions.filter((addition) => addition.table === table);
    const bytes = arriving.reduce((sum, { row }) => sum + sizeOfJson(row), 0);
    const needed = referencedKeys(additions, table);
    planEviction(state, table, { rows: arriving.length, bytes }, needed, evictions, problems);
  }
  return placedRows(evictions);
}

/** Plans which rows the growth of `changed` rows evicts. @throws WorldRefusal when too few may be evicted. */
export function planGrowth(state: State, changed: readonly PlacedRow[]): PlacedRow[] {
  const evictions: Evictions = new Map();
  const problems: Problem[] = [];
  for (const table of new Set(changed.map((placed) => placed.table))) {
    const staying = referencedKeys(changed, table);
    let bytes = 0;
    for (const placed of changed) {
      if (placed.table !== table) continue;
      const key = identityOf(table.type, placed.row);
      staying.add(key);
      const before = key === undefined ? undefined : table.get(key);
      bytes += sizeOfJson(placed.row) - (before === undefined ? 0 : sizeOfJson(before));
    }
    if (bytes > 0) planEviction(state, table, { rows: 0, bytes }, staying, evictions, problems);
  }
  if (problems.length > 0) throw new WorldRefusal(problems);
  return placedRows(evictions);
}

function planEviction(
  state: State,
  table: TableRows,
  growth: { rows: number; bytes: number },
  staying: ReadonlySet<unknown>,
  evictions: Evictions,
  problems: Problem[],
): void {
  let surplusRows = table.size + growth.rows - table.type.limit.rows;
  let surplusBytes = table.bytes + growth.bytes - table.type.limit.bytes;
  if (surplusRows <= 0 && surplusBytes <= 0) return;
  for (const row of table.rows()) {
    if (surplusRows <= 0 && surplusBytes <= 0) break;
    const key = identityOf(table.type, row);
    if (key === undefined || staying.has(key) || !table.type.limit.mayEvict(row)) continue;
    evict(state, { table, row }, key, evictions);
    surplusRows--;
    surplusBytes -= sizeOfJson(row);
  }
  if (surplusRows > 0 || surplusBytes > 0) problems.push(fullTable(table));
}

function placedRows(evictions: Evictions): PlacedRow[] {
  return [...evictions.values()].flatMap((rows) => [...rows.values()]);
}

function fullTable(table: TableRows): Problem {
  const { rows, bytes } = table.type.limit;
  const rule = `is full: it holds at most ${rows} rows and ${bytes} bytes, and no more of its rows may be let go`;
  return { table: table.type.name, rule };
}

/** Keys of `table` that written rows refer to; these must not be evicted. */
function referencedKeys(written: readonly PlacedRow[], table: TableRows): Set<unknown> {
  const keys = new Set<unknown>();
  for (const { table: from, row } of written) {
    for (const { name, target } of from.type.references) {
      if (target?.table === table.type.name) for (const key of keysIn(row[name])) keys.add(key);
    }
  }
  return keys;
}

function evict(state: State, placed: PlacedRow, key: Key, evictions: Evictions): void {
  const rows = getOrAdd(evictions, placed.table, () => new Map());
  if (rows.has(key)) return;
  rows.set(key, placed);
  for (const [table, , referrers] of referringRows(state, placed.table.type.name, key, "lasting")) {
    for (const referrer of referrers) {
      const row = table.get(referrer);
      if (row) evict(state, { table, row }, referrer, evictions);
    }
  }
}
