/** What the text of a search is cut at: quotes, brackets, pipes. All of it in one go over the text, without recursion. */
import { SplError } from "../spl-error.ts";
import type { Span } from "./ast.ts";

/** Subsearches and parentheses in each other. */
const maxDepth = 250;
/** Subsearches in each other: `limits.conf`, `max_subsearch_depth`. */
const maxSubsearches = 8;

export function parserError(message: string, at?: number): SplError {
  return new SplError(`Error in 'SearchParser': ${message}`, "dispatch", at);
}

/** Where the text in double quotes that begins at `at` ends, after its closing quote; -1 when it does not. */
export function afterString(text: string, at: number, end = text.length): number {
  for (let index = at + 1; index < end; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === '"') return index + 1;
  }
  return -1;
}

/** The same where quotes may begin; `undefined` where none do. */
export function afterQuotes(text: string, at: number): number | undefined {
  return text[at] === '"' ? afterString(text, at) : undefined;
}

/** What stands between double quotes, with `\"` and `\\` undone; other backslashes stay. */
export function unescaped(text: string): string {
  return text.includes("\\") ? text.replace(/\\(["\\])/g, "$1") : text;
}

/**
 * Whether every quote and bracket has its other half, and nothing is nested too deeply. Parentheses count for the depth alone: where
 * they must have another half is for the commands to say.
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
      if (char === "[" && open.length > maxSubsearches && nested(text, open) > maxSubsearches) {
        throw parserError(
          `Cannot run this search as it contains too many nested subsearches. Maximum nested subsearches allowed: ${maxSubsearches}.`,
          index,
        );
      }
      if (open.length > maxDepth) {
        throw parserError(`The search is nested too deeply. There can be ${maxDepth} levels.`, index);
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

/** How many of these brackets are those of subsearches. */
function nested(text: string, open: readonly number[]): number {
  return open.reduce((count, at) => count + (text[at] === "[" ? 1 : 0), 0);
}

/** The offset behind the quoted text that begins at `at`; one that is not closed goes to the end. */
function behindString(text: string, at: number, end: number): number {
  const after = afterString(text, at, end);
  return after === -1 ? end : after;
}

/** The offset of the `]` that closes the `[` at `at`. The text is balanced. */
export function closingBracket(text: string, at: number, end: number): number {
  let depth = 0;
  for (let index = at; index < end; ) {
    const char = text[index];
    if (char === '"') {
      index = behindString(text, index, end);
      continue;
    }
    if (char === "[") depth++;
    else if (char === "]" && --depth === 0) return index;
    index += char === "\\" ? 2 : 1;
  }
  throw parserError("Mismatched '['.", at);
}

/** The offset of the `)` that closes the `(` at `at`, or -1. Quoted text and brackets are passed over. */
export function closingParenthesis(text: string, at: number, end: number): number {
  let depth = 0;
  for (let index = at; index < end; ) {
    const char = text[index];
    if (char === '"' || char === "[") {
      index = char === "[" ? closingBracket(text, index, end) + 1 : behindString(text, index, end);
      continue;
    }
    if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return index;
    index += char === "\\" ? 2 : 1;
  }
  return -1;
}

/** The pieces between the pipes of one pipeline; with n pipes there are n + 1. */
export function betweenPipes(text: string, { start, end }: Span): Span[] {
  const pieces: Span[] = [];
  let from = start;
  for (let index = start; index < end; ) {
    const char = text[index];
    if (char === '"' || char === "[") {
      index = char === "[" ? closingBracket(text, index, end) + 1 : behindString(text, index, end);
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

/** Without the blanks at its ends. */
export function trimmed(text: string, { start, end }: Span): Span {
  let from = start;
  let to = end;
  while (from < to && isSpace(text[from])) from++;
  while (to > from && isSpace(text[to - 1])) to--;
  return { start: from, end: to };
}

export function isSpace(char: string | undefined): boolean {
  return char !== undefined && char.trim() === "";
}

/** A search as people write it, with `search` in front unless it begins with a command: what Splunk's own pages send. */
export function withImplicitSearch(text: string): string {
  const query = text.trim();
  return query.startsWith("|") || /^search(?![^\s[("'])/i.test(query) ? query : `search ${query}`;
}
