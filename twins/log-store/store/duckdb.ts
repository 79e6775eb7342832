/** Statements on a DuckDB connection, with values as plain JavaScript. */
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  HUGEINT,
  SQLNULL,
  VARCHAR,
} from "@duckdb/node-api";
import type { Sql, SqlValue } from "../sql.ts";
import type { QueryResult, ResultValue } from "./log-store.ts";
import { rowsOf } from "./result-rows.ts";

/** Runs one statement. */
export async function read(connection: DuckDBConnection, statement: Sql): Promise<QueryResult> {
  const result = await connection.run(statement.text, [...statement.values], statement.values.map(typeOf));
  return { columns: result.columnNames(), rows: await rowsOf(result) };
}

/** What a value is bound as. */
export function typeOf(value: SqlValue): DuckDBType {
  if (value === null) return SQLNULL;
  if (typeof value === "string") return VARCHAR;
  if (typeof value === "number") return DOUBLE;
  if (typeof value === "boolean") return BOOLEAN;
  return BigInt.asIntN(64, value) === value ? BIGINT : HUGEINT;
}

/** A value as `QueryResult` has it. @throws Error for a type that no query of this program yields. */
export function plain(value: DuckDBValue): ResultValue {
  if (typeof value === "bigint") {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  }
  if (value === null || typeof value !== "object") return value;
  if (value instanceof DuckDBTimestampValue) return Number(value.micros) / 1000;
  if (value instanceof DuckDBDecimalValue) return value.toDouble();
  if (value instanceof DuckDBListValue) return value.items.map(plain);
  throw new Error(`a value of an unexpected type came out of DuckDB: ${value.constructor.name}`);
}
