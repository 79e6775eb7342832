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
  StatementType,
  VARCHAR,
} from "@duckdb/node-api";
import type { Sql, SqlValue } from "../sql.ts";
import type { QueryResult, ResultValue } from "./log-store.ts";

/** Runs one statement. */
export async function read(connection: DuckDBConnection, statement: Sql): Promise<QueryResult> {
  const result = await connection.runAndReadAll(
    statement.text,
    [...statement.values],
    statement.values.map(typeOf),
  );
  return { columns: result.columnNames(), rows: result.getRows().map((row) => row.map(plain)) };
}

/** Runs one statement that only reads. @throws Error for any other, before it does anything. */
export async function readOnly(connection: DuckDBConnection, statement: Sql): Promise<QueryResult> {
  const prepared = await connection.prepare(statement.text);
  try {
    if (prepared.statementType !== StatementType.SELECT) {
      throw new Error("only a statement that reads can be run here");
    }
    prepared.bind([...statement.values], statement.values.map(typeOf));
    const result = await prepared.runAndReadAll();
    return { columns: result.columnNames(), rows: result.getRows().map((row) => row.map(plain)) };
  } finally {
    prepared.destroySync();
  }
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
