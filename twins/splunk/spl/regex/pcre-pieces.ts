/** The pieces of a regular expression, as RE2 and this program write them. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

/** A piece as both write it, or one of them. */
export interface Piece {
  re2: string | undefined;
  js: string | undefined;
  /** Nothing that could be repeated. */
  bare?: true;
}

/** The same for both. */
export const both = (text: string): Piece => ({ re2: text, js: text });
/** What RE2 cannot do. */
export const jsOnly = (js: string): Piece => ({ re2: undefined, js });

/** What `\x` stands for outside and inside of brackets. */
export const classEscapes = lookupTable<Piece>({
  d: both("\\d"),
  D: both("\\D"),
  w: both("\\w"),
  W: both("\\W"),
  s: { re2: "\\s", js: "\\s" },
  S: { re2: "\\S", js: "\\S" },
});

/** Characters with a letter of their own. */
export const characterEscapes = lookupTable<string>({
  n: "\\n",
  r: "\\r",
  t: "\\t",
  f: "\\f",
  a: "\\x07",
  e: "\\x1b",
});

/** What is in `[:alpha:]` and its like. */
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
/** The beginning and the end of the whole text. */
export const start = "(?<![\\s\\S])";
export const end = "(?![\\s\\S])";

/** One after the other, or as alternatives; nothing where one of them is nothing. */
export function joined(pieces: readonly Piece[], separator: string): Piece {
  const texts = (which: "re2" | "js") => {
    const all = pieces.map((piece) => piece[which]);
    return all.includes(undefined) ? undefined : all.join(separator);
  };
  return { re2: texts("re2"), js: texts("js") };
}

/** As one, for what comes after. */
export function wrapped({ re2, js }: Piece): Piece {
  return {
    re2: re2 === undefined ? undefined : `(?:${re2})`,
    js: js === undefined ? undefined : `(?:${js})`,
  };
}

/** `i`, `-i`, or nothing. */
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

/** Places in a text, and classes of characters that mean something else between brackets, or nothing. */
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
