/**
 * The segments of events' texts, for a store whose `textIndex` is `raw`:
 * - `segments (term, in_text, _row)`: each segment of an event's text, in lower case. Where the text is a member of the event's JSON,
 *   also those of the rest of the JSON, with `in_text` false. Sorted by term; some rows repeat, and some belong to removed events.
 * - `unsegmented (_row)`: the events whose segments are not indexed yet.
 *
 * The tables hold lists of rows: a segment that many events share is grouped and sorted once per block of 128 rows, which takes a third
 * of the time. DuckDB applies a filter on terms before it unnests the lists.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { columnOf, type FieldCatalog } from "../fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { segmentsSql } from "../text/segments.ts";
import { read } from "./duckdb.ts";

/** Of a table: `rows` are the rows of the block that have the segment, some more than once. */
export const segmentColumns = raw("term, in_text, block, rows");
export const segmentOrder = raw("term, block");
/** How a merge partitions a table. */
export const segmentCut = { columns: ["term", "block"], size: raw("sum(len(rows))") } as const;

/** Rows of a block. */
const BLOCK_ROWS = 128;

/** The table of a dataset's segments. */
export const BUILT_SEGMENTS = "segments_built";

export async function createSegments(connection: DuckDBConnection): Promise<void> {
  await createSegmentTable(connection, BUILT_SEGMENTS);
  await showSegments(connection, [BUILT_SEGMENTS], 0);
}

export async function createSegmentTable(connection: DuckDBConnection, name: string): Promise<void> {
  await read(
    connection,
    sql`CREATE TABLE ${identifier(name)} (term VARCHAR, in_text BOOLEAN, block BIGINT, rows BIGINT[])`,
  );
}

/** Makes the views show these tables. @param endRow the first row without segments */
export async function showSegments(
  connection: DuckDBConnection,
  tables: readonly string[],
  endRow: number,
): Promise<void> {
  const parts = tables.map((table) => sql`SELECT ${segmentColumns} FROM ${identifier(table)}`);
  await read(
    connection,
    sql`CREATE OR REPLACE VIEW segments AS SELECT term, in_text, unnest(rows) AS _row FROM (${joined(parts, " UNION ALL ")})`,
  );
  await read(
    connection,
    sql`CREATE OR REPLACE VIEW unsegmented AS SELECT _row FROM documents WHERE _row >= ${raw(String(endRow))}`,
  );
}

/** Appends the segments of some rows, sorted. @param rows a predicate on `documents` */
export async function appendSegments(
  connection: DuckDBConnection,
  table: string,
  fields: FieldCatalog,
  rows: Sql,
): Promise<void> {
  const parts = indexedTexts(fields).map(
    ({ text, inText }) =>
      sql`SELECT unnest(${segmentsSql(raw("text"))}) AS term, ${raw(String(inText))} AS in_text, _row
        FROM (SELECT ${text} AS text, _row FROM documents WHERE ${rows})`,
  );
  await read(
    connection,
    sql`INSERT INTO ${identifier(table)}
      SELECT term, in_text, _row // ${raw(String(BLOCK_ROWS))} AS block, list(_row) AS rows
      FROM (${joined(parts, " UNION ALL ")}) GROUP BY ALL ORDER BY ${segmentOrder}`,
  );
}

/** The indexed texts of an event: its text, and the rest of its JSON. NULL has no segments. */
function indexedTexts(fields: FieldCatalog): { text: Sql; inText: boolean }[] {
  const field = fields.get("_raw");
  if (field?.type !== "text") return [{ text: raw("_source"), inText: true }];
  const column = columnOf(field);
  const own = field.multi ? sql`array_to_string(${column}, chr(10))` : column;
  return [
    { text: sql`coalesce(${own}, _source)`, inText: true },
    { text: sql`CASE WHEN ${column} IS NOT NULL THEN ${withoutText(own)} END`, inText: false },
  ];
}

/** An event's JSON without its text, where the JSON spells the text literally: the segments of that are indexed already. */
function withoutText(text: Sql): Sql {
  return sql`replace(_source, '"_raw":"' || ${text} || '"', '"_raw":""')`;
}
