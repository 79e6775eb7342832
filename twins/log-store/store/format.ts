/** What others know of a store's file. It is apart from `layout.ts` so that whoever needs no more does not load DuckDB. */

import { identifier, joined, raw, type Sql, sql } from "../sql.ts";

/** Grows when a file of the version before cannot be read any more. */
export const FORMAT_VERSION = 8;

/** Index of a baseline's rows that have none of their own, where no other is configured. */
export const DEFAULT_INDEX = "logs";

/** A relation `term`: every word of a field, some more than once, and some that only removed documents had. */
export function wordsOf(postings: string): string {
  return `${postings}_words`;
}

/** Where `buildPostings` puts a field's. */
export function builtTable(postings: string): string {
  return `${postings}_built`;
}

/** Where `buildPostings` puts the words. */
export function builtWords(postings: string): string {
  return `${postings}_words_built`;
}

/** What tells a field's postings from those of others in a relation that they share. */
export function postingsNumber(postings: string): number {
  return Number(postings.slice(postings.lastIndexOf("_") + 1));
}

/** Columns of postings. */
export const postingColumns = raw("term, _row, position, frequency, length");

/**
 * The postings of several fields as one relation, with `field` (see `postingsNumber`) before the columns of postings: those that are
 * built, and those written later in one look, without those of removed documents.
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

/** The words of several fields, `term`, some more than once, and some that no document has any more. */
export function wordsOfFields(fields: readonly string[], condition: Sql): Sql {
  const built = fields.map((one) => sql`SELECT term FROM ${identifier(builtWords(one))} WHERE ${condition}`);
  return sql`${joined(built, " UNION ALL ")} UNION ALL SELECT term FROM written_postings
    WHERE field IN (${joined(fields.map(number), ", ")}) AND frequency > 0 AND ${condition}`;
}

function number(postings: string): Sql {
  return raw(String(postingsNumber(postings)));
}
