/** Rows that are written while the store is open: columns to DuckDB, a vector at a time. */
import {
  BIGINT,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  listValue,
  VARCHAR,
} from "@duckdb/node-api";
import { analyze } from "../analysis.ts";
import type { Field, FieldCatalog, FieldType } from "../fields.ts";
import type { Batch } from "./batch.ts";
import type { ColumnValue } from "./coerce.ts";
import { DATABASE } from "./database.ts";
import type { StoredDocument } from "./log-store.ts";
import { VALUE_GAP } from "./postings.ts";

const VECTOR_SIZE = 2048;

/** Appends rows to a table, given as its columns in their order. */
export async function appendColumns(
  connection: DuckDBConnection,
  table: string,
  types: readonly DuckDBType[],
  columns: readonly (readonly DuckDBValue[])[],
): Promise<void> {
  const rows = columns[0]?.length ?? 0;
  const appender = await connection.createAppender(table, "main", DATABASE);
  try {
    for (let first = 0; first < rows; first += VECTOR_SIZE) {
      const end = Math.min(first + VECTOR_SIZE, rows);
      const chunk = DuckDBDataChunk.create(types, end - first);
      chunk.setColumns(columns.map((values) => (end - first === rows ? values : values.slice(first, end))));
      appender.appendDataChunk(chunk);
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

/** How much a field's text came to. */
export interface TokenCount {
  documents: number;
  tokens: number;
}

/** Appends the postings of one field's texts. */
export async function appendTerms(
  connection: DuckDBConnection,
  postings: string,
  texts: ReadonlyMap<number, readonly ColumnValue[]>,
): Promise<TokenCount> {
  const terms: string[] = [];
  const rows: bigint[] = [];
  const positions: number[] = [];
  const frequencies: number[] = [];
  const lengths: number[] = [];
  const count: TokenCount = { documents: 0, tokens: 0 };
  for (const [row, values] of texts) {
    const tokens = tokensOf(values);
    const number = BigInt(row);
    const first = new Map<string, number>();
    for (const { term, position } of tokens) {
      const at = first.get(term);
      if (at === undefined) first.set(term, frequencies.push(1) - 1);
      else {
        frequencies[at] = (frequencies[at] ?? 0) + 1;
        frequencies.push(0);
      }
      terms.push(term);
      rows.push(number);
      positions.push(position);
      lengths.push(tokens.length);
    }
    if (tokens.length > 0) count.documents++;
    count.tokens += tokens.length;
  }
  if (terms.length === 0) return count;
  const types = [VARCHAR, BIGINT, INTEGER, INTEGER, INTEGER];
  await appendColumns(connection, postings, types, [terms, rows, positions, frequencies, lengths]);
  return count;
}

/** The tokens of a field's values, each value `VALUE_GAP` positions after the one before. */
export function tokensOf(values: readonly ColumnValue[]): { term: string; position: number }[] {
  if (values.length === 1) return analyze(String(values[0]));
  const tokens: { term: string; position: number }[] = [];
  values.forEach((value, index) => {
    const before = tokens.length + VALUE_GAP * index;
    for (const { term, position } of analyze(String(value)))
      tokens.push({ term, position: position + before });
  });
  return tokens;
}
