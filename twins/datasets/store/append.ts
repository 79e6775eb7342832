/** Rows that are written while the store is open: columns to DuckDB, a vector at a time. */
import {
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  listValue,
} from "@duckdb/node-api";
import type { Field, FieldCatalog, FieldType } from "../fields.ts";
import { Slices } from "../slices.ts";
import type { Batch } from "./batch.ts";
import type { ColumnValue } from "./coerce.ts";
import type { StoredDocument } from "./log-store.ts";

const VECTOR_SIZE = 2048;

/** Appends rows to a table, given as its columns in their order. */
export async function appendColumns(
  connection: DuckDBConnection,
  table: string,
  types: readonly DuckDBType[],
  columns: readonly (readonly DuckDBValue[])[],
): Promise<void> {
  const rows = columns[0]?.length ?? 0;
  const slices = new Slices();
  const appender = await connection.createAppender(table);
  try {
    for (let first = 0; first < rows; first += VECTOR_SIZE) {
      const end = Math.min(first + VECTOR_SIZE, rows);
      const chunk = DuckDBDataChunk.create(types, end - first);
      chunk.setColumns(columns.map((values) => (end - first === rows ? values : values.slice(first, end))));
      appender.appendDataChunk(chunk);
      if (slices.over) await slices.next();
    }
  } finally {
    appender.closeSync();
  }
}

/** Columns of `documents`, by position. */
export interface DocumentColumns {
  names: readonly string[];
  types: readonly DuckDBType[];
}

/** Appends documents with the fields that the batch has for them. */
export async function appendDocuments(
  connection: DuckDBConnection,
  columns: DocumentColumns,
  documents: readonly StoredDocument[],
  fields: FieldCatalog,
  batch: Batch,
): Promise<void> {
  const given = new Map<string, DuckDBValue[]>([
    ["_row", documents.map(({ row }) => BigInt(row))],
    ["_id", documents.map(({ id }) => id)],
    ["_index", documents.map(({ index }) => index)],
    ["_version", documents.map(({ version }) => BigInt(version))],
    ["_seq_no", documents.map(({ seqNo }) => BigInt(seqNo))],
    ["_source", documents.map(({ source }) => source)],
  ]);
  for (const [name, { values }] of batch.columns) {
    const field = fields.get(name);
    if (!field) continue;
    given.set(
      field.column,
      documents.map(({ row }) => cellOf(field, values.get(row))),
    );
  }
  const nothing: null[] = new Array(documents.length).fill(null);
  await appendColumns(
    connection,
    "documents",
    columns.types,
    columns.names.map((name) => given.get(name) ?? nothing),
  );
}

function cellOf({ type, multi }: Field, values: readonly ColumnValue[] | undefined): DuckDBValue {
  const [first] = values ?? [];
  if (values === undefined || first === undefined) return null;
  if (!multi) return duckValueOf(type, first);
  return listValue(values.map((value) => duckValueOf(type, value)));
}

function duckValueOf(type: FieldType, value: ColumnValue): DuckDBValue {
  return type === "date" && typeof value === "bigint" ? new DuckDBTimestampValue(value) : value;
}
