/** Postings: which term stands where. Built in pieces that fit a small memory, then brought into one order. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { analyzedSql } from "../analysis.ts";
import { columnOf, type Field } from "../fields.ts";
import { identifier, raw, type Sql, sql } from "../sql.ts";
import { read } from "./duckdb.ts";
import { createPostings } from "./layout.ts";

/** How far the values of a list are apart: the vendor's `position_increment_gap`. */
export const VALUE_GAP = 100;
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
  const pieces = await piecesOf(connection, field, fromRow);
  for (const piece of pieces) await appendPostings(connection, field, field.postings, piece);
  if (fromRow > 0 || pieces.length > 1) await mergePostings(connection, field.postings);
  await countTokens(connection, field, field.postings);
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
export interface RowRange {
  first: number;
  end: number;
}

/** Appends the postings of some rows, sorted among themselves. */
export async function appendPostings(
  connection: DuckDBConnection,
  field: Field,
  postings: string,
  { first, end }: RowRange,
): Promise<void> {
  const rows = sql`_row >= ${BigInt(first)} AND _row < ${BigInt(end)} AND ${columnOf(field)} IS NOT NULL`;
  const tokens = field.multi ? tokensOfList(columnOf(field), rows) : tokensOf(columnOf(field), rows);
  await read(
    connection,
    sql`INSERT INTO ${identifier(postings)}
      SELECT term, _row, position,
             CASE WHEN row_number() OVER (PARTITION BY _row, term ORDER BY position) = 1
                  THEN count(*) OVER (PARTITION BY _row, term) ELSE 0 END,
             length
      FROM (${tokens})
      ORDER BY term, _row, position`,
  );
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
export async function mergePostings(connection: DuckDBConnection, postings: string): Promise<void> {
  const merged = `${postings}_merged`;
  await createPostings(connection, merged);
  const bounds = await boundsOf(connection, postings);
  for (let index = 0; index <= bounds.length; index++) {
    const from = bounds[index - 1];
    const to = bounds[index];
    // The plain comparisons let whole row groups be passed over; the others cut a term that spans two parts.
    const after = from
      ? sql`term >= ${from.term} AND (term > ${from.term} OR _row >= ${from.row})`
      : sql`true`;
    const before = to ? sql`term <= ${to.term} AND (term < ${to.term} OR _row < ${to.row})` : sql`true`;
    await read(
      connection,
      sql`INSERT INTO ${identifier(merged)} SELECT * FROM ${identifier(postings)}
        WHERE ${after} AND ${before} ORDER BY term, _row, position`,
    );
  }
  await read(connection, sql`DROP TABLE ${identifier(postings)}`);
  await read(connection, sql`ALTER TABLE ${identifier(merged)} RENAME TO ${identifier(postings)}`);
}

/** Postings that cut the table into parts of about `MERGE_POSTINGS`, in order. */
async function boundsOf(
  connection: DuckDBConnection,
  postings: string,
): Promise<{ term: string; row: bigint }[]> {
  const { rows: counted } = await read(connection, sql`SELECT count(*) FROM ${identifier(postings)}`);
  const parts = Math.ceil(Number(counted[0]?.[0] ?? 0) / MERGE_POSTINGS);
  if (parts <= 1) return [];
  const { rows } = await read(
    connection,
    sql`SELECT term, _row FROM (SELECT term, _row FROM ${identifier(postings)}
          USING SAMPLE reservoir(${raw(String(parts * 50))} ROWS) REPEATABLE (1))
        ORDER BY term, _row`,
  );
  return rows
    .filter((_, index) => index > 0 && index % 50 === 0)
    .map(([term, row]) => ({ term: String(term), row: BigInt(Number(row)) }));
}
