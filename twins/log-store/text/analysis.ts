/**
 * The standard analyzer: words, in lower case, of at most 255 characters. Texts of ASCII are cut by one pattern that the program and
 * DuckDB read alike; all others by the program alone, so that a query's terms and a document's are always cut the same way.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/analysis-standard-analyzer.html
 */
import { raw, type Sql, sql } from "../sql.ts";
import { ASCII_WORD, unicodeWords } from "./word-pattern.ts";

/** The vendor's `max_token_length`, in UTF-16 units; what is longer is cut. */
const MAX_TOKEN_LENGTH = 255;

export interface Token {
  term: string;
  /** Counted from 1, in tokens. */
  position: number;
  /** In UTF-16 units of the text. */
  start: number;
  end: number;
}

/** What begins after `_` has been looked at with it: a long run of them is gone through once. */
const asciiWords = new RegExp(`(?<!_)${ASCII_WORD}`, "g");
const highSurrogate = /[\ud800-\udbff]$/;
const notAscii = /\P{ASCII}/u;

export function analyze(text: string): Token[] {
  const isAscii = !notAscii.test(text);
  const lower = isAscii ? text.toLowerCase() : lowerCase(text);
  const words = isAscii ? asciiWords : unicodeWords();
  const tokens: Token[] = [];
  for (const { 0: term, index } of lower.matchAll(words)) {
    if (term.length <= MAX_TOKEN_LENGTH) {
      tokens.push({ term, position: tokens.length + 1, start: index, end: index + term.length });
    } else cutLong(term, index, words, tokens);
  }
  return tokens;
}

/** The vendor reads at most 255 characters at once: the longest word in them, then goes on after it. */
function cutLong(term: string, start: number, words: RegExp, tokens: Token[]): void {
  for (let at = 0; at < term.length; ) {
    const whole = term.slice(at, at + MAX_TOKEN_LENGTH);
    // Half of a character is left for the next.
    const piece = highSurrogate.test(whole) ? whole.slice(0, -1) : whole;
    const [found] = piece.matchAll(words);
    if (!found) return;
    const from = start + at + found.index;
    tokens.push({ term: found[0], position: tokens.length + 1, start: from, end: from + found[0].length });
    at += found.index + found[0].length;
  }
}

/** Character by character, as the vendor does: a sigma at the end of a word is like any other, and no character becomes two. */
function lowerCase(text: string): string {
  return text.replace(/\P{ASCII}|[A-Z]+/gu, (found) => (found === "\u0130" ? "i" : found.toLowerCase()));
}

/** Near enough where the program itself cannot be asked: it does not know every rule of every script. */
const NEAR_WORD =
  "[\\p{Han}\\p{Hiragana}]\\p{M}*|(?:[\\p{L}\\p{M}](?:[.'’:·][\\p{L}\\p{M}])*|\\p{Nd}(?:[.,;'’]\\p{Nd})*|_)*[\\p{L}\\p{Nd}][\\p{M}_]*";

/**
 * The terms of a text column for which `isAnalyzedSql` holds, as a LIST in their order. A pattern without classes of Unicode, which
 * take longer to compile than a thousand texts to read.
 */
export function asciiTermsSql(text: Sql): Sql {
  return sql`regexp_extract_all(lower(${text}), ${ASCII_WORD})`;
}

/** The terms of any text column: those that `analyze` finds where `isAnalyzedSql` holds, and near to them elsewhere. */
export function analyzedSql(text: Sql): Sql {
  return sql`CASE WHEN strlen(${text}) = length(${text}) THEN ${asciiTermsSql(text)}
    ELSE regexp_extract_all(lower(${text}), ${NEAR_WORD}) END`;
}

/** Whether `analyzedSql` gives a text's terms; the others are to be analysed by `analyze`. Never NULL. */
export function isAnalyzedSql(text: Sql): Sql {
  const long = raw(String(MAX_TOKEN_LENGTH + 1));
  return sql`coalesce(strlen(${text}) = length(${text})
    AND (strlen(${text}) < ${long} OR NOT regexp_matches(${text}, '[!-~]{${long}}')), true)`;
}
