/** Appends rows to an open store: columns to DuckDB, a vector at a time. */
import {
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  listValue,
} from "@duckdb/node-api";
import type { Field, FieldCatalog, FieldType, NewField } from "../fields.ts";
import { Slices } from "../slices.ts";
import type { ColumnValue } from "./column-value.ts";
import { type FieldValue, listOf } from "./fitted-document.ts";
import type { PlannedDocument } from "./plan-write.ts";

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

/** The columns of `documents`, by position. */
export interface DocumentColumns {
  names: readonly string[];
  types: readonly DuckDBType[];
}

/** Appends documents with their values. @param fields includes all fields of the documents */
export async function appendDocuments(
  connection: DuckDBConnection,
  { names, types }: DocumentColumns,
  planned: readonly PlannedDocument[],
  fields: FieldCatalog,
): Promise<void> {
  const given = new Map<string, DuckDBValue[]>([
    ["_row", planned.map(({ document }) => BigInt(document.row))],
    ["_id", planned.map(({ document }) => document.id)],
    ["_index", planned.map(({ document }) => document.index)],
    ["_version", planned.map(({ document }) => BigInt(document.version))],
    ["_seq_no", planned.map(({ document }) => BigInt(document.seqNo))],
    ["_source", planned.map(({ document }) => document.source)],
  ]);
  for (const [field, cells] of cellsOf(planned, fields)) given.set(field.column, cells);
  const nothing: null[] = new Array(planned.length).fill(null);
  await appendColumns(
    connection,
    "documents",
    types,
    names.map((name) => given.get(name) ?? nothing),
  );
}

/** The columns of the fields that any of the documents has. */
function cellsOf(planned: readonly PlannedDocument[], fields: FieldCatalog): Map<Field, DuckDBValue[]> {
  const columns = new Map<Field, DuckDBValue[]>();
  const shapes = new Map<PlannedDocument["fields"], Place[]>();
  const placeOf = (given: NewField): Place => {
    const field = fields.stored(given);
    if (!field) return undefined;
    const cells = columns.get(field) ?? new Array<DuckDBValue>(planned.length).fill(null);
    columns.set(field, cells);
    return { field, fittedAs: given.type, cells };
  };
  for (const [index, { fields: shape, values }] of planned.entries()) {
    let places = shapes.get(shape);
    if (!places) {
      places = shape.map(placeOf);
      shapes.set(shape, places);
    }
    for (let at = 0; at < places.length; at++) {
      const place = places[at];
      const value = values[at];
      if (place && value !== undefined) place.cells[index] = cellOf(place, value);
    }
  }
  return columns;
}

/** Where the values of a field go, and the type they were fitted to; `undefined`: nowhere. */
type Place = { field: Field; fittedAs: FieldType; cells: DuckDBValue[] } | undefined;

function cellOf({ field: { type, multi }, fittedAs }: NonNullable<Place>, value: FieldValue): DuckDBValue {
  const cell = (one: ColumnValue) => duckValueOf(type, type === "text" ? textOf(one, fittedAs) : one);
  if (multi) return listValue(listOf(value).map(cell));
  return typeof value === "object" ? null : cell(value);
}

/** The text of a value whose field has become text since the value was fitted. */
function textOf(value: ColumnValue, fittedAs: FieldType): ColumnValue {
  if (fittedAs !== "date" || typeof value !== "bigint") return String(value);
  return new Date(Number(value / 1000n)).toISOString();
}

function duckValueOf(type: FieldType, value: ColumnValue): DuckDBValue {
  return type === "date" && typeof value === "bigint" ? new DuckDBTimestampValue(value) : value;
}
