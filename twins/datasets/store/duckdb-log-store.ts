/** The log store on DuckDB. */
import type { DuckDBInstance } from "@duckdb/node-api";
import { analyzedSql } from "../analysis.ts";
import { type Field, FieldCatalog, type FieldType } from "../fields.ts";
import { identifier, joined, raw, type Sql, type SqlValue, sql } from "../sql.ts";
import { openDatabase, runQuery } from "./duckdb.ts";
import type {
  DocumentPlace,
  DocumentWrite,
  LogStore,
  QueryOptions,
  QueryResult,
  RemovedDocument,
  WrittenDocument,
} from "./log-store.ts";

const MEMORY_LIMIT = "256MB";
const columnTypes: Record<FieldType, string> = {
  text: "VARCHAR",
  long: "BIGINT",
  unsigned_long: "UBIGINT",
  double: "DOUBLE",
  boolean: "BOOLEAN",
  date: "TIMESTAMP",
};

export async function openLogStore(): Promise<LogStore> {
  const database = await openDatabase(":memory:", MEMORY_LIMIT);
  await runQuery(
    database,
    raw(
      "CREATE TABLE documents (_row BIGINT, _id VARCHAR, _index VARCHAR, _version BIGINT, _seq_no BIGINT, _source VARCHAR)",
    ),
  );
  return new DuckDbLogStore(database);
}

class DuckDbLogStore implements LogStore {
  readonly #database: DuckDBInstance;
  #fields = new FieldCatalog([], undefined);
  #rows = 0;
  stateVersion = 0;

  constructor(database: DuckDBInstance) {
    this.#database = database;
  }

  get fields(): FieldCatalog {
    return this.#fields;
  }

  query(statement: Sql, options?: QueryOptions): Promise<QueryResult> {
    return runQuery(this.#database, statement, options);
  }

  async write(documents: readonly DocumentWrite[]): Promise<WrittenDocument[]> {
    const written: WrittenDocument[] = [];
    const first = this.#rows;
    for (const { id, index, source, version } of documents) {
      const values = new Map<string, SqlValue[]>();
      flatten("", JSON.parse(source), values);
      await this.#extend(values);
      const row = this.#rows++;
      const _id = id ?? `row-${row}`;
      const [replaced] = id === undefined ? [] : await this.remove([{ id, index }]);
      const _version = version ?? replaced?.version ?? 1;
      const names = ["_row", "_id", "_index", "_version", "_seq_no", "_source"];
      const cells: Sql[] = [
        sql`${BigInt(row)}`,
        sql`${_id}`,
        sql`${index}`,
        sql`${BigInt(_version)}`,
        sql`${BigInt(row)}`,
        sql`${source}`,
      ];
      for (const [name, items] of values) {
        const field = this.#fields.get(name);
        if (!field) continue;
        names.push(field.column);
        const typed = items.map((item) => sql`CAST(${item} AS ${raw(columnTypes[field.type])})`);
        cells.push(field.multi ? sql`[${joined(typed, ", ")}]` : (typed[0] ?? raw("NULL")));
      }
      const columns = joined(names.map(identifier), ", ");
      await this.query(sql`INSERT INTO documents (${columns}) VALUES (${joined(cells, ", ")})`);
      const result = replaced ? "updated" : "created";
      written.push({ id: _id, index, version: _version, seqNo: row, result });
    }
    for (const field of this.#fields.all())
      if (field.postings) await this.#post(field, field.postings, first);
    this.stateVersion++;
    return written;
  }

  async remove(documents: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]> {
    const removed: (RemovedDocument | undefined)[] = [];
    for (const { index, id } of documents) {
      const where = sql`_index = ${index} AND _id = ${id}`;
      const { rows } = await this.query(sql`SELECT _row, _version FROM documents WHERE ${where}`);
      const [row, version] = rows[0] ?? [];
      if (typeof row !== "number") {
        removed.push(undefined);
        continue;
      }
      await this.query(sql`DELETE FROM documents WHERE _row = ${BigInt(row)}`);
      for (const { postings } of this.#fields.all()) {
        if (postings) await this.query(sql`DELETE FROM ${identifier(postings)} WHERE _row = ${BigInt(row)}`);
      }
      removed.push({ version: Number(version) + 1, seqNo: this.#rows++ });
      this.stateVersion++;
    }
    return removed;
  }

  async close(): Promise<void> {
    this.#database.closeSync();
  }

  async #extend(values: ReadonlyMap<string, SqlValue[]>): Promise<void> {
    const added: Field[] = [];
    for (const [name, items] of values) {
      if (this.#fields.get(name)) continue;
      const type = typeOf(items[0] ?? null);
      const number = this.#fields.all().length + added.length;
      const postings = type === "text" ? `postings_${number}` : undefined;
      const field: Field = { name, type, multi: items.length > 1, column: name, postings };
      added.push(field);
      const columnType = raw(columnTypes[type] + (field.multi ? "[]" : ""));
      await this.query(sql`ALTER TABLE documents ADD COLUMN ${identifier(field.column)} ${columnType}`);
      if (postings) {
        await this.query(
          sql`CREATE TABLE ${identifier(postings)} (term VARCHAR, _row BIGINT, position INTEGER, frequency INTEGER, length INTEGER)`,
        );
      }
    }
    if (added.length === 0) return;
    const all = [...this.#fields.all(), ...added];
    const time = ["_time", "@timestamp", "timestamp"].find((name) =>
      all.some((field) => field.name === name),
    );
    this.#fields = new FieldCatalog(all, time);
  }

  async #post(field: Field, postings: string, first: number): Promise<void> {
    const column = identifier(field.column);
    const text = field.multi ? sql`array_to_string(${column}, ' ')` : column;
    await this.query(sql`
      INSERT INTO ${identifier(postings)}
      SELECT term, _row, position,
             CASE WHEN row_number() OVER (PARTITION BY _row, term ORDER BY position) = 1
                  THEN count(*) OVER (PARTITION BY _row, term) ELSE 0 END,
             length
      FROM (SELECT _row, unnest(terms) AS term, generate_subscripts(terms, 1) AS position, len(terms) AS length
            FROM (SELECT _row, ${analyzedSql(text)} AS terms FROM documents WHERE _row >= ${BigInt(first)}))
      ORDER BY term, _row, position`);
  }
}

const moment = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

function typeOf(value: SqlValue): FieldType {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "bigint") return "long";
  if (typeof value === "number") return "double";
  return typeof value === "string" && moment.test(value) ? "date" : "text";
}

function flatten(path: string, value: unknown, into: Map<string, SqlValue[]>): void {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) flatten(path, item, into);
  } else if (typeof value === "object") {
    for (const [name, member] of Object.entries(value))
      flatten(path === "" ? name : `${path}.${name}`, member, into);
  } else {
    const items = into.get(path) ?? [];
    into.set(path, items);
    if (typeof value === "number") items.push(Number.isSafeInteger(value) ? BigInt(value) : value);
    else if (typeof value === "string" || typeof value === "boolean") items.push(value);
  }
}
