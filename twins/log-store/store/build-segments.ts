/** Builds the segments of a dataset, in a database where DuckDB may spill its sorts. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { FieldCatalog } from "../fields.ts";
import { identifier, raw, sql } from "../sql.ts";
import { read } from "./duckdb.ts";
import { sortedParts } from "./postings.ts";
import {
  appendSegments,
  BUILT_SEGMENTS,
  createSegmentTable,
  segmentCut,
  segmentOrder,
  showSegments,
} from "./segment-tables.ts";

/** Text that one statement segments, and the granularity in which it is measured. */
const PIECE_BYTES = 16 << 20;
const BLOCK_ROWS = 2048;

/** @param rows number of documents; they are numbered from 0 */
export async function buildSegments(
  connection: DuckDBConnection,
  fields: FieldCatalog,
  rows: number,
): Promise<void> {
  const ends = await pieceEnds(connection, rows);
  for (const [index, end] of ends.entries()) {
    const piece = sql`_row >= ${BigInt(ends[index - 1] ?? 0)} AND _row < ${BigInt(end)}`;
    await appendSegments(connection, BUILT_SEGMENTS, fields, piece);
  }
  if (ends.length > 1) await mergeSegments(connection);
  await showSegments(connection, [BUILT_SEGMENTS], rows);
}

async function pieceEnds(connection: DuckDBConnection, documents: number): Promise<number[]> {
  const block = raw(String(BLOCK_ROWS));
  const { rows } = await read(
    connection,
    sql`SELECT _row // ${block}, sum(strlen(_source))::DOUBLE FROM documents GROUP BY 1 ORDER BY 1`,
  );
  const ends: number[] = [];
  let bytes = 0;
  for (const [number, size] of rows) {
    bytes += Number(size);
    if (bytes < PIECE_BYTES) continue;
    ends.push((Number(number) + 1) * BLOCK_ROWS);
    bytes = 0;
  }
  return (ends.at(-1) ?? 0) < documents ? [...ends, documents] : ends;
}

/** Sorts a table of several sorted pieces, in parts that each fit in memory. */
async function mergeSegments(connection: DuckDBConnection): Promise<void> {
  const table = identifier(BUILT_SEGMENTS);
  const sorted = `${BUILT_SEGMENTS}_merged`;
  await createSegmentTable(connection, sorted);
  for (const part of await sortedParts(connection, table, segmentCut)) {
    await read(
      connection,
      sql`INSERT INTO ${identifier(sorted)} SELECT * FROM ${table} WHERE ${part} ORDER BY ${segmentOrder}`,
    );
  }
  await read(connection, raw("DROP VIEW segments"));
  await read(connection, sql`DROP TABLE ${table}`);
  await read(connection, sql`ALTER TABLE ${identifier(sorted)} RENAME TO ${table}`);
}
