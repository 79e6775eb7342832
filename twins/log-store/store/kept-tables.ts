/**
 * Tables of rows that statements read again and again, in the database in memory beside the store's. A table is there while a
 * statement reads it, and after that until others need its room or later rows take its place.
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
import type { KeptColumn, KeptRows, KeptValue } from "../kept-rows.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { appendColumns } from "./append.ts";
import { read } from "./duckdb.ts";

/** What tables take that no statement reads; and how many they are. */
const MOST_BYTES = 32 << 20;
const MOST_TABLES = 64;

interface KeptTable {
  rows: KeptRows;
  made: Promise<void>;
  /** Statements that read it, or wait for it. */
  readers: number;
}

export class KeptTables {
  readonly #connect: () => Promise<DuckDBConnection>;
  #connection: Promise<DuckDBConnection> | undefined;
  /** By name, the one read last at the end. */
  readonly #tables = new Map<string, KeptTable>();
  /** What is made and dropped, one after the other. */
  #work: Promise<unknown> = Promise.resolve();

  /** @param connect to the database in memory */
  constructor(connect: () => Promise<DuckDBConnection>) {
    this.#connect = connect;
  }

  /** Runs a statement while the rows that it reads are there. */
  async reading<Result>(kept: readonly KeptRows[], work: () => Promise<Result>): Promise<Result> {
    const tables = [...new Set(kept)].map((rows) => this.#taken(rows));
    try {
      for (const { made } of tables) await made;
      return await work();
    } finally {
      for (const table of tables) table.readers--;
      this.#makeRoom();
    }
  }

  /** Comes after the last statement. */
  async close(): Promise<void> {
    await this.#work.catch(() => {});
    (await this.#connection)?.closeSync();
  }

  #taken(rows: KeptRows): KeptTable {
    const table = this.#tables.get(rows.table) ?? { rows, made: this.#make(rows), readers: 0 };
    table.readers++;
    this.#tables.delete(rows.table);
    this.#tables.set(rows.table, table);
    return table;
  }

  #make(rows: KeptRows): Promise<void> {
    const made = this.#inTurn(async (connection) => {
      const table = identifier(rows.table);
      const columns = rows.columns.map((column) => sql`${identifier(column.name)} ${typeText(column)}`);
      await read(
        connection,
        sql`CREATE OR REPLACE TABLE ${table} (${joined([...columns, raw("n BIGINT")], ", ")})`,
      );
      const values = rows.columns.map((_, index) => rows.rows.map((row) => itemOf(row[index] ?? null)));
      const types = [...rows.columns.map(typeOf), BIGINT];
      await appendColumns(connection, rows.table, types, [...values, rows.rows.map((_, n) => BigInt(n))]);
    });
    // Who comes next tries again.
    made.catch(() => this.#tables.delete(rows.table));
    return made;
  }

  /** Drops what nobody reads: where later rows are there in its place, and the oldest of what there is no room for. */
  #makeRoom(): void {
    const latest = new Map<string, number>();
    for (const { rows } of this.#tables.values()) {
      latest.set(rows.of, Math.max(rows.number, latest.get(rows.of) ?? 0));
    }
    let bytes = 0;
    let count = 0;
    for (const { rows, readers } of [...this.#tables.values()].reverse()) {
      bytes += rows.bytes;
      count++;
      const isReplaced = latest.get(rows.of) !== rows.number;
      if (readers > 0 || (!isReplaced && bytes <= MOST_BYTES && count <= MOST_TABLES)) continue;
      bytes -= rows.bytes;
      count--;
      this.#tables.delete(rows.table);
      // One that is made again after that is made after that.
      this.#inTurn((connection) =>
        read(connection, sql`DROP TABLE IF EXISTS ${identifier(rows.table)}`),
      ).catch(() => {});
    }
  }

  #inTurn<Result>(work: (connection: DuckDBConnection) => Promise<Result>): Promise<Result> {
    this.#connection ??= this.#connect();
    const connection = this.#connection;
    const turn = this.#work.then(async () => work(await connection));
    this.#work = turn.catch(() => {});
    return turn;
  }
}

function typeOf({ type, multi }: KeptColumn): DuckDBType {
  const one = type === "text" ? VARCHAR : DOUBLE;
  return multi ? LIST(one) : one;
}

function typeText({ type, multi }: KeptColumn): Sql {
  return raw(`${type === "text" ? "VARCHAR" : "DOUBLE"}${multi ? "[]" : ""}`);
}

function itemOf(value: KeptValue) {
  return Array.isArray(value) ? listValue(value) : typeof value === "object" ? null : value;
}
