/**
 * Postings: which term stands where. Built where DuckDB may spill what it sorts to disk, so that most files are sorted in one go;
 * the texts of larger ones in pieces, which are then brought into one order.
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

/** How much text is worked on at once. */
interface PieceSize {
  rows: number;
  bytes: number;
}
/** What DuckDB analyses and sorts. */
const SORTED: PieceSize = { rows: 2_000_000, bytes: 128 << 20 };
/** What the program analyses, in its own memory. */
const ANALYSED: PieceSize = { rows: 65_536, bytes: 8 << 20 };
const BLOCK_ROWS = 2048;
/** Postings that are sorted at once when pieces are merged. */
const MERGE_POSTINGS = 1_000_000;

/** What is thrown away or taken again when a piece fails is the caller's: it holds the transaction. */
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
  const othersPieces = await piecesOf(connection, field, fromRow, others, ANALYSED);
  const pieces = await piecesOf(connection, field, fromRow, raw("true"), SORTED);
  const analysed = othersPieces.length === 0 ? raw("true") : sql`coalesce(${simple}, true)`;
  for (const piece of pieces) await appendAnalysed(connection, field, table, rowsOf(field, piece, analysed));
  for (const piece of othersPieces)
    await appendOthers(connection, field, table, rowsOf(field, piece, others));
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
  // A text that has tokens has one at position 1; of a list, the first may have none.
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

/** Rows from `first` up to `end`, without it. */
interface RowRange {
  first: number;
  end: number;
}

function rowsOf(field: Field, { first, end }: RowRange, condition: Sql): Sql {
  return sql`_row >= ${BigInt(first)} AND _row < ${BigInt(end)} AND ${columnOf(field)} IS NOT NULL AND ${condition}`;
}

/** Appends the postings of rows that DuckDB can analyse, sorted among themselves. */
async function appendAnalysed(
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

/** Appends the postings of rows that the program analyses. */
async function appendOthers(
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

/** Most texts have no word twice: nothing is counted in these, which takes half the time. */
function postingsOf(column: Sql, rows: Sql): Sql {
  const texts = sql`(SELECT _row, ${asciiTermsSql(column)} AS terms FROM documents WHERE ${rows})`;
  const tokens = sql`unnest(terms) AS term, _row, generate_subscripts(terms, 1) AS position`;
  const again = sql`SELECT ${tokens}, len(terms) AS length FROM ${texts} WHERE list_unique(terms) < len(terms)`;
  return sql`SELECT ${tokens}, 1 AS frequency, len(terms) AS length FROM ${texts} WHERE list_unique(terms) = len(terms)
    UNION ALL ${countedPostings(again)}`;
}

/** Tokens with how often each is in its document. */
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

/** The rows from `fromRow` on that a condition holds for, in ranges of at most some size; a range holds others, too. */
async function piecesOf(
  connection: DuckDBConnection,
  field: Field,
  fromRow: number,
  condition: Sql,
  most: PieceSize,
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
    if (last && bytesOfPiece + Number(size) <= most.bytes && end - last.first <= most.rows) {
      last.end = end;
      bytesOfPiece += Number(size);
    } else {
      pieces.push({ first: Math.max(first, fromRow), end });
      bytesOfPiece = Number(size);
    }
  }
  return pieces;
}

/** Brings a whole table of postings into order, part by part, so that no part is larger than memory. */
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

/** How a relation is cut into parts. */
export interface Cut {
  /** Those that it is to be ordered by: as many as tell parts from one another. */
  readonly columns: readonly [string, ...string[]];
  /** How many postings it has, as an aggregate; as many as rows when absent. */
  readonly size?: Sql;
  /** Postings of a part; `MERGE_POSTINGS` when absent. */
  readonly most?: number;
}

/** Predicates that cut a relation into parts of about one size, each after the one before. */
export async function sortedParts(
  connection: DuckDBConnection,
  relation: Sql,
  { columns: order, size = raw("count(*)"), most = MERGE_POSTINGS }: Cut,
): Promise<Sql[]> {
  const { rows: counted } = await read(connection, sql`SELECT ${size} FROM ${relation}`);
  const parts = Math.ceil(Number(counted[0]?.[0] ?? 0) / most);
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
      [from ? beyond(order, from, ">=") : raw("true"), to ? beyond(order, to, "<") : raw("true")],
      " AND ",
    );
  });
}

/** Rows at or after a bound, or before it, in lexical order. */
function beyond(order: readonly string[], bound: readonly ResultValue[], comparison: ">=" | "<"): Sql {
  const strict = raw(comparison === ">=" ? ">" : "<");
  const [column = "", ...rest] = order;
  const name = identifier(column);
  const value = typeof bound[0] === "number" ? sql`CAST(${bound[0]} AS BIGINT)` : sql`${String(bound[0])}`;
  if (rest.length === 0) return sql`${name} ${raw(comparison)} ${value}`;
  // The first comparison lets whole row groups be passed over; the second cuts what spans two parts.
  const loose = raw(comparison === ">=" ? ">=" : "<=");
  return sql`${name} ${loose} ${value} AND (${name} ${strict} ${value} OR ${beyond(rest, bound.slice(1), comparison)})`;
}
