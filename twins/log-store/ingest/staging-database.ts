/** The staging database of a dataset: a DuckDB confined to one folder, in which rows are staged, typed and indexed. */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { joined, raw, type Sql, sql, textLiteral } from "../sql.ts";
import { read } from "../store/duckdb.ts";
import { stagedColumn } from "./infer.ts";
import type { RowReader } from "./row-reader.ts";
import { MAX_ROW_BYTES, QUOTE, SEPARATOR, type StagingFile } from "./staging-file.ts";

const MEMORY_LIMIT = "256MB";
const CLOSING_MEMORY_LIMIT = "8MB";

/** The staging table, and its columns before those of the file. */
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

/** Creates a database whose statements can reach the folder alone. @param folder absolute */
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
    // Times without a zone are UTC, whatever the machine's zone.
    raw("SET GLOBAL TimeZone = 'UTC'"),
  ];
  for (const setting of settings) await read(connection, setting);
  return { instance, connection };
}

/** Frees the memory by statements first, off the event loop: closing would free it on the loop, and take as long. */
export async function closeStagingDatabase({ instance, connection }: StagingDatabase): Promise<void> {
  try {
    await read(connection, sql`DROP TABLE IF EXISTS ${staging.table}`);
    await read(connection, raw(`SET memory_limit = '${CLOSING_MEMORY_LIMIT}'`));
  } catch {
    // Closing frees what is left.
  }
  connection.closeSync();
  instance.closeSync();
}

/** Loads a staging file into the staging table, whose `rowid` numbers the rows from 0. @throws Error when a row is missing */
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
  // `null_padding`: rows before the first use of a field are shorter.
  await read(
    connection,
    sql`CREATE TEMP TABLE ${staging.table} AS SELECT * FROM read_csv(${textLiteral(file.path)},
      columns = {${staging.line}: 'BIGINT', ${types}}, auto_detect = false, header = false,
      delim = ${textLiteral(String.fromCharCode(SEPARATOR))}, quote = ${textLiteral(String.fromCharCode(QUOTE))},
      escape = ${textLiteral(String.fromCharCode(QUOTE))}, new_line = '\\n', nullstr = '', allow_quoted_nulls = false,
      strict_mode = true, null_padding = ${raw(String(reader.hasSource))}, parallel = ${raw(String(!file.hasLineBreaks))},
      max_line_size = ${raw(String(MAX_ROW_BYTES * 2))}, buffer_size = ${raw(String(MAX_ROW_BYTES * 2))})`,
  );
  const { rows } = await read(connection, sql`SELECT count(*) FROM ${staging.table}`);
  if (rows[0]?.[0] !== file.rows) {
    throw new Error(`${file.rows} rows were read, but ${String(rows[0]?.[0])} of them arrived`);
  }
}
