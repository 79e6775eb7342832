/** Lexemes of search expressions: words, values, symbols. What counts as a word depends on the position. */
import type { Comparator, SearchValue } from "./ast.ts";
import { afterString, isSpace, unescapeQuotes } from "./text.ts";

export type Lexeme =
  | { type: "word"; text: string; quoted: boolean; start: number; end: number }
  | { type: "symbol"; text: string; start: number; end: number }
  | { type: "end"; text: ""; start: number; end: number };

const comparator = /==|!=|<=|>=|=|<|>|::/y;
/** A term or a name; a comparator ends it. */
export const termPattern = /(?:[^\s"()[\]=<>!,:\\]+|\\.|!(?!=)|:(?!:))+|\\/sy;
/** A value after a comparator, which may contain further comparators and commas. */
export const valuePattern = /(?:[^\s"()[\]\\]+|\\.)+|\\/sy;
/** A value in the list of IN. */
export const listValuePattern = /(?:[^\s"()[\]\\,]+|\\.)+|\\/sy;

/** Reads the lexeme at an offset. @param pattern of an unquoted word @returns `undefined` for unbalanced quotes */
export function lexemeAt(text: string, offset: number, limit: number, pattern: RegExp): Lexeme | undefined {
  let start = offset;
  while (start < limit && isSpace(text[start])) start++;
  if (start >= limit) return { type: "end", text: "", start: limit, end: limit };
  const char = text.charAt(start);
  if (char === '"') {
    const end = afterString(text, start, limit);
    if (end === -1) return undefined;
    return { type: "word", quoted: true, text: text.slice(start + 1, end - 1), start, end };
  }
  const symbol = pattern === termPattern ? matchAt(comparator, text, start) : undefined;
  if (symbol !== undefined) return { type: "symbol", text: symbol, start, end: start + symbol.length };
  const matched = matchAt(pattern, text, start);
  if (matched === undefined) return { type: "symbol", text: char, start, end: start + 1 };
  const end = Math.min(limit, start + matched.length);
  return { type: "word", quoted: false, text: text.slice(start, end), start, end };
}

export function isOperator(lexeme: Lexeme, ...operators: string[]): boolean {
  return lexeme.type === "word" && !lexeme.quoted && operators.includes(lexeme.text);
}

export function isWord(lexeme: Lexeme, word: string): boolean {
  return lexeme.type === "word" && !lexeme.quoted && lexeme.text.toUpperCase() === word;
}

export function isComma(lexeme: Lexeme): boolean {
  return lexeme.type === "symbol" && lexeme.text === ",";
}

export function comparatorOf(text: string): Comparator | undefined {
  if (text === "==" || text === "::") return "=";
  const known: readonly Comparator[] = ["=", "!=", "<", "<=", ">", ">="];
  return known.find((comparator) => comparator === text);
}

export function searchValue(lexeme: Lexeme): SearchValue {
  const quoted = lexeme.type === "word" && lexeme.quoted;
  return { text: unescapeQuotes(lexeme.text), quoted };
}

export function nameOf(lexeme: Lexeme): string {
  const name = unescapeQuotes(lexeme.text);
  return /^'.+'$/s.test(name) ? name.slice(1, -1) : name;
}

export function quotedName(name: string): string {
  return /^[\w.{}:@-]+$/.test(name) ? name : `"${name.replace(/["\\]/g, "\\$&")}"`;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
