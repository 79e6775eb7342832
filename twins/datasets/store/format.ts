/** What others know of a store's file. It is apart from `layout.ts` so that whoever needs no more does not load DuckDB. */

/** Grows when a file of the version before cannot be read any more. */
export const FORMAT_VERSION = 7;

/** Index of a baseline's rows that have none of their own, where no other is configured. */
export const DEFAULT_INDEX = "logs";

/** A relation `term`: every word of a field, some more than once, and some that only removed documents had. */
export function wordsOf(postings: string): string {
  return `${postings}_words`;
}
