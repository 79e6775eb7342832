/** The tables in plain language, as the control plane's schema route shows them. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { ColumnDescription, TableDescription } from "@offhook/platform/world/world";
import { allowedValues } from "./allowed-values.ts";
import { type Catalogue, type Column, isRequired, type Queryable, type Table } from "./catalogue.ts";
import { definitionTable } from "./definitions.ts";
import { sequenceTable } from "./sequences.ts";
import { decodeValue, type ValueType } from "./values.ts";

export async function describeTables(client: Queryable, catalogue: Catalogue): Promise<TableDescription[]> {
  const descriptions: TableDescription[] = [];
  for (const table of catalogue.tables.values()) {
    const columns: ColumnDescription[] = [];
    for (const column of table.columns) columns.push(await describeColumn(client, table, column));
    descriptions.push({
      name: table.name,
      description: table.comment ?? `Table ${table.name} of the database, which has no comment on it.`,
      key: keyColumn(table),
      ...(hasSingleColumnKey(table) ? {} : { key_columns: table.primaryKey }),
      columns,
    });
  }
  if (catalogue.sequences.length > 0) descriptions.push(sequenceTable);
  descriptions.push(definitionTable);
  return descriptions;
}

/** Whether one column identifies a row. */
function hasSingleColumnKey({ primaryKey, uniques }: Table): boolean {
  if (primaryKey.length > 0) return primaryKey.length === 1;
  return uniques.some(({ columns }) => columns.length === 1);
}

/** A column that identifies a row; the first column of a composite key. */
function keyColumn(table: Table): string {
  const [first] = table.primaryKey;
  return (
    first ??
    table.uniques.find(({ columns }) => columns.length === 1)?.columns[0] ??
    table.columns[0]?.name ??
    ""
  );
}

async function describeColumn(client: Queryable, table: Table, column: Column): Promise<ColumnDescription> {
  const reference = table.foreignKeys.find(
    ({ columns }) => columns.length === 1 && columns[0] === column.name,
  );
  const allowed = column.enumLabels ?? (await allowedValues(client, table, column));
  return {
    name: column.name,
    type: plainType(column),
    required: isRequired(column),
    description: column.comment ?? `Column ${column.name}, which has no comment on it.`,
    ...(column.defaultSql !== undefined && { default: plainDefault(column) }),
    ...(allowed && { allowed }),
    ...(reference && { references: `${reference.table}.${reference.targetColumns[0]}` }),
  };
}

function plainDefault(column: Column): unknown {
  return column.defaultText === undefined ? column.defaultSql : decodeValue(column.value, column.defaultText);
}

/** The type in everyday words; Postgres' own name where there is none. */
function plainType(column: Column): string {
  return column.enumLabels ? "text" : plainKind(column.value, column.castName);
}

const plainWords = lookupTable<string>({
  "character varying": "text",
  bpchar: "text",
  bytea: "bytes",
  bigint: "integer",
  numeric: "decimal",
  "timestamp with time zone": "timestamp",
  "timestamp without time zone": "local timestamp",
  "time without time zone": "time",
  "double precision": "number",
  real: "number",
  smallint: "integer",
  jsonb: "json",
});

function plainKind(value: ValueType, castName: string): string {
  const words = castName.endsWith("[]") ? castName.slice(0, -2) : castName;
  const plain = plainWords[words] ?? words;
  return value.kind === "array" ? `list of ${plain}` : plain;
}
