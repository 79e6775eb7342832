/**
 * The standard analyzer: words by Unicode's text segmentation, in lower case. One pattern serves the program and DuckDB
 * alike, so a query's terms and a document's are always cut the same way.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/analysis-standard-analyzer.html, https://unicode.org/reports/tr29/
 */
import { type Sql, sql } from "./sql.ts";

const letter = "[\\p{L}\\p{M}]";
const digit = "\\p{Nd}";
/** A letter or digit keeps what joins it to the next of its kind: `example.com`, `don't`, `1,000`. */
const WORD = `(?:${letter}(?:[.'’:·]${letter})*|${digit}(?:[.,;'’]${digit})*|_)+`;
const pattern = new RegExp(WORD, "gu");

export interface Token {
  term: string;
  /** Counted from 1, in tokens. */
  position: number;
  /** In characters of the text. */
  start: number;
  end: number;
}

export function analyze(text: string): Token[] {
  return [...text.toLowerCase().matchAll(pattern)].map((match, index) => ({
    term: match[0],
    position: index + 1,
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** The terms of a text column, as a LIST in their order. */
export function analyzedSql(text: Sql): Sql {
  return sql`regexp_extract_all(lower(${text}), ${WORD})`;
}
