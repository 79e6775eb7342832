/** Runs a statement that a model wrote. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { showSql } from "../query/show-sql.ts";
import { MAX_LIMIT } from "./compile.ts";
import { type EsqlResult, resultOf } from "./run.ts";
import type { DataType } from "./types.ts";

export async function runTranslated(
  statement: Sql,
  store: LogStore,
  signal: AbortSignal,
): Promise<EsqlResult> {
  const described = await store.query(sql`DESCRIBE ${statement}`, { signal });
  const columns = described.rows.map(([name, type]) => columnOf(String(name), String(type)));
  const values = joined(
    columns.map(({ value }) => value),
    ", ",
  );
  const limited = sql`SELECT ${values} FROM (${statement}) LIMIT ${BigInt(MAX_LIMIT)}`;
  const { rows } = await store.query(limited, { signal });
  return { ...resultOf(columns, rows), warnings: [], statements: [showSql(limited)] };
}

interface Column {
  name: string;
  type: DataType;
  value: Sql;
}

/** Types that ES|QL does not have are cast to text. */
function columnOf(name: string, sqlType: string): Column {
  const [scalar = "", list = ""] = sqlType.split(/(\[\])$/);
  const known = scalar.startsWith("DECIMAL") ? types.DOUBLE : types[scalar];
  const type = known ?? "keyword";
  const target = raw(`${targets[scalar] ?? (known === undefined ? "VARCHAR" : scalar)}${list}`);
  return { name, type, value: sql`CAST(${identifier(name)} AS ${target})` };
}

const targets = lookupTable<string>({ DATE: "TIMESTAMP", FLOAT: "DOUBLE" });

const types = lookupTable<DataType>({
  BOOLEAN: "boolean",
  TINYINT: "integer",
  SMALLINT: "integer",
  INTEGER: "integer",
  BIGINT: "long",
  HUGEINT: "long",
  UBIGINT: "unsigned_long",
  DOUBLE: "double",
  FLOAT: "double",
  TIMESTAMP: "datetime",
  DATE: "datetime",
});
