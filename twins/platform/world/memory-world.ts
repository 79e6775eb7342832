/**
 * A world held in memory. Tables are declared with zod columns. Every write is atomic: it is refused with all its problems
 * or committed as a whole. Callers get copies or frozen rows, never a row that they could change.
 */

import { cloneJson } from "../base/json.ts";
import { emptyRecord } from "../base/lookup-table.ts";
import { readColumnText } from "./column.ts";
import { WrittenRows } from "./difference.ts";
import { conditionProblems, mergeRow, readChanges, unknownColumns } from "./row.ts";
import type { CheckedReferences, PlacedRow, State } from "./state.ts";
import {
  type AnyTableDeclaration,
  compileTable,
  identityOf,
  type Key,
  type NewRowOf,
  type RowOf,
  TableRows,
  type TableType,
} from "./table.ts";
import { planGrowth } from "./table-limit.ts";
import { boundWrite, EVERY_TABLE } from "./traced-change.ts";
import {
  type Page,
  type PageRequest,
  type Problem,
  type Row,
  type RowChange,
  type TableDescription,
  type Tables,
  type TracedChange,
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
  readonly #listeners = new Set<(change: WorldChange) => void>();
  readonly #tracers = new Set<TraceListener>();
  readonly #written = new WrittenRows();
  readonly #unannounced: WorldChange[] = [];
  #announcing = false;
  #state: State;
  #stateVersion = 0;

  constructor(declarations: TableDeclarations) {
    for (const [name, declaration] of Object.entries(declarations)) {
      this.#types.set(name, compileTable(name, declaration));
    }
    for (const type of this.#types.values()) checkReferences(type, this.#types);
    this.#state = this.#emptyState();
  }

  get stateVersion(): number {
    return this.#stateVersion;
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
      table: table.type.name,
      change: "update" as const,
      row,
      before: table.get(keyOf(table, row)),
    }));
    this.#delete(evicted);
    for (const { table, row } of rows) table.put(row);
    this.#commit([...removals(evicted), ...updates]);
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
    this.#written.clear();
    this.#commit(
      [...state.keys()].map((table) => ({ table, change: "reset" })),
      [{ table: EVERY_TABLE, change: "reset" }],
    );
  }

  watch(listener: (change: WorldChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  setBaseline(): void {
    this.#written.clear();
  }

  async difference(): Promise<WorldDifference> {
    return { rows: this.#written.differences(), uncompared: {} };
  }

  trace(listener: TraceListener): () => void {
    this.#tracers.add(listener);
    return () => {
      this.#tracers.delete(listener);
    };
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
    this.#commit([
      ...removals(plan.evicted),
      ...plan.additions.map(({ table, row }) => ({ table: table.type.name, change: "insert" as const, row })),
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
    this.#commit([
      ...removals(evicted),
      ...removals(moved),
      ...rows.map((row, index) => ({ table: name, change: "update" as const, row, before: before[index] })),
    ]);
    return rows;
  }

  #remove(name: string, where: Row, checked: CheckedReferences): number {
    const table = this.#table(name);
    const problems = conditionProblems(table.type, where);
    if (problems.length > 0) throw new WorldRefusal(problems);
    const rows = planRemoval(this.#state, table, where, checked);
    for (const row of rows) table.delete(keyOf(table, row));
    this.#commit(rows.map((row) => ({ table: name, change: "remove", row })));
    return rows.length;
  }

  #delete(rows: readonly PlacedRow[]): void {
    for (const { table, row } of rows) table.delete(keyOf(table, row));
  }

  /** @param traced what tracers are told of the write */
  #commit(
    changes: RowWrite[],
    traced: Iterable<Omit<TracedChange, "stateVersion">> = boundWrite(
      changes,
      (change) => this.#tracedOf(change),
      kindOf,
    ),
  ): void {
    if (changes.length === 0) return;
    for (const change of changes) this.#note(change);
    const stateVersion = ++this.#stateVersion;
    this.#trace(stateVersion, traced);
    if (this.#listeners.size === 0) return;
    for (const { table, change, row } of changes) {
      this.#unannounced.push({ stateVersion, table, change, ...(row === undefined ? {} : { row }) });
    }
    this.#announce();
  }

  #trace(stateVersion: number, changes: Iterable<Omit<TracedChange, "stateVersion">>): void {
    if (this.#tracers.size === 0) return;
    for (const change of changes) {
      for (const tracer of this.#tracers) tracer({ stateVersion, ...change });
    }
  }

  #tracedOf({ table, change, row, before }: RowWrite): Omit<TracedChange, "stateVersion"> {
    return { table, change, key: row && this.#keyColumns(table, row), row, before };
  }

  #note({ table, change, row, before }: RowWrite): void {
    const type = this.#types.get(table);
    if (type === undefined || row === undefined) return;
    const id = keyOf({ type }, row);
    const place = { table, id, key: this.#keyColumns(table, row) };
    if (change === "remove") this.#written.note(place, row, undefined);
    else {
      // A row whose key was changed is another row: the old one is among the removals.
      const isSame = before !== undefined && identityOf(type, before) === id;
      this.#written.note(place, isSame ? before : undefined, row);
    }
  }

  #keyColumns(table: string, row: Readonly<Row>): Row {
    const columns = this.#types.get(table)?.keyColumns ?? [];
    return Object.fromEntries(columns.map((column) => [column, row[column]]));
  }

  /** Announces changes in order, even when a listener writes. */
  #announce(): void {
    if (this.#announcing) return;
    this.#announcing = true;
    try {
      for (let change = this.#unannounced.shift(); change; change = this.#unannounced.shift()) {
        for (const listener of [...this.#listeners]) listener(change);
      }
    } finally {
      this.#announcing = false;
    }
  }
}

/** A row that a write has changed, as it is now; a removed one as it was. */
interface RowWrite extends Pick<WorldChange, "table" | "change"> {
  row?: Readonly<Row>;
  before?: Readonly<Row> | undefined;
}

function kindOf({ table, change }: RowWrite) {
  return { table, change };
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
  return rows.map(({ table, row }) => ({ table: table.type.name, change: "remove", row }));
}

function keyOf(table: Pick<TableRows, "type">, row: Readonly<Row>): Key {
  const key = identityOf(table.type, row);
  if (key === undefined) throw new Error(`a row of ${table.type.name} has no key`);
  return key;
}

/** The rows whose old key is gone after a change of key columns. @throws WorldRefusal when a new key exists already */
function movedRows(
  table: TableRows,
  before: readonly Readonly<Row>[],
  after: readonly Readonly<Row>[],
): PlacedRow[] {
  if (table.type.keyColumns.length === 1) return [];
  const keys = new Set(before.map((row) => keyOf(table, row)));
  const arriving = new Set<Key>();
  for (const row of after) {
    const key = keyOf(table, row);
    if (arriving.has(key) || (table.get(key) !== undefined && !keys.has(key))) {
      const rule = "a row with this key exists already";
      throw new WorldRefusal([
        { table: table.type.name, column: table.type.key, value: row[table.type.key], rule },
      ]);
    }
    arriving.add(key);
  }
  return before.filter((row) => !arriving.has(keyOf(table, row))).map((row) => ({ table, row }));
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
