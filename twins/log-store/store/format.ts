/** The names and versions in a store's file. Apart from `layout.ts`, so that importing them does not load DuckDB. */

import { identifier, joined, raw, type Sql, sql } from "../sql.ts";

/** Incremented when files of the previous version cannot be read any more. */
export const FORMAT_VERSION = 8;

/** Index of baseline rows that name none, unless another is configured. */
export const DEFAULT_INDEX = "logs";

/** The relation `term` with every term of a field: some more than once, and some that only removed documents had. */
export function wordsOf(postings: string): string {
  return `${postings}_words`;
}

/** The table that `buildPostings` writes. */
export function builtTable(postings: string): string {
  return `${postings}_built`;
}

/** The table of terms that `buildPostings` writes. */
export function builtWords(postings: string): string {
  return `${postings}_words_built`;
}

/** Identifies a field's postings in a relation that fields share. */
export function postingsNumber(postings: string): number {
  return Number(postings.slice(postings.lastIndexOf("_") + 1));
}

/** Columns of postings. */
export const postingColumns = raw("term, _row, position, frequency, length");

/**
 * The postings of several fields as one relation, with `field` (see `postingsNumber`) before the columns of postings: the built ones
 * and those written later, without those of removed documents. It scans the written postings once for all fields.
 * @param condition over these columns
 */
export function postingsOfFields(fields: readonly string[], condition: Sql): Sql {
  const built = fields.map(
    (one) =>
      sql`SELECT ${number(one)} AS field, ${postingColumns} FROM ${identifier(builtTable(one))} WHERE ${condition}`,
  );
  return sql`SELECT * FROM (${joined(built, " UNION ALL ")}
      UNION ALL SELECT field, ${postingColumns} FROM written_postings
        WHERE field IN (${joined(fields.map(number), ", ")}) AND ${condition}) AS posting
    ANTI JOIN removed_rows USING (_row)`;
}

/** The terms of several fields, `term`: some more than once, and some that only removed documents had. */
export function wordsOfFields(fields: readonly string[], condition: Sql): Sql {
  const built = fields.map((one) => sql`SELECT term FROM ${identifier(builtWords(one))} WHERE ${condition}`);
  return sql`${joined(built, " UNION ALL ")} UNION ALL SELECT term FROM written_postings
    WHERE field IN (${joined(fields.map(number), ", ")}) AND frequency > 0 AND ${condition}`;
}

function number(postings: string): Sql {
  return raw(String(postingsNumber(postings)));
}
