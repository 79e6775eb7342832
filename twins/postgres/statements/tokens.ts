/** A tokenizer of SQL, just enough to tell literals from names. Source: "Lexical Structure" of the Postgres manual. */

export interface Token {
  /** A `word` is a name or a keyword; a `sign` is one character of anything else. */
  kind: "word" | "literal" | "parameter" | "sign";
  start: number;
  /** After its last character. */
  end: number;
}

/** Skips comments and spaces. An unterminated literal extends to the end of the text. */
export function* tokensOf(text: string): Generator<Token> {
  let start = 0;
  while (start < text.length) {
    const token = tokenAt(text, start);
    if (token.kind !== "gap") yield { kind: token.kind, start, end: token.end };
    start = token.end;
  }
}

type Found = { kind: Token["kind"] | "gap"; end: number };

function tokenAt(text: string, at: number): Found {
  const first = text.charAt(at);
  if (first.trim() === "") return { kind: "gap", end: at + 1 };
  if (text.startsWith("--", at)) return { kind: "gap", end: after(text, "\n", at) };
  if (text.startsWith("/*", at)) return { kind: "gap", end: endOfComment(text, at) };
  if (first === "'") return { kind: "literal", end: endOfQuoted(text, at) };
  if (first === '"') return { kind: "word", end: endOfQuoted(text, at) };
  if (first === "$") return dollar(text, at);
  if (isLetter(first)) return word(text, at);
  return { kind: "sign", end: at + 1 };
}

function word(text: string, at: number): Found {
  let end = at;
  while (end < text.length && (isLetter(text.charAt(end)) || isDigit(text.charAt(end)))) end++;
  const prefix = text.slice(at, end).toLowerCase();
  if (prefix === "e" && text.charAt(end) === "'") {
    return { kind: "literal", end: endOfQuoted(text, end, "\\") };
  }
  return { kind: "word", end };
}

/** `$1`, or a literal between two equal tags: `$$…$$`, `$tag$…$tag$`. */
function dollar(text: string, at: number): Found {
  let end = at + 1;
  while (isDigit(text.charAt(end))) end++;
  if (end > at + 1) return { kind: "parameter", end };
  while (isLetter(text.charAt(end)) || isDigit(text.charAt(end))) end++;
  if (text.charAt(end) !== "$") return { kind: "sign", end: at + 1 };
  const tag = text.slice(at, end + 1);
  return { kind: "literal", end: after(text, tag, end + 1) };
}

/** A quote inside is doubled, or follows `escapedBy`. */
function endOfQuoted(text: string, at: number, escapedBy?: string): number {
  const quote = text.charAt(at);
  let end = at + 1;
  while (end < text.length) {
    const here = text.charAt(end);
    if (here === escapedBy) end += 2;
    else if (here !== quote) end++;
    else if (text.charAt(end + 1) === quote) end += 2;
    else return end + 1;
  }
  return text.length;
}

/** Comments nest. */
function endOfComment(text: string, at: number): number {
  let depth = 0;
  let end = at;
  while (end < text.length) {
    const pair = text.slice(end, end + 2);
    if (pair === "/*") depth++;
    if (pair === "*/") depth--;
    end += pair === "/*" || pair === "*/" ? 2 : 1;
    if (depth === 0) return end;
  }
  return text.length;
}

function after(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from);
  return found === -1 ? text.length : found + what.length;
}

function isLetter(character: string): boolean {
  const lower = character.toLowerCase();
  return (lower >= "a" && lower <= "z") || character === "_" || character > "\u007f";
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}
