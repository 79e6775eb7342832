/**
 * The standard analyzer: words in lower case, of at most 255 characters. One pattern that JavaScript and DuckDB read alike splits ASCII
 * texts; this program alone splits the others. So the terms of queries and documents always agree.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/analysis-standard-analyzer.html
 */
import { raw, type Sql, sql } from "../sql.ts";
import { ASCII_WORD, unicodeWords } from "./word-pattern.ts";

/** The vendor's `max_token_length`, in UTF-16 units; longer words are split. */
const MAX_TOKEN_LENGTH = 255;

export interface Token {
  term: string;
  /** From 1, in tokens. */
  position: number;
  /** Offset in UTF-16 units. */
  start: number;
  end: number;
}

/** A word that starts after `_` was matched with it, so the lookbehind scans a long run of them once. */
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
    } else splitLongWord(term, index, words, tokens);
  }
  return tokens;
}

/** Splits a long word as the vendor does: it finds the first word in at most 255 characters, and continues after it. */
function splitLongWord(term: string, start: number, words: RegExp, tokens: Token[]): void {
  for (let at = 0; at < term.length; ) {
    const whole = term.slice(at, at + MAX_TOKEN_LENGTH);
    // A surrogate pair is not split.
    const piece = highSurrogate.test(whole) ? whole.slice(0, -1) : whole;
    const [found] = piece.matchAll(words);
    if (!found) return;
    const from = start + at + found.index;
    tokens.push({ term: found[0], position: tokens.length + 1, start: from, end: from + found[0].length });
    at += found.index + found[0].length;
  }
}

/** Lower-cases character by character, as the vendor does: without a final sigma, and no character becomes two. */
function lowerCase(text: string): string {
  return text.replace(/\P{ASCII}|[A-Z]+/gu, (found) => (found === "\u0130" ? "i" : found.toLowerCase()));
}

/** Approximates `unicodeWords` for RE2, without the rules of every script. */
const APPROXIMATE_WORD =
  "[\\p{Han}\\p{Hiragana}]\\p{M}*|(?:[\\p{L}\\p{M}](?:[.'’:·][\\p{L}\\p{M}])*|\\p{Nd}(?:[.,;'’]\\p{Nd})*|_)*[\\p{L}\\p{Nd}][\\p{M}_]*";

/**
 * The terms of a text column for which `isAnalyzedSql` holds, as a LIST in their order. The pattern has no Unicode classes: compiling
 * these takes longer than matching a thousand texts.
 */
export function asciiTermsSql(text: Sql): Sql {
  return sql`regexp_extract_all(lower(${text}), ${ASCII_WORD})`;
}

/** The terms of any text column: as by `analyze` where `isAnalyzedSql` holds, else approximate. */
export function termsSql(text: Sql): Sql {
  return sql`CASE WHEN strlen(${text}) = length(${text}) THEN ${asciiTermsSql(text)}
    ELSE regexp_extract_all(lower(${text}), ${APPROXIMATE_WORD}) END`;
}

/** Whether `termsSql` is exact for a text; only `analyze` is for the others. Never NULL. */
export function isAnalyzedSql(text: Sql): Sql {
  const long = raw(String(MAX_TOKEN_LENGTH + 1));
  return sql`coalesce(strlen(${text}) = length(${text})
    AND (strlen(${text}) < ${long} OR NOT regexp_matches(${text}, '[!-~]{${long}}')), true)`;
}
