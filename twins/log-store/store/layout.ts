/**
 * How a store lies in its database file: the tables of `log-store.ts`, and `catalog`, which says what is in them. Whoever makes a
 * file (an upload) and whoever opens it (a sandbox) do it through here.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import {
  columnTypeOf,
  type Field,
  FieldCatalog,
  fieldKey,
  type IndexMapping,
  likelyTimeField,
  type NewField,
  placeFields,
  type TextIndex,
} from "../fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { DATABASE } from "./database.ts";
import { read } from "./duckdb.ts";
import { builtTable, builtWords, FORMAT_VERSION, postingColumns, postingsNumber, wordsOf } from "./format.ts";
import { createSegments } from "./segment-tables.ts";
import { spelledText } from "./spelled-values.ts";

/** What a database file says about itself. */
export interface StoreCatalog {
  readonly fields: FieldCatalog;
  /** `_row` of the next document, `_seq_no` of the next write. */
  readonly nextRow: number;
  readonly nextSeqNo: number;
  /** What `_index` is in rows that have none of their own, and in no others; absent when every row has one. */
  readonly unnamedIndex?: string;
}

/** The file was made by another version of this program, or by something else. */
export class UnreadableStore extends Error {
  constructor(why: string) {
    super(`this is no database that this version of offhook can open: ${why}; upload the dataset again`);
    this.name = "UnreadableStore";
  }
}

/** Makes the tables of an empty store. */
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

/** What the postings of all fields share. */
async function createFieldIndex(connection: DuckDBConnection): Promise<void> {
  await createStatistics(connection);
  await read(connection, raw("CREATE TABLE removed_rows (_row BIGINT)"));
  await createWrittenPostings(connection, FIRST_WRITTEN);
  await showWrittenPostings(connection, [FIRST_WRITTEN]);
}

/** What each write adds is appended, for an update takes longer than all the rest of a small write; a field's numbers are their sum. */
async function createStatistics(connection: DuckDBConnection): Promise<void> {
  await read(connection, raw("CREATE TABLE counted_tokens (field VARCHAR, documents BIGINT, tokens BIGINT)"));
  await read(
    connection,
    raw(`CREATE VIEW field_statistics AS
      SELECT field, sum(documents)::BIGINT AS documents, sum(tokens)::BIGINT AS tokens FROM counted_tokens GROUP BY field`),
  );
}

/** Makes one row a field of all that was counted. Run it in a transaction. */
export async function sumStatistics(connection: DuckDBConnection): Promise<void> {
  await read(connection, raw("CREATE TEMP TABLE summed_tokens AS SELECT * FROM field_statistics"));
  await read(connection, raw("DELETE FROM counted_tokens"));
  await read(connection, raw("INSERT INTO counted_tokens SELECT * FROM summed_tokens"));
  await read(connection, raw("DROP TABLE summed_tokens"));
}

/** Makes the table that says which checkpoints a store's own file has been through. */
export async function createCheckpoints(connection: DuckDBConnection): Promise<void> {
  await read(connection, raw("CREATE TABLE checkpoints (number BIGINT)"));
}

/** Comes before a checkpoint: whoever opens the file again knows then whether it was completed. */
export async function countCheckpoint(connection: DuckDBConnection, number: number): Promise<void> {
  await read(connection, sql`INSERT INTO checkpoints VALUES (${number})`);
}

/** How many checkpoints a store's own file has been through. */
export async function checkpointsOf(connection: DuckDBConnection): Promise<number> {
  const made = await read(
    connection,
    sql`SELECT count(*) FROM duckdb_tables() WHERE database_name = ${DATABASE} AND table_name = 'checkpoints'`,
  );
  if (made.rows[0]?.[0] === 0) return 0;
  const { rows } = await read(connection, raw("SELECT coalesce(max(number), 0) FROM checkpoints"));
  return Number(rows[0]?.[0]);
}

/** Adds columns and empty postings. @param timeField the one found by name when absent. */
export async function addFields(
  connection: DuckDBConnection,
  catalog: FieldCatalog,
  added: readonly NewField[],
  timeField?: string,
): Promise<FieldCatalog> {
  const placed = placeFields(catalog, added);
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
  const ofDataset = all.filter(({ index }) => index === undefined);
  const time = timeField ?? catalog.timeField?.name ?? likelyTimeField(ofDataset);
  return new FieldCatalog(all, time, catalog.textIndex, {
    indices: catalog.indices,
    placed: catalog.placed + placed.length,
  });
}

/** Makes scalar fields lists; a value that is there becomes a list of one. @param keys of the fields */
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

/** Keeps how an index maps its documents, and its fields. Those that it does not have yet are added apart from that. */
export function defineIndex(catalog: FieldCatalog, index: string, mapping: IndexMapping): FieldCatalog {
  const declared = new Map(mapping.fields.map((field) => [field.name, field.mapping]));
  const fields = catalog
    .allStored()
    .map((field) =>
      field.index === index ? { ...field, mapping: declared.get(field.name) ?? field.mapping } : field,
    );
  return catalogOf(catalog, fields, new Map([...catalog.indices, [index, mapping]]));
}

/** Removes an index with its columns and postings; its documents are gone. */
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
 * Makes fields texts, each value as its event spells it: for a store whose fields have no postings, where an event has what no column of
 * another type holds.
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

/** Changes the columns of fields that there are: lists first, then texts. The sets are keys of fields. */
export async function changeFields(
  connection: DuckDBConnection,
  catalog: FieldCatalog,
  { widened, texts }: { widened: ReadonlySet<string>; texts: ReadonlySet<string> },
): Promise<FieldCatalog> {
  const lists = widened.size > 0 ? await widenFields(connection, catalog, widened) : catalog;
  return texts.size > 0 ? makeTexts(connection, lists, texts) : lists;
}

const postingTypes = "term VARCHAR, _row BIGINT, position INTEGER, frequency INTEGER, length INTEGER";
/** The first table of postings that are written while the store is open. */
export const FIRST_WRITTEN = "written_postings_0";

/** A field's postings: a table for those that are built, and views of what there is to look at. */
async function createPostings(connection: DuckDBConnection, postings: string): Promise<void> {
  await createBuiltTable(connection, builtTable(postings));
  await read(connection, sql`CREATE TABLE ${identifier(builtWords(postings))} (term VARCHAR)`);
  await showAllPostings(connection, postings);
}

/** Looks at the postings that are built alone: quicker, and right for as long as nothing is written or removed. */
export async function showBuiltPostings(connection: DuckDBConnection, postings: string): Promise<void> {
  await showPostings(connection, postings, {
    places: sql`SELECT ${postingColumns} FROM ${identifier(builtTable(postings))}`,
    words: sql`SELECT term FROM ${identifier(builtWords(postings))}`,
  });
}

/**
 * Looks at the postings that are built and at those written later, without those of removed documents. These are left out by a join
 * that is said to be one: DuckDB keeps all postings of a word in memory twice to answer a subquery about each of them.
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

/** A table of postings of all fields. */
export async function createWrittenPostings(connection: DuckDBConnection, name: string): Promise<void> {
  await read(connection, sql`CREATE TABLE ${identifier(name)} (field INTEGER, ${raw(postingTypes)})`);
}

/** Says which tables the written postings are in. */
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

/** Writes what the file says about itself. Nothing else does: a store that is only worked with need not. */
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

/** Whether the rows that have no index of their own are under this name already. */
export function isNamed({ unnamedIndex }: StoreCatalog, index: string): boolean {
  return unnamedIndex === undefined || unnamedIndex === index;
}

/** Puts the rows that have no index of their own under this name. A file that has it there already is left as it is. */
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

/** Brings everything written into the file itself, so that the file alone can be copied. */
export async function checkpoint(connection: DuckDBConnection): Promise<void> {
  await read(connection, raw("CHECKPOINT"));
}
