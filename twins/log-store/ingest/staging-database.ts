/** Where a dataset is made: a folder that is gone afterwards, and a DuckDB that sees nothing else. */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { joined, raw, type Sql, sql, textLiteral } from "../sql.ts";
import { read } from "../store/duckdb.ts";
import { stagedColumn } from "./infer.ts";
import type { RowReader } from "./row-reader.ts";
import { MOST_ROW_BYTES, QUOTE, SEPARATOR, type StagingFile } from "./staging-file.ts";

const MEMORY_LIMIT = "256MB";
const CLOSING_MEMORY_LIMIT = "8MB";

/** Columns of the staging table before those of the file. */
export const staging = {
  table: raw("staged"),
  line: raw("line"),
  id: raw("hit_id"),
  index: raw("hit_index"),
  source: raw("source"),
};

export interface StagingDatabase {
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
}

/** Opens a new database whose statements reach the folder and nothing else. @param folder absolute */
export async function openStagingDatabase(folder: string, file: string): Promise<StagingDatabase> {
  const instance = await DuckDBInstance.create(file, {
    memory_limit: MEMORY_LIMIT,
    threads: "2",
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
  });
  const connection = await instance.connect();
  const settings: Sql[] = [
    sql`SET temp_directory = ${textLiteral(`${folder}/spilled`)}`,
    sql`SET allowed_directories = [${textLiteral(folder)}]`,
    raw("SET enable_external_access = false"),
    // What has no zone is UTC, wherever this runs.
    raw("SET GLOBAL TimeZone = 'UTC'"),
  ];
  for (const setting of settings) await read(connection, setting);
  return { instance, connection };
}

/** Lets go of the memory first, beside the event loop: closing does it on the loop, and takes as long. */
export async function closeStagingDatabase({ instance, connection }: StagingDatabase): Promise<void> {
  try {
    await read(connection, sql`DROP TABLE IF EXISTS ${staging.table}`);
    await read(connection, raw(`SET memory_limit = '${CLOSING_MEMORY_LIMIT}'`));
  } catch {
    // What is left is let go of by closing.
  }
  connection.closeSync();
  instance.closeSync();
}

/** Loads a staging file into the staging table; its `rowid` counts the rows from 0. @throws Error when a row was lost on the way */
export async function loadStaged(
  connection: DuckDBConnection,
  file: StagingFile,
  reader: RowReader,
): Promise<void> {
  const texts = reader.hasSource ? [staging.id, staging.index, staging.source] : [];
  const columns = [...texts, ...reader.columns.map((_, index) => stagedColumn(index))];
  const types = joined(
    columns.map((column) => sql`${column}: 'VARCHAR'`),
    ", ",
  );
  // Rows of an event that came before a field was first seen are shorter.
  await read(
    connection,
    sql`CREATE TEMP TABLE ${staging.table} AS SELECT * FROM read_csv(${textLiteral(file.path)},
      columns = {${staging.line}: 'BIGINT', ${types}}, auto_detect = false, header = false,
      delim = ${textLiteral(String.fromCharCode(SEPARATOR))}, quote = ${textLiteral(String.fromCharCode(QUOTE))},
      escape = ${textLiteral(String.fromCharCode(QUOTE))}, new_line = '\\n', nullstr = '', allow_quoted_nulls = false,
      strict_mode = true, null_padding = ${raw(String(reader.hasSource))}, parallel = ${raw(String(!file.brokenLines))},
      max_line_size = ${raw(String(MOST_ROW_BYTES * 2))}, buffer_size = ${raw(String(MOST_ROW_BYTES * 2))})`,
  );
  const { rows } = await read(connection, sql`SELECT count(*) FROM ${staging.table}`);
  if (rows[0]?.[0] !== file.rows) {
    throw new Error(`${file.rows} rows were read, but ${String(rows[0]?.[0])} of them arrived`);
  }
}
