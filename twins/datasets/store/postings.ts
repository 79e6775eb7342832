/** Postings: which term stands where. Built in pieces that fit a small memory, then brought into one order. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { analyzedSql, isAnalyzedSql } from "../analysis.ts";
import { columnOf, type Field } from "../fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { read } from "./duckdb.ts";
import { builtTable, createBuiltTable } from "./layout.ts";
import type { ResultValue } from "./log-store.ts";
import { PostingRows, VALUE_GAP } from "./posting-rows.ts";

/** Rows and bytes of text that are analysed and sorted at once. */
const PIECE_ROWS = 65_536;
const PIECE_BYTES = 8 << 20;
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
  const pieces = await piecesOf(connection, field, fromRow);
  let ordered = fromRow === 0 && pieces.length <= 1;
  for (const piece of pieces) ordered = (await appendPostings(connection, field, table, piece)) && ordered;
  if (!ordered) await mergePostings(connection, table);
  await countTokens(connection, field, table);
}

async function countTokens(connection: DuckDBConnection, field: Field, postings: string): Promise<void> {
  // A text that has tokens has one at position 1; of a list, the first may have none.
  const lengths = field.multi
    ? sql`(SELECT DISTINCT _row, length FROM ${identifier(postings)})`
    : sql`(SELECT length FROM ${identifier(postings)} WHERE position = 1)`;
  await read(
    connection,
    sql`UPDATE field_statistics SET documents = counted.documents, tokens = counted.tokens
      FROM (SELECT count(*) AS documents, coalesce(sum(length), 0)::BIGINT AS tokens FROM ${lengths}) AS counted
      WHERE field = ${field.name}`,
  );
}

/** Rows from `first` up to `end`, without it. */
interface RowRange {
  first: number;
  end: number;
}

/**
 * Appends the postings of some rows, sorted among themselves: what DuckDB can analyse it does, the rest the program.
 * Answers whether that was all in one order.
 */
async function appendPostings(
  connection: DuckDBConnection,
  field: Field,
  table: string,
  { first, end }: RowRange,
): Promise<boolean> {
  const column = columnOf(field);
  const rows = sql`_row >= ${BigInt(first)} AND _row < ${BigInt(end)} AND ${column} IS NOT NULL`;
  const simple = field.multi
    ? sql`list_bool_and(list_transform(${column}, text -> ${isAnalyzedSql(raw("text"))}))`
    : isAnalyzedSql(column);
  const others = await read(
    connection,
    sql`SELECT _row, ${column} FROM documents WHERE ${rows} AND NOT coalesce(${simple}, true) ORDER BY _row`,
  );
  const simpleRows = others.rows.length > 0 ? sql`${rows} AND coalesce(${simple}, true)` : rows;
  const tokens = field.multi ? tokensOfList(column, simpleRows) : tokensOf(column, simpleRows);
  await read(
    connection,
    sql`INSERT INTO ${identifier(table)}
      SELECT term, _row, position,
             CASE WHEN row_number() OVER (PARTITION BY _row, term ORDER BY position) = 1
                  THEN count(*) OVER (PARTITION BY _row, term) ELSE 0 END,
             length
      FROM (${tokens})
      ORDER BY term, _row, position`,
  );
  const made = new PostingRows();
  made.add(0, new Map(others.rows.map(([row, value]) => [Number(row), [value].flat().map(String)])));
  await made.appendBuilt(connection, table);
  return made.size === 0;
}

function tokensOf(column: Sql, rows: Sql): Sql {
  return sql`SELECT _row, unnest(terms) AS term, generate_subscripts(terms, 1) AS position, len(terms) AS length
    FROM (SELECT _row, ${analyzedSql(column)} AS terms FROM documents WHERE ${rows})`;
}

function tokensOfList(column: Sql, rows: Sql): Sql {
  return sql`SELECT _row, unnest(terms) AS term, generate_subscripts(terms, 1) + before AS position, length
    FROM (SELECT _row, terms,
                 sum(len(terms)) OVER (PARTITION BY _row) AS length,
                 sum(len(terms)) OVER (PARTITION BY _row ORDER BY value) - len(terms)
                   + ${raw(String(VALUE_GAP))} * (value - 1) AS before
          FROM (SELECT _row, value, ${analyzedSql(raw("text"))} AS terms
                FROM (SELECT _row, unnest(${column}) AS text, generate_subscripts(${column}, 1) AS value
                      FROM documents WHERE ${rows})))`;
}

/** The rows from `fromRow` on in ranges that can be sorted in memory. */
async function piecesOf(connection: DuckDBConnection, field: Field, fromRow: number): Promise<RowRange[]> {
  const column = columnOf(field);
  const bytes = field.multi
    ? sql`list_sum(list_transform(${column}, text -> strlen(text)))`
    : sql`strlen(${column})`;
  const block = raw(String(BLOCK_ROWS));
  const { rows } = await read(
    connection,
    sql`SELECT _row // ${block} AS block, coalesce(sum(${bytes}), 0)::DOUBLE FROM documents
      WHERE _row >= ${BigInt(fromRow)} GROUP BY 1 ORDER BY 1`,
  );
  const pieces: RowRange[] = [];
  let bytesOfPiece = 0;
  for (const [number, size] of rows) {
    const [first, end] = [Number(number) * BLOCK_ROWS, (Number(number) + 1) * BLOCK_ROWS];
    const last = pieces.at(-1);
    if (last && bytesOfPiece + Number(size) <= PIECE_BYTES && end - last.first <= PIECE_ROWS) {
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
  for (const part of await sortedParts(connection, identifier(table), ["term", "_row"])) {
    await read(
      connection,
      sql`INSERT INTO ${identifier(merged)} SELECT * FROM ${identifier(table)} WHERE ${part} ORDER BY ${order}`,
    );
  }
  await read(connection, sql`DROP TABLE ${identifier(table)}`);
  await read(connection, sql`ALTER TABLE ${identifier(merged)} RENAME TO ${identifier(table)}`);
}

const SAMPLES_A_PART = 50;

/**
 * Predicates that cut a relation into parts of about `MERGE_POSTINGS`, each after the one before.
 * @param order the columns that it is to be ordered by: as many as tell parts from one another.
 */
export async function sortedParts(
  connection: DuckDBConnection,
  relation: Sql,
  order: readonly [string, ...string[]],
): Promise<Sql[]> {
  const { rows: counted } = await read(connection, sql`SELECT count(*) FROM ${relation}`);
  const parts = Math.ceil(Number(counted[0]?.[0] ?? 0) / MERGE_POSTINGS);
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
