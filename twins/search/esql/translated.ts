/** The result of a statement that a model wrote. */
import { type Sql, sql } from "../../datasets/sql.ts";
import type { LogStore } from "../../datasets/store/log-store.ts";
import { shownSql } from "../search/compile-search.ts";
import { MAX_LIMIT } from "./compile.ts";
import { type EsqlResult, resultOf } from "./run.ts";
import type { DataType } from "./types.ts";

export async function runTranslated(
  statement: Sql,
  store: LogStore,
  signal: AbortSignal,
): Promise<EsqlResult> {
  const described = await store.query(sql`DESCRIBE ${statement}`, { signal });
  const columns = described.rows.map(([name, type]) => ({ name: String(name), ...typeOf(String(type)) }));
  const limited = sql`SELECT * FROM (${statement}) LIMIT ${BigInt(MAX_LIMIT)}`;
  const { rows } = await store.query(limited, { signal });
  return { ...resultOf(columns, rows), warnings: [], statements: [shownSql(limited)] };
}

function typeOf(sqlType: string): { type: DataType } {
  const scalar = sqlType.replace(/\[\]$/, "");
  if (scalar.startsWith("DECIMAL") || scalar === "FLOAT") return { type: "double" };
  return { type: types[scalar] ?? "keyword" };
}

const types: Readonly<Record<string, DataType>> = {
  BOOLEAN: "boolean",
  TINYINT: "integer",
  SMALLINT: "integer",
  INTEGER: "integer",
  BIGINT: "long",
  HUGEINT: "long",
  UBIGINT: "unsigned_long",
  DOUBLE: "double",
  TIMESTAMP: "datetime",
  DATE: "datetime",
};
