/** One in-memory table: its declaration, its rows by key, and an index for each column that refers to another table. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { getOrAdd } from "../base/get-or-add.ts";
import { sizeOfJson } from "../base/json.ts";
import { type Column, type Columns, compileColumn } from "./column.ts";
import type { Row, TableDescription } from "./world.ts";

export type Key = string | number;

/** How large a table may grow. Beyond that, new rows evict the oldest. */
interface TableLimit<TableRow extends Row = Row> {
  /** Default 100000. */
  rows?: number;
  /** Default 64 MiB, estimated. */
  bytes?: number;
  /** Whether a row may be evicted; default any. Rows that refer to it are evicted with it. */
  mayEvict?(row: Readonly<TableRow>): boolean;
}

export interface TableDeclaration<TableColumns extends Columns> {
  /** One sentence, in plain language. */
  description: string;
  /** Column that identifies a row; text or a number. */
  key: keyof TableColumns & string;
  /** Further columns of a composite key, where the key is unique only per owner or app, for instance. */
  within?: readonly (keyof TableColumns & string)[];
  columns: TableColumns;
  limit?: TableLimit<RowOf<TableColumns>>;
}

/** Any table, as the world handles it. */
export interface AnyTableDeclaration {
  description: string;
  key: string;
  within?: readonly string[];
  columns: Columns;
  limit?: TableLimit;
}

type Shape<TableColumns extends Columns> = { [Name in keyof TableColumns]: TableColumns[Name]["type"] };
/** A row as it is stored. */
export type RowOf<TableColumns extends Columns> = z.output<z.ZodObject<Shape<TableColumns>>>;
/** A row as it may be given: columns with a default can be left out. */
export type NewRowOf<TableColumns extends Columns> = z.input<z.ZodObject<Shape<TableColumns>>>;

/** Declares a table. Identity at run time; it exists so that row types are inferred. */
export function defineTable<TableColumns extends Columns>(
  declaration: TableDeclaration<TableColumns>,
): TableDeclaration<TableColumns> {
  return declaration;
}

/** A compiled declaration; shared by every state of a world. */
export interface TableType {
  name: string;
  description: TableDescription;
  key: string;
  /** All columns that identify a row, the key first. */
  keyColumns: readonly string[];
  columns: Map<string, Column>;
  /** Schema of a whole row: the fast path for a valid one. */
  whole: z.ZodObject;
  references: Column[];
  limit: Required<TableLimit>;
}

const DEFAULT_ROWS = 100_000;
const DEFAULT_BYTES = 64 * 1024 * 1024;

/** @throws Error when the declaration contradicts itself. */
export function compileTable(name: string, declaration: AnyTableDeclaration): TableType {
  const columns = new Map<string, Column>();
  for (const [column, columnDeclaration] of Object.entries(declaration.columns)) {
    columns.set(column, compileColumn(name, column, columnDeclaration));
  }
  const limit = declaration.limit;
  const keyColumns = [declaration.key, ...(declaration.within ?? [])];
  return {
    name,
    key: declaration.key,
    keyColumns,
    columns,
    whole: z.strictObject(Object.fromEntries([...columns].map(([column, { type }]) => [column, type]))),
    references: [...columns.values()].filter((column) => column.target),
    limit: {
      rows: limit?.rows ?? DEFAULT_ROWS,
      bytes: limit?.bytes ?? DEFAULT_BYTES,
      mayEvict: (row) => limit?.mayEvict?.(row) ?? true,
    },
    description: {
      name,
      description: declaration.description,
      key: declaration.key,
      ...(keyColumns.length > 1 && { key_columns: keyColumns }),
      columns: [...columns.values()].map((column) => column.description),
    },
  };
}

export interface StoredRow {
  row: Readonly<Row>;
  bytes: number;
}

/** The rows of one table in one state of a world. Knows nothing of other tables. */
export class TableRows {
  readonly type: TableType;
  bytes = 0;
  readonly #rows = new Map<Key, StoredRow>();
  /** Referring column → value → keys of the rows that hold it. */
  readonly #referrers = new Map<string, Map<Key, Set<Key>>>();

  constructor(type: TableType) {
    this.type = type;
    for (const column of type.references) this.#referrers.set(column.name, new Map());
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: Key): Readonly<Row> | undefined {
    return this.#rows.get(key)?.row;
  }

  /** Rows in the order in which they were added. */
  *rows(): IterableIterator<Readonly<Row>> {
    for (const stored of this.#rows.values()) yield stored.row;
  }

  keys(): IterableIterator<Key> {
    return this.#rows.keys();
  }

  /** Keys of the rows whose referring `column` holds `value`. */
  referrers(column: string, value: Key): ReadonlySet<Key> {
    return this.#referrers.get(column)?.get(value) ?? none;
  }

  /** Adds a row, or replaces the one with the same key in place. */
  put(row: Readonly<Row>): void {
    const key = identityOf(this.type, row);
    if (key === undefined) throw new Error(`a row of ${this.type.name} has no key`);
    const before = this.#rows.get(key);
    if (before) this.#unindex(key, before);
    const stored = { row, bytes: sizeOfJson(row) };
    this.#rows.set(key, stored);
    this.bytes += stored.bytes;
    for (const [column, byValue] of this.#referrers) {
      for (const value of keysIn(row[column])) getOrAdd(byValue, value, () => new Set()).add(key);
    }
  }

  delete(key: Key): void {
    const stored = this.#rows.get(key);
    if (!stored) return;
    this.#rows.delete(key);
    this.#unindex(key, stored);
  }

  #unindex(key: Key, stored: StoredRow): void {
    this.bytes -= stored.bytes;
    for (const [column, byValue] of this.#referrers) {
      for (const value of keysIn(stored.row[column])) {
        const keys = byValue.get(value);
        keys?.delete(key);
        if (keys?.size === 0) byValue.delete(value);
      }
    }
  }

  /** Rows whose columns equal `where`; a key or a referring column avoids the scan. */
  *find(where: Row): IterableIterator<Readonly<Row>> {
    const conditions = Object.entries(where);
    const matches = (row: Readonly<Row>) =>
      conditions.every(([column, value]) => equalValues(row[column], value));
    for (const row of this.#candidates(where)) if (matches(row)) yield row;
  }

  /** How many rows match `where`; constant time when it names only a referring column. */
  count(where: Row): number {
    const conditions = Object.entries(where);
    const [only] = conditions;
    if (only && conditions.length === 1 && this.#isSingleReference(only[0]) && isKey(only[1])) {
      return this.referrers(only[0], only[1]).size;
    }
    let count = 0;
    for (const _row of this.find(where)) count++;
    return count;
  }

  /** Whether the column is a reference to one row, not an array of them. */
  #isSingleReference(column: string): boolean {
    return this.type.columns.get(column)?.target?.many === false;
  }

  *#candidates(where: Row): IterableIterator<Readonly<Row>> {
    const key = identityOf(this.type, where);
    if (key !== undefined) {
      const row = this.get(key);
      if (row) yield row;
      return;
    }
    for (const column of this.#referrers.keys()) {
      const value = where[column];
      if (!this.#isSingleReference(column) || !isKey(value)) continue;
      for (const referrer of [...this.referrers(column, value)]) {
        const row = this.get(referrer);
        if (row) yield row;
      }
      return;
    }
    yield* this.rows();
  }
}

const none: ReadonlySet<Key> = new Set();

/** A row's identity in its table; `undefined` when a column of the key is missing. */
export function identityOf({ keyColumns }: TableType, row: Readonly<Row>): Key | undefined {
  const values = keyColumns.map((column) => row[column]);
  if (!values.every(isKey)) return undefined;
  return values.length === 1 ? values[0] : identityIn(values);
}

/** A stored row's identity in its table. */
export function keyOf(type: TableType, row: Readonly<Row>): Key {
  const key = identityOf(type, row);
  if (key === undefined) throw new Error(`a row of ${type.name} has no key`);
  return key;
}

/** The identity for a composite key. @param values of the key's columns, in the order of `keyColumns` */
export function identityIn(values: readonly Key[]): Key {
  return JSON.stringify(values);
}

/** The keys that a value of a referring column names. */
export function keysIn(value: unknown): readonly Key[] {
  if (isKey(value)) return [value];
  return Array.isArray(value) ? value.filter(isKey) : [];
}

export function isKey(value: unknown): value is Key {
  return typeof value === "string" || typeof value === "number";
}

function equalValues(stored: unknown, wanted: unknown): boolean {
  if (stored === wanted) return true;
  if (typeof stored !== "object" || stored === null) return wanted === null && stored === undefined;
  return isDeepStrictEqual(stored, wanted);
}
