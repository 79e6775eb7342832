/** Scans the text of a search for quotes, brackets and pipes: in one pass, without recursion. */
import { SplError } from "../spl-error.ts";
import type { Span } from "./ast.ts";

/** Deepest nesting of subsearches and parentheses. */
const MAX_DEPTH = 250;
/** Deepest nesting of subsearches: `max_subsearch_depth` of `limits.conf`. */
const MAX_SUBSEARCHES = 8;

export function parserError(message: string, at?: number): SplError {
  return new SplError(`Error in 'SearchParser': ${message}`, "dispatch", at);
}

/** The offset after the string that begins at `at`; -1 if it is unclosed. */
export function afterString(text: string, at: number, end = text.length): number {
  for (let index = at + 1; index < end; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === '"') return index + 1;
  }
  return -1;
}

/** Like `afterString`; `undefined` if no string begins at `at`. */
export function afterQuotes(text: string, at: number): number | undefined {
  return text[at] === '"' ? afterString(text, at) : undefined;
}

/** Unescapes `\"` and `\\`; other backslashes stay. */
export function unescapeQuotes(text: string): string {
  return text.includes("\\") ? text.replace(/\\(["\\])/g, "$1") : text;
}

/**
 * Checks that quotes and brackets are balanced and that nothing is nested too deeply. Unbalanced parentheses are left to the
 * commands.
 * @throws SplError
 */
export function checkBalance(text: string): void {
  const open: number[] = [];
  for (let index = 0; index < text.length; ) {
    const char = text[index];
    if (char === '"') {
      const after = afterString(text, index);
      if (after === -1) throw new SplError("Unbalanced quotes.", "dispatch", index);
      index = after;
      continue;
    }
    if (char === "[" || char === "(") {
      open.push(index);
      if (char === "[" && open.length > MAX_SUBSEARCHES && countSubsearches(text, open) > MAX_SUBSEARCHES) {
        throw parserError(
          `Cannot run this search as it contains too many nested subsearches. Maximum nested subsearches allowed: ${MAX_SUBSEARCHES}.`,
          index,
        );
      }
      if (open.length > MAX_DEPTH) {
        throw parserError(`The search is nested too deeply. There can be ${MAX_DEPTH} levels.`, index);
      }
    } else if (char === "]") {
      while (text[open.at(-1) ?? -1] === "(") open.pop();
      if (open.pop() === undefined) throw parserError("Mismatched ']'.", index);
    } else if (char === ")" && text[open.at(-1) ?? -1] === "(") {
      open.pop();
    }
    index += char === "\\" ? 2 : 1;
  }
  const last = open.findLast((at) => text[at] === "[");
  if (last !== undefined) throw parserError("Mismatched '['.", last);
}

/** Number of subsearches among these brackets. */
function countSubsearches(text: string, open: readonly number[]): number {
  return open.reduce((count, at) => count + (text[at] === "[" ? 1 : 0), 0);
}

/** The offset after the string that begins at `at`; the end for an unclosed one. */
function skipString(text: string, at: number, end: number): number {
  const after = afterString(text, at, end);
  return after === -1 ? end : after;
}

/** The offset of the `]` that closes the `[` at `at`. The text is balanced. */
export function closingBracket(text: string, at: number, end: number): number {
  let depth = 0;
  for (let index = at; index < end; ) {
    const char = text[index];
    if (char === '"') {
      index = skipString(text, index, end);
      continue;
    }
    if (char === "[") depth++;
    else if (char === "]" && --depth === 0) return index;
    index += char === "\\" ? 2 : 1;
  }
  throw parserError("Mismatched '['.", at);
}

/** The offset of the `)` that closes the `(` at `at`, or -1. Skips strings and brackets. */
export function closingParenthesis(text: string, at: number, end: number): number {
  let depth = 0;
  for (let index = at; index < end; ) {
    const char = text[index];
    if (char === '"' || char === "[") {
      index = char === "[" ? closingBracket(text, index, end) + 1 : skipString(text, index, end);
      continue;
    }
    if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return index;
    index += char === "\\" ? 2 : 1;
  }
  return -1;
}

/** Splits a pipeline at its pipes: n pipes give n + 1 pieces. */
export function splitAtPipes(text: string, { start, end }: Span): Span[] {
  const pieces: Span[] = [];
  let from = start;
  for (let index = start; index < end; ) {
    const char = text[index];
    if (char === '"' || char === "[") {
      index = char === "[" ? closingBracket(text, index, end) + 1 : skipString(text, index, end);
      continue;
    }
    if (char === "|") {
      pieces.push({ start: from, end: index });
      from = index + 1;
    }
    index += char === "\\" ? 2 : 1;
  }
  pieces.push({ start: from, end });
  return pieces;
}

/** Trims blanks. */
export function trimSpan(text: string, { start, end }: Span): Span {
  let from = start;
  let to = end;
  while (from < to && isSpace(text[from])) from++;
  while (to > from && isSpace(text[to - 1])) to--;
  return { start: from, end: to };
}

export function isSpace(char: string | undefined): boolean {
  return char !== undefined && char.trim() === "";
}

/** Prefixes a search with `search`, as Splunk's own pages do, unless it begins with `|` or `search`. */
export function withImplicitSearch(text: string): string {
  const query = text.trim();
  return query.startsWith("|") || /^search(?![^\s[("'])/i.test(query) ? query : `search ${query}`;
}
