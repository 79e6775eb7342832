/**
 * A world held in memory. Tables are declared with zod columns. Every write is atomic: it is refused with all its problems
 * or committed as a whole. Callers get copies or frozen rows, never a row that they could change.
 */

import { cloneJson } from "../base/json.ts";
import { emptyRecord } from "../base/lookup-table.ts";
import { readColumnText } from "./column.ts";
import { conditionProblems, mergeRow, readChanges, unknownColumns } from "./row.ts";
import type { CheckedReferences, PlacedRow, State } from "./state.ts";
import {
  type AnyTableDeclaration,
  compileTable,
  type Key,
  keyOf,
  type NewRowOf,
  type RowOf,
  TableRows,
  type TableType,
} from "./table.ts";
import { type RowWrite, TableChanges } from "./table-changes.ts";
import { planGrowth } from "./table-limit.ts";
import {
  type Page,
  type PageRequest,
  type Problem,
  type Row,
  type RowChange,
  type TableDescription,
  type Tables,
  type TraceListener,
  unknownTable,
  type World,
  type WorldChange,
  type WorldDifference,
  WorldRefusal,
} from "./world.ts";
import { planChanges, planInsert, planRemoval, referenceProblems } from "./write-plan.ts";

/** A twin's own access to a table: typed, synchronous, by key. Returned rows are frozen. */
interface TableHandle<TableRow, NewRow> {
  readonly size: number;
  get(key: Key): Readonly<TableRow> | undefined;
  /** Rows whose columns equal `where`, oldest first; fast by key and by a column that refers to another table. */
  find(where: Partial<TableRow>): Readonly<TableRow>[];
  /** How many rows `find` would return. */
  count(where: Partial<TableRow>): number;
  /** Every row, oldest first. */
  all(): Readonly<TableRow>[];
  /** @throws WorldRefusal */
  insert(row: NewRow): Readonly<TableRow>;
  /** @returns the changed row, or `undefined` when there is none with this key. @throws WorldRefusal */
  update(key: Key, changes: Partial<NewRow>): Readonly<TableRow> | undefined;
  /** @returns whether there was such a row. @throws WorldRefusal when other rows refer to it. */
  remove(key: Key): boolean;
}

/** A world with dry runs of its writes. */
export interface CheckedWorld extends World {
  /** The problems of an insert, without writing. */
  insertProblems(data: Tables): Problem[];
  /** The problems of row changes, without changing anything. */
  updateProblems(changes: readonly RowChange[]): Problem[];
  /** The problems of a load, without changing anything. */
  loadProblems(data: Tables): Problem[];
}

type Declarations = Record<string, AnyTableDeclaration>;
type ColumnsOf<Tables extends Declarations, Name extends keyof Tables> = Tables[Name]["columns"];
type HandleOf<Tables extends Declarations, Name extends keyof Tables> = TableHandle<
  RowOf<ColumnsOf<Tables, Name>>,
  NewRowOf<ColumnsOf<Tables, Name>>
>;

/** @throws Error when the declarations contradict themselves. */
export function createMemoryWorld<TableDeclarations extends Declarations>(
  declarations: TableDeclarations,
): MemoryWorld<TableDeclarations> {
  return new MemoryWorld(declarations);
}

export class MemoryWorld<TableDeclarations extends Declarations> implements CheckedWorld {
  readonly #types = new Map<string, TableType>();
  /** Handles by table name, created on first use; they stay valid when the state is replaced. */
  readonly #handles = new Map<string, unknown>();
  readonly #changes = new TableChanges();
  #state: State;

  constructor(declarations: TableDeclarations) {
    for (const [name, declaration] of Object.entries(declarations)) {
      this.#types.set(name, compileTable(name, declaration));
    }
    for (const type of this.#types.values()) checkReferences(type, this.#types);
    this.#state = this.#emptyState();
  }

  get stateVersion(): number {
    return this.#changes.stateVersion;
  }

  /** The typed handle of one table. */
  table<Name extends keyof TableDeclarations & string>(name: Name): HandleOf<TableDeclarations, Name> {
    const known = this.#handles.get(name) ?? this.#handle(name);
    this.#handles.set(name, known);
    // The map stores each handle under its own table's name.
    return known as HandleOf<TableDeclarations, Name>;
  }

  #handle<Name extends keyof TableDeclarations & string>(name: Name): HandleOf<TableDeclarations, Name> {
    type TableRow = RowOf<ColumnsOf<TableDeclarations, Name>>;
    const rowsOf = () => this.#table(name);
    const whereOf = (key: Key): Row => {
      const table = rowsOf();
      const row = table.get(key) ?? { [table.type.key]: key };
      return Object.fromEntries(table.type.keyColumns.map((column) => [column, row[column] ?? null]));
    };
    // The declaration's zod types have checked every stored row, so a stored row is a TableRow.
    const typed = (row: Readonly<Row>) => row as Readonly<TableRow>;
    return {
      get size() {
        return rowsOf().size;
      },
      get: (key) => {
        const row = rowsOf().get(key);
        return row && typed(row);
      },
      find: (where) => [...rowsOf().find(where)].map(typed),
      count: (where) => rowsOf().count(where),
      all: () => [...rowsOf().rows()].map(typed),
      insert: (row) => {
        const [added] = this.#insert({ [name]: [row] }, "lasting");
        if (!added) throw new Error(`nothing was added to ${name}`);
        return typed(added.row);
      },
      update: (key, changes) => {
        const [changed] = this.#update(name, whereOf(key), changes, "lasting");
        return changed && typed(changed);
      },
      remove: (key) => this.#remove(name, whereOf(key), "lasting") > 0,
    };
  }

  async schema(): Promise<TableDescription[]> {
    return cloneJson([...this.#types.values()].map((type) => type.description));
  }

  async counts(): Promise<Record<string, number>> {
    return Object.fromEntries([...this.#state].map(([name, table]) => [name, table.size]));
  }

  async rows(name: string, page: PageRequest): Promise<Page> {
    const table = this.#table(name);
    const where = readWhereText(table.type, page.where);
    const rows: Row[] = [];
    let total = 0;
    for (const row of Object.keys(where).length > 0 ? table.find(where) : table.rows()) {
      if (total >= page.offset && rows.length < page.limit) rows.push(cloneJson(row));
      total++;
    }
    return { rows, total };
  }

  insertProblems(data: Tables): Problem[] {
    return problemsOf(() => planInsert(this.#state, data, "all"));
  }

  updateProblems(changes: readonly RowChange[]): Problem[] {
    return problemsOf(() => planChanges(this.#state, changes));
  }

  loadProblems(data: Tables): Problem[] {
    return problemsOf(() => planInsert(this.#emptyState(), data, "lasting"));
  }

  async insert(data: Tables): Promise<Record<string, number>> {
    const added = emptyRecord<number>();
    for (const { table } of this.#insert(data, "all"))
      added[table.type.name] = (added[table.type.name] ?? 0) + 1;
    return added;
  }

  async update(name: string, where: Row, changes: Row): Promise<number> {
    return this.#update(name, where, changes, "all").length;
  }

  async updateEach(changes: readonly RowChange[]): Promise<void> {
    const { rows, evicted } = planChanges(this.#state, changes);
    const updates = rows.map(({ table, row }) => ({
      type: table.type,
      change: "update" as const,
      row,
      before: table.get(keyOf(table.type, row)),
    }));
    this.#delete(evicted);
    for (const { table, row } of rows) table.put(row);
    this.#changes.commit([...removals(evicted), ...updates]);
  }

  async remove(name: string, where: Row): Promise<number> {
    return this.#remove(name, where, "all");
  }

  async removeFound(name: string, filter: PageRequest["where"]): Promise<number> {
    return this.#remove(name, readWhereText(this.#table(name).type, filter), "all");
  }

  async dump(): Promise<Tables> {
    const tables: Tables = {};
    for (const [name, table] of this.#state) tables[name] = [...table.rows()].map((row) => cloneJson(row));
    return tables;
  }

  async load(data: Tables): Promise<void> {
    const state = this.#emptyState();
    const plan = planInsert(state, data, "lasting");
    for (const { table, row } of plan.additions) table.put(row);
    this.#state = state;
    this.#changes.commitLoad([...state.keys()]);
  }

  watch(listener: (change: WorldChange) => void): () => void {
    return this.#changes.watch(listener);
  }

  setBaseline(): void {
    this.#changes.setBaseline();
  }

  async difference(): Promise<WorldDifference> {
    return this.#changes.difference((table) => this.#types.get(table)?.keyColumns ?? []);
  }

  trace(listener: TraceListener): () => void {
    return this.#changes.trace(listener);
  }

  #emptyState(): State {
    return new Map([...this.#types].map(([name, type]) => [name, new TableRows(type)]));
  }

  #table(name: string): TableRows {
    const table = this.#state.get(name);
    if (!table) throw new WorldRefusal([unknownTable(name, this.#types.keys())]);
    return table;
  }

  #insert(data: Tables, checked: CheckedReferences) {
    const plan = planInsert(this.#state, data, checked);
    this.#delete(plan.evicted);
    for (const { table, row } of plan.additions) table.put(row);
    this.#changes.commit([
      ...removals(plan.evicted),
      ...plan.additions.map(({ table, row }) => ({ type: table.type, change: "insert" as const, row })),
    ]);
    return plan.additions;
  }

  #update(name: string, where: Row, changes: Row, checked: CheckedReferences): Readonly<Row>[] {
    const table = this.#table(name);
    const problems = conditionProblems(table.type, where);
    const reading = readChanges(table.type, changes);
    if (!reading.ok) problems.push(...reading.problems);
    else problems.push(...referenceProblems(this.#state, table.type, reading.row, checked));
    if (problems.length > 0 || !reading.ok) throw new WorldRefusal(problems);
    const before = [...table.find(where)];
    const rows = before.map((row) => mergeRow(row, reading.row));
    const moved = movedRows(table, before, rows);
    const evicted = planGrowth(
      this.#state,
      rows.map((row) => ({ table, row })),
    );
    this.#delete(evicted);
    this.#delete(moved);
    for (const row of rows) table.put(row);
    this.#changes.commit([
      ...removals(evicted),
      ...removals(moved),
      ...rows.map((row, index) => ({
        type: table.type,
        change: "update" as const,
        row,
        before: before[index],
      })),
    ]);
    return rows;
  }

  #remove(name: string, where: Row, checked: CheckedReferences): number {
    const table = this.#table(name);
    const problems = conditionProblems(table.type, where);
    if (problems.length > 0) throw new WorldRefusal(problems);
    const rows = planRemoval(this.#state, table, where, checked);
    for (const row of rows) table.delete(keyOf(table.type, row));
    this.#changes.commit(rows.map((row) => ({ type: table.type, change: "remove", row })));
    return rows.length;
  }

  #delete(rows: readonly PlacedRow[]): void {
    for (const { table, row } of rows) table.delete(keyOf(table.type, row));
  }
}

function problemsOf(plan: () => void): Problem[] {
  try {
    plan();
    return [];
  } catch (error) {
    if (error instanceof WorldRefusal) return error.problems;
    throw error;
  }
}

function removals(rows: readonly PlacedRow[]): RowWrite[] {
  return rows.map(({ table, row }) => ({ type: table.type, change: "remove", row }));
}

/** The rows whose old key is gone after a change of key columns. @throws WorldRefusal when a new key exists already */
function movedRows(
  table: TableRows,
  before: readonly Readonly<Row>[],
  after: readonly Readonly<Row>[],
): PlacedRow[] {
  if (table.type.keyColumns.length === 1) return [];
  const keys = new Set(before.map((row) => keyOf(table.type, row)));
  const arriving = new Set<Key>();
  for (const row of after) {
    const key = keyOf(table.type, row);
    if (arriving.has(key) || (table.get(key) !== undefined && !keys.has(key))) {
      const rule = "a row with this key exists already";
      throw new WorldRefusal([
        { table: table.type.name, column: table.type.key, value: row[table.type.key], rule },
      ]);
    }
    arriving.add(key);
  }
  return before.filter((row) => !arriving.has(keyOf(table.type, row))).map((row) => ({ table, row }));
}

function checkReferences(type: TableType, types: ReadonlyMap<string, TableType>): void {
  for (const key of type.keyColumns) {
    if (!type.columns.has(key)) throw new Error(`table ${type.name}: its key "${key}" is not a column`);
  }
  for (const { name, target } of type.references) {
    const referred = target && types.get(target.table);
    if (referred?.key === target?.column && referred?.keyColumns.length === 1) continue;
    throw new Error(
      `column ${type.name}.${name} refers to ${target?.table}.${target?.column}, which is not the key of a table`,
    );
  }
}

/** Parses the filter of a query string into column values. @throws WorldRefusal listing every invalid column. */
function readWhereText(type: TableType, where: Record<string, string>): Row {
  const problems = unknownColumns(type, where, { table: type.name });
  const values: Row = {};
  for (const [name, text] of Object.entries(where)) {
    const column = type.columns.get(name);
    if (!column) continue;
    const reading = readColumnText(column, text);
    if (reading.ok) values[name] = reading.value;
    else problems.push({ table: type.name, column: name, value: text, rule: reading.rule });
  }
  if (problems.length > 0) throw new WorldRefusal(problems);
  return values;
}
