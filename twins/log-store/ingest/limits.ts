/** Bounds of a dataset. */

/** Most fields: each is a column, and each text has postings of its own. */
export const MOST_FIELDS = 1000;

/** Deepest nesting of an event, lists counted too. */
export const MOST_DEPTH = 100;
