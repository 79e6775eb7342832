/**
 * The cached tables of one database (see `../cached-table.ts`), in the in-memory database beside the store's. A table stays while a
 * statement reads it, and afterwards until others need its room or a later table has its key.
 */
import {
  BIGINT,
  DOUBLE,
  type DuckDBConnection,
  type DuckDBType,
  LIST,
  listValue,
  VARCHAR,
} from "@duckdb/node-api";
import type { CachedColumn, CachedTable, CachedValue } from "../cached-table.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { appendColumns } from "./append.ts";
import { read } from "./duckdb.ts";

/** Bounds for the tables that no statement is reading. */
const MAX_BYTES = 32 << 20;
const MAX_TABLES = 64;

interface Entry {
  table: CachedTable;
  made: Promise<void>;
  /** Statements that read it, or wait for it. */
  readers: number;
}

export class TableCache {
  readonly #connect: () => Promise<DuckDBConnection>;
  #connection: Promise<DuckDBConnection> | undefined;
  /** By table name, the most recently used last. */
  readonly #entries = new Map<string, Entry>();
  /** Serializes creating and dropping tables. */
  #work: Promise<unknown> = Promise.resolve();

  /** @param connect to the in-memory database */
  constructor(connect: () => Promise<DuckDBConnection>) {
    this.#connect = connect;
  }

  /** Runs a statement while the tables that it reads are present. */
  async withTables<Result>(tables: readonly CachedTable[], work: () => Promise<Result>): Promise<Result> {
    const entries = [...new Set(tables)].map((table) => this.#acquire(table));
    try {
      for (const { made } of entries) await made;
      return await work();
    } finally {
      for (const entry of entries) entry.readers--;
      this.#evict();
    }
  }

  /** Call it after the last statement has ended. */
  async close(): Promise<void> {
    await this.#work.catch(() => {});
    (await this.#connection)?.closeSync();
  }

  #acquire(table: CachedTable): Entry {
    const entry = this.#entries.get(table.table) ?? { table, made: this.#create(table), readers: 0 };
    entry.readers++;
    this.#entries.delete(table.table);
    this.#entries.set(table.table, entry);
    return entry;
  }

  #create(cached: CachedTable): Promise<void> {
    const made = this.#enqueue(async (connection) => {
      const table = identifier(cached.table);
      const columns = cached.columns.map((column) => sql`${identifier(column.name)} ${typeText(column)}`);
      await read(
        connection,
        sql`CREATE OR REPLACE TABLE ${table} (${joined([...columns, raw("n BIGINT")], ", ")})`,
      );
      const values = cached.columns.map((_, index) => cached.rows.map((row) => itemOf(row[index] ?? null)));
      const types = [...cached.columns.map(typeOf), BIGINT];
      const numbers = cached.rows.map((_, n) => BigInt(n));
      await appendColumns(connection, cached.table, types, [...values, numbers]);
    });
    // The next statement tries again.
    made.catch(() => this.#entries.delete(cached.table));
    return made;
  }

  /** Drops unread tables: those that a later one replaces, and the least recently used beyond the bounds. */
  #evict(): void {
    const latest = new Map<string, number>();
    for (const { table } of this.#entries.values()) {
      latest.set(table.key, Math.max(table.generation, latest.get(table.key) ?? 0));
    }
    let bytes = 0;
    let count = 0;
    for (const { table, readers } of [...this.#entries.values()].reverse()) {
      bytes += table.bytes;
      count++;
      const isReplaced = latest.get(table.key) !== table.generation;
      if (readers > 0 || (!isReplaced && bytes <= MAX_BYTES && count <= MAX_TABLES)) continue;
      bytes -= table.bytes;
      count--;
      this.#entries.delete(table.table);
      // The queue keeps the order: a table that is created again later is created after this drop.
      this.#enqueue((connection) =>
        read(connection, sql`DROP TABLE IF EXISTS ${identifier(table.table)}`),
      ).catch(() => {});
    }
  }

  #enqueue<Result>(work: (connection: DuckDBConnection) => Promise<Result>): Promise<Result> {
    this.#connection ??= this.#connect();
    const connection = this.#connection;
    const turn = this.#work.then(async () => work(await connection));
    this.#work = turn.catch(() => {});
    return turn;
  }
}

function typeOf({ type, multi }: CachedColumn): DuckDBType {
  const one = type === "text" ? VARCHAR : DOUBLE;
  return multi ? LIST(one) : one;
}

function typeText({ type, multi }: CachedColumn): Sql {
  return raw(`${type === "text" ? "VARCHAR" : "DOUBLE"}${multi ? "[]" : ""}`);
}

function itemOf(value: CachedValue) {
  return Array.isArray(value) ? listValue(value) : typeof value === "object" ? null : value;
}
