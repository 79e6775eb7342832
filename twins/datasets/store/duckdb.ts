/** DuckDB, locked down: one database, queries that can be cancelled, values as plain JavaScript. */
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  HUGEINT,
  SQLNULL,
  VARCHAR,
} from "@duckdb/node-api";
import type { Sql, SqlValue } from "../sql.ts";
import { QueryInterrupted, type QueryOptions, type QueryResult, type ResultValue } from "./log-store.ts";

/** Nothing outside its own file can be read, written, loaded or configured, whatever a statement says. */
const lockdown = {
  enable_external_access: "false",
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  allow_community_extensions: "false",
  lock_configuration: "true",
};

/** @param file path of the database; `:memory:` for one that is never written. */
export function openDatabase(file: string, memoryLimit: string): Promise<DuckDBInstance> {
  return DuckDBInstance.create(file, {
    memory_limit: memoryLimit,
    threads: "2",
    temp_directory: "",
    ...lockdown,
  });
}

/** Runs one statement on a connection of its own. @throws QueryInterrupted */
export async function runQuery(
  database: DuckDBInstance,
  statement: Sql,
  { signal, deadlineMs = 30_000 }: QueryOptions = {},
): Promise<QueryResult> {
  const connection = await database.connect();
  const startedAt = performance.now();
  let ended: "deadline" | "cancelled" | undefined;
  const end = (reason: "deadline" | "cancelled") => {
    ended ??= reason;
    connection.interrupt();
  };
  const cancel = () => end("cancelled");
  const timer = setTimeout(() => end("deadline"), deadlineMs);
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    if (signal?.aborted) throw new QueryInterrupted("cancelled", 0);
    return await read(connection, statement);
  } catch (error) {
    if (ended) throw new QueryInterrupted(ended, performance.now() - startedAt);
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    connection.closeSync();
  }
}

/** Runs one statement on a given connection. */
export async function read(connection: DuckDBConnection, statement: Sql): Promise<QueryResult> {
  const result = await connection.runAndReadAll(
    statement.text,
    [...statement.values],
    statement.values.map(typeOf),
  );
  return { columns: result.columnNames(), rows: result.getRows().map((row) => row.map(plain)) };
}

function typeOf(value: SqlValue): DuckDBType {
  if (value === null) return SQLNULL;
  if (typeof value === "string") return VARCHAR;
  if (typeof value === "number") return DOUBLE;
  if (typeof value === "boolean") return BOOLEAN;
  return BigInt.asIntN(64, value) === value ? BIGINT : HUGEINT;
}

/** @throws Error for a type that no query of this program yields. */
function plain(value: DuckDBValue): ResultValue {
  if (typeof value === "bigint") {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  }
  if (value === null || typeof value !== "object") return value;
  if (value instanceof DuckDBTimestampValue) return Number(value.micros) / 1000;
  if (value instanceof DuckDBDecimalValue) return value.toDouble();
  if (value instanceof DuckDBListValue) return value.items.map(plain);
  throw new Error(`a value of an unexpected type came out of DuckDB: ${value.constructor.name}`);
}
