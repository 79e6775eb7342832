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

/** Postings of several fields, on their way into a table of written postings. */
export class PostingRows {
  readonly #fields: number[] = [];
  readonly #terms: string[] = [];
  readonly #rows: bigint[] = [];
  readonly #positions: number[] = [];
  readonly #frequencies: number[] = [];
  readonly #lengths: number[] = [];

  get size(): number {
    return this.#terms.length;
  }

  /** Adds the texts of one field, by number of row. */
  add(field: number, texts: ReadonlyMap<number, readonly ColumnValue[]>): TokenCount {
    const count: TokenCount = { documents: 0, tokens: 0 };
    // Levels, hosts, names of services: the same few words again and again.
    const known = new Map<ColumnValue, Tokens>();
    for (const [row, values] of texts) {
      const tokens = tokensOf(values, known);
      if (tokens.length > 0) count.documents++;
      count.tokens += tokens.length;
      this.#addTokens(field, BigInt(row), tokens);
    }
    return count;
  }

  async append(connection: DuckDBConnection, table: string): Promise<void> {
    if (this.size === 0) return;
    const types = [INTEGER, VARCHAR, BIGINT, INTEGER, INTEGER, INTEGER];
    const columns = [
      this.#fields,
      this.#terms,
      this.#rows,
      this.#positions,
      this.#frequencies,
      this.#lengths,
    ];
    await appendColumns(connection, table, types, columns);
  }

  #addTokens(field: number, row: bigint, tokens: Tokens): void {
    const firsts = new Map<string, number>();
    for (const { term, position } of tokens) {
      const first = firsts.get(term);
      if (first === undefined) firsts.set(term, this.size);
      else this.#frequencies[first] = (this.#frequencies[first] ?? 0) + 1;
      this.#frequencies.push(first === undefined ? 1 : 0);
      this.#fields.push(field);
      this.#terms.push(term);
      this.#rows.push(row);
      this.#positions.push(position);
      this.#lengths.push(tokens.length);
    }
  }
}

type Tokens = readonly { term: string; position: number }[];

/** Longest text, in UTF-16 units, and most texts whose tokens are kept. */
const KNOWN_LENGTH = 64;
const KNOWN_TEXTS = 1000;

/** The tokens of a field's values, each value `VALUE_GAP` positions after the one before. @param known texts analysed before */
export function tokensOf(values: readonly ColumnValue[], known = new Map<ColumnValue, Tokens>()): Tokens {
  const [only] = values;
  if (values.length === 1 && only !== undefined) {
    const before = known.get(only);
    if (before) return before;
    const text = String(only);
    const tokens = analyze(text);
    if (text.length <= KNOWN_LENGTH && known.size < KNOWN_TEXTS) known.set(only, tokens);
    return tokens;
  }
  const tokens: { term: string; position: number }[] = [];
  values.forEach((value, index) => {
    const before = tokens.length + VALUE_GAP * index;
    for (const { term, position } of analyze(String(value)))
      tokens.push({ term, position: position + before });
  });
  return tokens;
}
