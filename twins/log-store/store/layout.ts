/**
 * The layout of a store's database file: the tables of `log-store.ts`, and `catalog`, which describes them. Both an upload, which
 * creates a file, and a sandbox, which opens it, use this module.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import {
  assignColumns,
  columnTypeOf,
  type Field,
  FieldCatalog,
  fieldKey,
  type IndexMapping,
  likelyTimeField,
  type NewField,
  type TextIndex,
} from "../fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { DATABASE } from "./database.ts";
import { read } from "./duckdb.ts";
import { builtTable, builtWords, FORMAT_VERSION, postingColumns, postingsNumber, wordsOf } from "./format.ts";
import { createSegments } from "./segment-tables.ts";
import { spelledText } from "./spelled-values.ts";

/** A database file's description of its content. */
export interface StoreCatalog {
  readonly fields: FieldCatalog;
  /** `_row` of the next document, `_seq_no` of the next write. */
  readonly nextRow: number;
  readonly nextSeqNo: number;
  /** The `_index` of exactly the rows that named none; absent when every row named one. */
  readonly unnamedIndex?: string;
}

/** The file comes from another version of this program, or from elsewhere. */
export class UnreadableStore extends Error {
  constructor(why: string) {
    super(`this is no database that this version of offhook can open: ${why}; upload the dataset again`);
    this.name = "UnreadableStore";
  }
}

/** Creates the tables of an empty store. */
export async function createTables(
  connection: DuckDBConnection,
  textIndex: TextIndex = "fields",
): Promise<void> {
  await read(
    connection,
    raw(`CREATE TABLE documents
      (_row BIGINT, _id VARCHAR, _index VARCHAR, _version BIGINT, _seq_no BIGINT, _source VARCHAR)`),
  );
  if (textIndex === "raw") await createSegments(connection);
  else await createFieldIndex(connection);
  await read(connection, raw("CREATE TABLE catalog (format BIGINT, content VARCHAR)"));
  const fields = new FieldCatalog([], undefined, textIndex);
  await saveCatalog(connection, { fields, nextRow: 0, nextSeqNo: 0 });
}

/** Creates what the postings of all fields share. */
async function createFieldIndex(connection: DuckDBConnection): Promise<void> {
  await createStatistics(connection);
  await read(connection, raw("CREATE TABLE removed_rows (_row BIGINT)"));
  await createWrittenPostings(connection, FIRST_WRITTEN);
  await showWrittenPostings(connection, [FIRST_WRITTEN]);
}

/** Each write appends its counts, and a view sums them up: an update would take longer than all the rest of a small write. */
async function createStatistics(connection: DuckDBConnection): Promise<void> {
  await read(connection, raw("CREATE TABLE counted_tokens (field VARCHAR, documents BIGINT, tokens BIGINT)"));
  await read(
    connection,
    raw(`CREATE VIEW field_statistics AS
      SELECT field, sum(documents)::BIGINT AS documents, sum(tokens)::BIGINT AS tokens FROM counted_tokens GROUP BY field`),
  );
}

/** Compacts the counts to one row per field. Run it in a transaction. */
export async function sumStatistics(connection: DuckDBConnection): Promise<void> {
  await read(connection, raw("CREATE TEMP TABLE summed_tokens AS SELECT * FROM field_statistics"));
  await read(connection, raw("DELETE FROM counted_tokens"));
  await read(connection, raw("INSERT INTO counted_tokens SELECT * FROM summed_tokens"));
  await read(connection, raw("DROP TABLE summed_tokens"));
}

/** Creates the table that counts the checkpoints of a store's own file. */
export async function createCheckpoints(connection: DuckDBConnection): Promise<void> {
  await read(connection, raw("CREATE TABLE checkpoints (number BIGINT)"));
}

/** Run it before a checkpoint: the number in the reopened file then says whether the checkpoint completed. */
export async function countCheckpoint(connection: DuckDBConnection, number: number): Promise<void> {
  await read(connection, sql`INSERT INTO checkpoints VALUES (${number})`);
}

/** The number of checkpoints that a store's own file completed. */
export async function checkpointsOf(connection: DuckDBConnection): Promise<number> {
  const made = await read(
    connection,
    sql`SELECT count(*) FROM duckdb_tables() WHERE database_name = ${DATABASE} AND table_name = 'checkpoints'`,
  );
  if (made.rows[0]?.[0] === 0) return 0;
  const { rows } = await read(connection, raw("SELECT coalesce(max(number), 0) FROM checkpoints"));
  return Number(rows[0]?.[0]);
}

/** Adds columns and empty postings. @param timeField found by name when absent */
export async function addFields(
  connection: DuckDBConnection,
  catalog: FieldCatalog,
  added: readonly NewField[],
  timeField?: string,
): Promise<FieldCatalog> {
  const placed = assignColumns(catalog, added);
  for (const field of placed) {
    await read(
      connection,
      sql`ALTER TABLE documents ADD COLUMN ${identifier(field.column)} ${columnTypeOf(field)}`,
    );
    if (!field.postings) continue;
    await createPostings(connection, field.postings);
    await read(connection, sql`INSERT INTO counted_tokens VALUES (${fieldKey(field)}, 0, 0)`);
  }
  const all = [...catalog.allStored(), ...placed];
  const datasetFields = all.filter(({ index }) => index === undefined);
  const time = timeField ?? catalog.timeField?.name ?? likelyTimeField(datasetFields);
  return new FieldCatalog(all, time, catalog.textIndex, {
    indices: catalog.indices,
    placed: catalog.placed + placed.length,
  });
}

/** Turns scalar fields into lists, and existing values into lists of one. @param keys of the fields */
async function widenFields(
  connection: DuckDBConnection,
  catalog: FieldCatalog,
  keys: ReadonlySet<string>,
): Promise<FieldCatalog> {
  const fields = catalog
    .allStored()
    .map((field) => (keys.has(fieldKey(field)) ? { ...field, multi: true } : field));
  for (const field of fields) {
    if (!keys.has(fieldKey(field))) continue;
    const column = identifier(field.column);
    await read(
      connection,
      sql`ALTER TABLE documents ALTER COLUMN ${column} SET DATA TYPE ${columnTypeOf(field)}
        USING CASE WHEN ${column} IS NULL THEN NULL ELSE [${column}] END`,
    );
  }
  return catalogOf(catalog, fields, catalog.indices);
}

/** Records the mapping of an index in the catalog. The caller adds the fields that the index lacks. */
export function defineIndex(catalog: FieldCatalog, index: string, mapping: IndexMapping): FieldCatalog {
  const declared = new Map(mapping.fields.map((field) => [field.name, field.mapping]));
  const fields = catalog
    .allStored()
    .map((field) =>
      field.index === index ? { ...field, mapping: declared.get(field.name) ?? field.mapping } : field,
    );
  return catalogOf(catalog, fields, new Map([...catalog.indices, [index, mapping]]));
}

/** Removes an index's fields with their columns and postings. Its documents must have been removed. */
export async function dropIndex(
  connection: DuckDBConnection,
  catalog: FieldCatalog,
  index: string,
): Promise<FieldCatalog> {
  const [dropped, left] = partition(catalog.allStored(), (field) => field.index === index);
  for (const field of dropped) {
    await read(connection, sql`ALTER TABLE documents DROP COLUMN ${identifier(field.column)}`);
    if (!field.postings) continue;
    for (const view of [field.postings, wordsOf(field.postings)]) {
      await read(connection, sql`DROP VIEW ${identifier(view)}`);
    }
    for (const table of [builtTable(field.postings), builtWords(field.postings)]) {
      await read(connection, sql`DROP TABLE ${identifier(table)}`);
    }
    await read(connection, sql`DELETE FROM counted_tokens WHERE field = ${fieldKey(field)}`);
  }
  return catalogOf(catalog, left, new Map([...catalog.indices].filter(([name]) => name !== index)));
}

function catalogOf(
  { timeField, textIndex, placed }: FieldCatalog,
  fields: readonly Field[],
  indices: FieldCatalog["indices"],
): FieldCatalog {
  return new FieldCatalog(fields, timeField?.name, textIndex, { indices, placed });
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

/**
 * Turns fields into text, each value as its event spells it: an event has a value that the field's type cannot hold. Only for stores
 * whose fields have no postings.
 */
async function makeTexts(
  connection: DuckDBConnection,
  catalog: FieldCatalog,
  keys: ReadonlySet<string>,
): Promise<FieldCatalog> {
  const fields: Field[] = [];
  for (const before of catalog.allStored()) {
    if (!keys.has(fieldKey(before))) {
      fields.push(before);
      continue;
    }
    const { timeFormat: _format, blanks: _blanks, ...kept } = before;
    const field: Field = { ...kept, type: "text" };
    fields.push(field);
    await read(
      connection,
      sql`ALTER TABLE documents ALTER COLUMN ${identifier(field.column)} SET DATA TYPE ${columnTypeOf(field)}
        USING ${spelledText(before)}`,
    );
  }
  return catalogOf(catalog, fields, catalog.indices);
}

/** Changes the columns of existing fields: first to lists, then to text. The sets hold keys of fields. */
export async function changeFields(
  connection: DuckDBConnection,
  catalog: FieldCatalog,
  { widened, texts }: { widened: ReadonlySet<string>; texts: ReadonlySet<string> },
): Promise<FieldCatalog> {
  const lists = widened.size > 0 ? await widenFields(connection, catalog, widened) : catalog;
  return texts.size > 0 ? makeTexts(connection, lists, texts) : lists;
}

const postingTypes = "term VARCHAR, _row BIGINT, position INTEGER, frequency INTEGER, length INTEGER";
/** The first table for postings that are written while the store is open. */
export const FIRST_WRITTEN = "written_postings_0";

/** Creates a field's postings: the table of the built ones, and the views that queries read. */
async function createPostings(connection: DuckDBConnection, postings: string): Promise<void> {
  await createBuiltTable(connection, builtTable(postings));
  await read(connection, sql`CREATE TABLE ${identifier(builtWords(postings))} (term VARCHAR)`);
  await showAllPostings(connection, postings);
}

/** Makes the views show the built postings alone: faster, and correct as long as nothing is written or removed. */
export async function showBuiltPostings(connection: DuckDBConnection, postings: string): Promise<void> {
  await showPostings(connection, postings, {
    places: sql`SELECT ${postingColumns} FROM ${identifier(builtTable(postings))}`,
    words: sql`SELECT term FROM ${identifier(builtWords(postings))}`,
  });
}

/**
 * Makes the views show the built postings and those written later, without those of removed documents. An explicit anti join removes
 * these: for a subquery DuckDB would hold all postings of a term in memory twice.
 */
export async function showAllPostings(connection: DuckDBConnection, postings: string): Promise<void> {
  const number = raw(String(postingsNumber(postings)));
  await showPostings(connection, postings, {
    places: sql`SELECT ${postingColumns} FROM
        (SELECT ${postingColumns} FROM ${identifier(builtTable(postings))}
         UNION ALL SELECT ${postingColumns} FROM written_postings WHERE field = ${number}) AS posting
      ANTI JOIN removed_rows USING (_row)`,
    words: sql`SELECT term FROM ${identifier(builtWords(postings))}
      UNION ALL SELECT term FROM written_postings WHERE field = ${number} AND frequency > 0`,
  });
}

async function showPostings(
  connection: DuckDBConnection,
  postings: string,
  { places, words }: { places: Sql; words: Sql },
): Promise<void> {
  await read(connection, sql`CREATE OR REPLACE VIEW ${identifier(postings)} AS ${places}`);
  await read(connection, sql`CREATE OR REPLACE VIEW ${identifier(wordsOf(postings))} AS ${words}`);
}

export async function createBuiltTable(connection: DuckDBConnection, name: string): Promise<void> {
  await read(connection, sql`CREATE TABLE ${identifier(name)} (${raw(postingTypes)})`);
}

/** Creates a table for the postings of all fields. */
export async function createWrittenPostings(connection: DuckDBConnection, name: string): Promise<void> {
  await read(connection, sql`CREATE TABLE ${identifier(name)} (field INTEGER, ${raw(postingTypes)})`);
}

/** Makes `written_postings` a view of these tables. */
export async function showWrittenPostings(
  connection: DuckDBConnection,
  tables: readonly string[],
): Promise<void> {
  const parts = tables.map((table) => sql`SELECT field, ${postingColumns} FROM ${identifier(table)}`);
  await read(connection, sql`CREATE OR REPLACE VIEW written_postings AS ${joined(parts, " UNION ALL ")}`);
}

const catalogContent = z.object({
  fields: z.array(
    z.object({
      name: z.string(),
      type: z.enum(["text", "keyword", "long", "unsigned_long", "double", "boolean", "date", "ip"]),
      multi: z.boolean(),
      column: z.string(),
      postings: z.string().optional(),
      timeFormat: z.string().optional(),
      blanks: z.boolean().optional(),
    }),
  ),
  timeField: z.string().optional(),
  textIndex: z.enum(["fields", "raw"]),
  nextRow: z.number().int(),
  nextSeqNo: z.number().int(),
  unnamedIndex: z.string().optional(),
});

/** Writes the catalog. Only an upload does: an open store keeps its own in memory. */
export async function saveCatalog(connection: DuckDBConnection, catalog: StoreCatalog): Promise<void> {
  const { fields, nextRow, nextSeqNo, unnamedIndex } = catalog;
  const content: z.input<typeof catalogContent> = {
    fields: fields.all(),
    timeField: fields.timeField?.name,
    textIndex: fields.textIndex,
    nextRow,
    nextSeqNo,
    unnamedIndex,
  };
  await read(connection, raw("DELETE FROM catalog"));
  await read(
    connection,
    sql`INSERT INTO catalog VALUES (${BigInt(FORMAT_VERSION)}, ${JSON.stringify(content)})`,
  );
}

/** @throws UnreadableStore */
export async function readCatalog(connection: DuckDBConnection): Promise<StoreCatalog> {
  const { rows } = await read(connection, raw("SELECT format, content FROM catalog")).catch(() => {
    throw new UnreadableStore("it has no catalog");
  });
  const [format, content] = rows[0] ?? [];
  if (format !== FORMAT_VERSION) throw new UnreadableStore(`its format is ${format}, not ${FORMAT_VERSION}`);
  const { fields, timeField, textIndex, nextRow, nextSeqNo, unnamedIndex } = catalogContent.parse(
    JSON.parse(String(content)),
  );
  const placed = fields.map((field) => ({ ...field, postings: field.postings }));
  return {
    fields: new FieldCatalog(placed, timeField, textIndex),
    nextRow,
    nextSeqNo,
    ...(unnamedIndex === undefined ? {} : { unnamedIndex }),
  };
}

/** Whether the rows that named no index are under this one already. */
export function isNamed({ unnamedIndex }: StoreCatalog, index: string): boolean {
  return unnamedIndex === undefined || unnamedIndex === index;
}

/** Puts the rows that named no index under this one, unless they are already. */
export async function nameIndex(
  connection: DuckDBConnection,
  catalog: StoreCatalog,
  index: string,
): Promise<void> {
  const { unnamedIndex } = catalog;
  if (unnamedIndex === undefined || isNamed(catalog, index)) return;
  await read(connection, sql`UPDATE documents SET _index = ${index} WHERE _index = ${unnamedIndex}`);
  await checkpoint(connection);
}

/** Writes everything into the file itself, so that the file alone can be copied. */
export async function checkpoint(connection: DuckDBConnection): Promise<void> {
  await read(connection, raw("CHECKPOINT"));
}
