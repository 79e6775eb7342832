/**
 * Builds the postings of a dataset: which term stands where. DuckDB may spill here, so the texts of most files are sorted in one
 * statement; those of larger files in pieces, which are then merged.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { columnOf, type Field, fieldKey } from "../fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { asciiTermsSql, isAnalyzedSql } from "../text/analysis.ts";
import { read } from "./duckdb.ts";
import { builtTable, builtWords, postingColumns } from "./format.ts";
import { createBuiltTable } from "./layout.ts";
import type { ResultValue } from "./log-store.ts";
import { PostingRows, VALUE_GAP } from "./posting-rows.ts";

/** Text that one statement processes. */
interface PieceSize {
  rows: number;
  bytes: number;
}
/** For text that DuckDB analyses and sorts. */
const IN_DATABASE: PieceSize = { rows: 2_000_000, bytes: 128 << 20 };
/** For text that this program analyses, in its own memory. */
const IN_PROGRAM: PieceSize = { rows: 65_536, bytes: 8 << 20 };
const BLOCK_ROWS = 2048;
/** Postings that one statement of a merge sorts. */
const MERGE_POSTINGS = 1_000_000;

/** Builds one field. The caller holds the transaction, and so decides what a failure undoes. */
export async function buildPostings(
  connection: DuckDBConnection,
  field: Field,
  fromRow: number,
): Promise<void> {
  if (!field.postings) return;
  const table = builtTable(field.postings);
  const column = columnOf(field);
  const simple = field.multi
    ? sql`list_bool_and(list_transform(${column}, text -> ${isAnalyzedSql(raw("text"))}))`
    : isAnalyzedSql(column);
  const others = sql`NOT coalesce(${simple}, true)`;
  const othersPieces = await piecesOf(connection, field, fromRow, others, IN_PROGRAM);
  const pieces = await piecesOf(connection, field, fromRow, raw("true"), IN_DATABASE);
  const analysed = othersPieces.length === 0 ? raw("true") : sql`coalesce(${simple}, true)`;
  for (const piece of pieces)
    await appendInDatabase(connection, field, table, rowsOf(field, piece, analysed));
  for (const piece of othersPieces)
    await appendInProgram(connection, field, table, rowsOf(field, piece, others));
  const ordered = fromRow === 0 && pieces.length <= 1 && othersPieces.length === 0;
  if (!ordered) await mergePostings(connection, table);
  await countTokens(connection, field, table);
  await collectWords(connection, field.postings);
}

async function collectWords(connection: DuckDBConnection, postings: string): Promise<void> {
  const words = identifier(builtWords(postings));
  await read(connection, sql`DELETE FROM ${words}`);
  await read(
    connection,
    sql`INSERT INTO ${words} SELECT DISTINCT term FROM ${identifier(builtTable(postings))} ORDER BY term`,
  );
}

async function countTokens(connection: DuckDBConnection, field: Field, postings: string): Promise<void> {
  // Every text with tokens has one at position 1, but the first text of a list may have no tokens.
  const lengths = field.multi
    ? sql`(SELECT DISTINCT _row, length FROM ${identifier(postings)})`
    : sql`(SELECT length FROM ${identifier(postings)} WHERE position = 1)`;
  await read(
    connection,
    sql`UPDATE counted_tokens SET documents = counted.documents, tokens = counted.tokens
      FROM (SELECT count(*) AS documents, coalesce(sum(length), 0)::BIGINT AS tokens FROM ${lengths}) AS counted
      WHERE field = ${fieldKey(field)}`,
  );
}

/** Rows from `first` to `end`, exclusive. */
interface RowRange {
  first: number;
  end: number;
}

function rowsOf(field: Field, { first, end }: RowRange, condition: Sql): Sql {
  return sql`_row >= ${BigInt(first)} AND _row < ${BigInt(end)} AND ${columnOf(field)} IS NOT NULL AND ${condition}`;
}

/** Appends the postings of rows that DuckDB can analyse, sorted. */
async function appendInDatabase(
  connection: DuckDBConnection,
  field: Field,
  table: string,
  rows: Sql,
): Promise<void> {
  const column = columnOf(field);
  const counted = field.multi ? countedPostings(tokensOfList(column, rows)) : postingsOf(column, rows);
  await read(
    connection,
    sql`INSERT INTO ${identifier(table)} SELECT ${postingColumns} FROM (${counted}) ORDER BY term, _row, position`,
  );
}

/** Appends the postings of rows that this program must analyse. */
async function appendInProgram(
  connection: DuckDBConnection,
  field: Field,
  table: string,
  rows: Sql,
): Promise<void> {
  const others = await read(
    connection,
    sql`SELECT _row, ${columnOf(field)} FROM documents WHERE ${rows} ORDER BY _row`,
  );
  const made = new PostingRows();
  made.add(0, new Map(others.rows.map(([row, value]) => [Number(row), [value].flat().map(String)])));
  await made.appendBuilt(connection, table);
}

/** Most texts repeat no term, and skipping the count for these halves the time. */
function postingsOf(column: Sql, rows: Sql): Sql {
  const texts = sql`(SELECT _row, ${asciiTermsSql(column)} AS terms FROM documents WHERE ${rows})`;
  const tokens = sql`unnest(terms) AS term, _row, generate_subscripts(terms, 1) AS position`;
  const again = sql`SELECT ${tokens}, len(terms) AS length FROM ${texts} WHERE list_unique(terms) < len(terms)`;
  return sql`SELECT ${tokens}, 1 AS frequency, len(terms) AS length FROM ${texts} WHERE list_unique(terms) = len(terms)
    UNION ALL ${countedPostings(again)}`;
}

/** Adds to tokens how often each occurs in its document. */
function countedPostings(tokens: Sql): Sql {
  return sql`SELECT term, _row, position,
      CASE WHEN row_number() OVER (PARTITION BY _row, term ORDER BY position) = 1
           THEN count(*) OVER (PARTITION BY _row, term) ELSE 0 END AS frequency,
      length
    FROM (${tokens})`;
}

function tokensOfList(column: Sql, rows: Sql): Sql {
  return sql`SELECT _row, unnest(terms) AS term, generate_subscripts(terms, 1) + before AS position, length
    FROM (SELECT _row, terms,
                 sum(len(terms)) OVER (PARTITION BY _row) AS length,
                 sum(len(terms)) OVER (PARTITION BY _row ORDER BY value) - len(terms)
                   + ${raw(String(VALUE_GAP))} * (value - 1) AS before
          FROM (SELECT _row, value, ${asciiTermsSql(raw("text"))} AS terms
                FROM (SELECT _row, unnest(${column}) AS text, generate_subscripts(${column}, 1) AS value
                      FROM documents WHERE ${rows})))`;
}

/** Ranges, each within a size, that cover the rows from `fromRow` on that satisfy a condition; they include other rows, too. */
async function piecesOf(
  connection: DuckDBConnection,
  field: Field,
  fromRow: number,
  condition: Sql,
  limit: PieceSize,
): Promise<RowRange[]> {
  const column = columnOf(field);
  const bytes = field.multi
    ? sql`list_sum(list_transform(${column}, text -> strlen(text)))`
    : sql`strlen(${column})`;
  const block = raw(String(BLOCK_ROWS));
  const { rows } = await read(
    connection,
    sql`SELECT _row // ${block} AS block, coalesce(sum(${bytes}), 0)::DOUBLE FROM documents
      WHERE _row >= ${BigInt(fromRow)} AND ${condition} GROUP BY 1 ORDER BY 1`,
  );
  const pieces: RowRange[] = [];
  let bytesOfPiece = 0;
  for (const [number, size] of rows) {
    const [first, end] = [Number(number) * BLOCK_ROWS, (Number(number) + 1) * BLOCK_ROWS];
    const last = pieces.at(-1);
    if (last && bytesOfPiece + Number(size) <= limit.bytes && end - last.first <= limit.rows) {
      last.end = end;
      bytesOfPiece += Number(size);
    } else {
      pieces.push({ first: Math.max(first, fromRow), end });
      bytesOfPiece = Number(size);
    }
  }
  return pieces;
}

/** Sorts a table of postings, in parts that each fit in memory. */
async function mergePostings(connection: DuckDBConnection, table: string): Promise<void> {
  const merged = `${table}_merged`;
  await createBuiltTable(connection, merged);
  const order = raw("term, _row, position");
  for (const part of await sortedParts(connection, identifier(table), { columns: ["term", "_row"] })) {
    await read(
      connection,
      sql`INSERT INTO ${identifier(merged)} SELECT * FROM ${identifier(table)} WHERE ${part} ORDER BY ${order}`,
    );
  }
  await read(connection, sql`DROP TABLE ${identifier(table)}`);
  await read(connection, sql`ALTER TABLE ${identifier(merged)} RENAME TO ${identifier(table)}`);
}

const SAMPLES_A_PART = 50;

/** How a relation is partitioned. */
export interface Cut {
  /** A prefix of the sort columns, long enough to separate parts. */
  readonly columns: readonly [string, ...string[]];
  /** The number of postings, as an aggregate; the number of rows when absent. */
  readonly size?: Sql;
  /** Postings of a part; `MERGE_POSTINGS` when absent. */
  readonly partSize?: number;
}

/** Predicates that partition a relation by ranges into parts of about one size, in ascending order. */
export async function sortedParts(
  connection: DuckDBConnection,
  relation: Sql,
  { columns: order, size = raw("count(*)"), partSize = MERGE_POSTINGS }: Cut,
): Promise<Sql[]> {
  const { rows: counted } = await read(connection, sql`SELECT ${size} FROM ${relation}`);
  const parts = Math.ceil(Number(counted[0]?.[0] ?? 0) / partSize);
  if (parts <= 1) return [raw("true")];
  const columns = joined(order.map(identifier), ", ");
  const { rows } = await read(
    connection,
    sql`SELECT ${columns} FROM (SELECT ${columns} FROM ${relation}
          USING SAMPLE reservoir(${raw(String(parts * SAMPLES_A_PART))} ROWS) REPEATABLE (1))
        ORDER BY ${columns}`,
  );
  const bounds = rows.filter((_, index) => index > 0 && index % SAMPLES_A_PART === 0);
  return [...bounds, undefined].map((to, index) => {
    const from = bounds[index - 1];
    return joined(
      [from ? rangeBound(order, from, ">=") : raw("true"), to ? rangeBound(order, to, "<") : raw("true")],
      " AND ",
    );
  });
}

/** A predicate: rows at or after a bound, or before it, in lexicographic order. */
function rangeBound(order: readonly string[], bound: readonly ResultValue[], comparison: ">=" | "<"): Sql {
  const strict = raw(comparison === ">=" ? ">" : "<");
  const [column = "", ...rest] = order;
  const name = identifier(column);
  const value = typeof bound[0] === "number" ? sql`CAST(${bound[0]} AS BIGINT)` : sql`${String(bound[0])}`;
  if (rest.length === 0) return sql`${name} ${raw(comparison)} ${value}`;
  // The first comparison lets DuckDB skip row groups; the second is exact.
  const loose = raw(comparison === ">=" ? ">=" : "<=");
  return sql`${name} ${loose} ${value} AND (${name} ${strict} ${value} OR ${rangeBound(rest, bound.slice(1), comparison)})`;
}
