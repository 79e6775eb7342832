/**
 * The segments of events' texts, for a store whose `textIndex` is `raw`:
 * - `segments (term, _row)`: each segment of an event's text and of its JSON, in lower case; some more than once, some of events that
 *   are removed. It lies in the order of its terms.
 * - `unsegmented (_row)`: the events whose segments are not in it yet.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { columnOf, type FieldCatalog } from "../fields.ts";
import { segmentsSql } from "../segments.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { read } from "./duckdb.ts";

/** Where a dataset's segments are. */
export const BUILT_SEGMENTS = "segments_built";

export async function createSegments(connection: DuckDBConnection): Promise<void> {
  await createSegmentTable(connection, BUILT_SEGMENTS);
  await showSegments(connection, [BUILT_SEGMENTS], 0);
}

export async function createSegmentTable(connection: DuckDBConnection, name: string): Promise<void> {
  await read(connection, sql`CREATE TABLE ${identifier(name)} (term VARCHAR, _row BIGINT)`);
}

/** Says which tables the segments are in, and from which row on there are none. */
export async function showSegments(
  connection: DuckDBConnection,
  tables: readonly string[],
  endRow: number,
): Promise<void> {
  const parts = tables.map((table) => sql`SELECT term, _row FROM ${identifier(table)}`);
  await read(connection, sql`CREATE OR REPLACE VIEW segments AS ${joined(parts, " UNION ALL ")}`);
  await read(
    connection,
    sql`CREATE OR REPLACE VIEW unsegmented AS SELECT _row FROM documents WHERE _row >= ${raw(String(endRow))}`,
  );
}

/** Appends the segments of some rows, in order. @param rows a predicate on `documents` */
export async function appendSegments(
  connection: DuckDBConnection,
  table: string,
  fields: FieldCatalog,
  rows: Sql,
): Promise<void> {
  await read(
    connection,
    sql`INSERT INTO ${identifier(table)} SELECT term, _row FROM
        (SELECT unnest(${segmentsSql(raw("text"))}) AS term, _row
         FROM (SELECT ${indexedText(fields)} AS text, _row FROM documents WHERE ${rows}))
      ORDER BY term, _row`,
  );
}

/** What an event is found by: its text, and the values that are not in it. */
function indexedText(fields: FieldCatalog): Sql {
  const field = fields.get("_raw");
  if (field?.type !== "text") return raw("_source");
  const text = field.multi ? sql`array_to_string(${columnOf(field)}, chr(10))` : columnOf(field);
  return sql`concat_ws(chr(10), ${text}, _source)`;
}
