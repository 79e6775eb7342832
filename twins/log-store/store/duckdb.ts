/** Statements on a DuckDB connection, with values as plain JavaScript. */
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDecimalValue,
  DuckDBListValue,
  type DuckDBMaterializedResult,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  HUGEINT,
  SQLNULL,
  VARCHAR,
} from "@duckdb/node-api";
import { Slices } from "../slices.ts";
import type { Sql, SqlValue } from "../sql.ts";
import type { QueryResult, ResultValue } from "./log-store.ts";

/** Runs one statement. */
export async function read(connection: DuckDBConnection, statement: Sql): Promise<QueryResult> {
  const result = await connection.run(statement.text, [...statement.values], statement.values.map(typeOf));
  return { columns: result.columnNames(), rows: await rowsOf(result) };
}

/** The type that a value is bound as. */
export function typeOf(value: SqlValue): DuckDBType {
  if (value === null) return SQLNULL;
  if (typeof value === "string") return VARCHAR;
  if (typeof value === "number") return DOUBLE;
  if (typeof value === "boolean") return BOOLEAN;
  return BigInt.asIntN(64, value) === value ? BIGINT : HUGEINT;
}

/** Converts a value as `ResultValue` says. @throws Error for a type that no query of this program yields */
function resultValue(value: DuckDBValue): ResultValue {
  if (typeof value === "bigint") {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  }
  if (value === null || typeof value !== "object") return value;
  if (value instanceof DuckDBTimestampValue) return Number(value.micros) / 1000;
  if (value instanceof DuckDBDecimalValue) return value.toDouble();
  if (value instanceof DuckDBListValue) return value.items.map(resultValue);
  throw new Error(`a value of an unexpected type came out of DuckDB: ${value.constructor.name}`);
}

/**
 * All rows of a result. DuckDB holds the whole result in memory, so no chunk is awaited; the conversion reads each chunk column by
 * column and yields to the event loop in between.
 */
export async function rowsOf(result: DuckDBMaterializedResult): Promise<ResultValue[][]> {
  const rows: ResultValue[][] = [];
  const slices = new Slices();
  for (let number = 0; number < result.chunkCount; number++) {
    const chunk = result.getChunk(number);
    const { rowCount, columnCount } = chunk;
    const part = Array.from({ length: rowCount }, (): ResultValue[] => []);
    for (let column = 0; column < columnCount; column++) {
      const vector = chunk.getColumnVector(column);
      for (const [index, row] of part.entries()) row.push(resultValue(vector.getItem(index)));
      if (slices.over) await slices.next();
    }
    for (const row of part) rows.push(row);
  }
  return rows;
}
