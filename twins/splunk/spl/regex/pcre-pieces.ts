/** Pieces of a regular expression in the dialects of RE2 and JavaScript. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

/** A piece in both dialects; `undefined` where one cannot express it. */
export interface Piece {
  re2: string | undefined;
  js: string | undefined;
  /** No quantifier may follow. */
  bare?: true;
}

export const both = (text: string): Piece => ({ re2: text, js: text });
export const jsOnly = (js: string): Piece => ({ re2: undefined, js });

/** Escapes of character classes, valid inside and outside of brackets. */
export const classEscapes = lookupTable<Piece>({
  d: both("\\d"),
  D: both("\\D"),
  w: both("\\w"),
  W: both("\\W"),
  s: { re2: "\\s", js: "\\s" },
  S: { re2: "\\S", js: "\\S" },
});

/** Escapes of single characters. */
export const characterEscapes = lookupTable<string>({
  n: "\\n",
  r: "\\r",
  t: "\\t",
  f: "\\f",
  a: "\\x07",
  e: "\\x1b",
});

/** POSIX classes for JavaScript, without brackets. */
export const posixClasses = lookupTable<string>({
  alpha: "A-Za-z",
  digit: "0-9",
  alnum: "0-9A-Za-z",
  upper: "A-Z",
  lower: "a-z",
  space: "\\s",
  blank: " \\t",
  punct: "!-\\/:-@\\[-`{-~",
  xdigit: "0-9A-Fa-f",
  word: "\\w",
  cntrl: "\\x00-\\x1f\\x7f",
  print: "\\x20-\\x7e",
  graph: "\\x21-\\x7e",
});
/** Start and end of the whole text in JavaScript, in any mode. */
export const start = "(?<![\\s\\S])";
export const end = "(?![\\s\\S])";

/** Joins pieces; a dialect that lacks one of them lacks the whole. */
export function joinPieces(pieces: readonly Piece[], separator: string): Piece {
  const texts = (which: "re2" | "js") => {
    const all = pieces.map((piece) => piece[which]);
    return all.includes(undefined) ? undefined : all.join(separator);
  };
  return { re2: texts("re2"), js: texts("js") };
}

/** Wraps a piece in a non-capturing group. */
export function wrapPiece({ re2, js }: Piece): Piece {
  return {
    re2: re2 === undefined ? undefined : `(?:${re2})`,
    js: js === undefined ? undefined : `(?:${js})`,
  };
}

/** `i`, `-i`, or empty. */
export function caseFlag(on: string, off: string): string {
  if (on.includes("i")) return "i";
  return off.includes("i") ? "-i" : "";
}

export function literal(char: string): Piece {
  return both(/[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char);
}

export function bracketLiteral(char: string): string {
  return /[\\\]^[-]/.test(char) ? `\\${char}` : char;
}

export function escapedCode(code: number): string {
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return String.fromCharCode(code);
}

/** Assertions, and classes that are invalid or mean something else inside of brackets. */
export const escapesOutsideBrackets = lookupTable<Piece>({
  b: both("\\b"),
  B: both("\\B"),
  A: { re2: "\\A", js: start },
  z: { re2: "\\z", js: end },
  Z: { re2: "(?:\\n?\\z)", js: `(?=\\n?${end})` },
  h: both("[ \\t]"),
  H: both("[^ \\t]"),
  v: both("[\\n\\x0b\\f\\r]"),
  N: both("[^\\n]"),
  R: both("(?:\\r\\n|[\\n\\x0b\\f\\r])"),
});
