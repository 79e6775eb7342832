/**
 * The tokens of Lucene's classic query syntax.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-query-string-query.html#query-string-syntax
 */

export type Token =
  /** The text includes its escapes. */
  | { readonly kind: "term" | "prefix" | "wildcard"; readonly text: string; readonly column: number }
  /** Without its quotes or slashes. */
  | { readonly kind: "quoted" | "regexp"; readonly text: string; readonly column: number }
  /** The opening bracket; `Lexer.range` reads the rest. */
  | { readonly kind: "range"; readonly includeLower: boolean; readonly column: number }
  /** A sign followed by a space, which makes it a word. */
  | { readonly kind: "bare"; readonly text: string; readonly column: number }
  /** `^2` */
  | { readonly kind: "boost"; readonly boost: number; readonly column: number }
  /** The text behind `~`, possibly empty. */
  | { readonly kind: "tilde"; readonly text: string; readonly column: number }
  /** `AND` or `&&`, … */
  | { readonly kind: "and" | "or" | "not"; readonly text: string; readonly column: number }
  | {
      readonly kind: "plus" | "minus" | "open" | "close" | "colon" | "star" | "end";
      readonly column: number;
    };

export interface RangeToken {
  readonly lower: string;
  readonly upper: string;
  readonly includeLower: boolean;
  readonly includeUpper: boolean;
}

interface RangeWord {
  readonly kind: "to" | "quoted" | "goop";
  /** Without its quotes. */
  readonly text: string;
  readonly column: number;
}

/** Lexical states of the vendor's grammar, by their numbers in errors. */
const BOOST = 0;
const WORDS = 2;

/** A syntax error in a query string. */
export class QuerySyntaxError extends Error {
  /** The vendor's type of the error. */
  readonly type: "parse_exception" | "token_mgr_error";

  constructor(reason: string, type: QuerySyntaxError["type"] = "parse_exception") {
    super(reason);
    this.type = type;
  }

  /** @param column from 0 */
  static encountered(what: string, column: number): QuerySyntaxError {
    return new QuerySyntaxError(`Encountered "${what}" at line 1, column ${column}.`);
  }

  /**
   * The error for an invalid start of a token, or for a token without an end.
   * @param at from 0; an invalid last character is reported as the end of the text
   * @param after the part of the token that was read
   */
  static lexical(text: string, at: number, { after = "", state = WORDS } = {}): QuerySyntaxError {
    const code = at + 1 < text.length ? text.charCodeAt(at) : undefined;
    const found = code === undefined ? "<EOF>" : `'${code}' (${code}),`;
    const column = code === undefined ? text.length + 1 : at + 1;
    const prefix = after.length < 2 ? "" : ` after prefix "${after.replace(/["\\]/g, "\\$&")}"`;
    const place = state === BOOST ? "" : ` (in lexical state ${state})`;
    return new QuerySyntaxError(
      `Lexical error at line 1, column ${column}.  Encountered: ${found}${prefix}${place}`,
      "token_mgr_error",
    );
  }
}

const SPACE = /[ \t\n\r\u3000]/;
/** Characters that end a term, unless escaped. `+` and `-` cannot begin a term, but do not end one. */
const SPECIAL = /[ \t\n\r\u3000!():^[\]"{}~*?\\/]/;
/** The same without the wildcards. */
const SPECIAL_IN_PATTERN = /[ \t\n\r\u3000!():^[\]"{}~\\/]/;

/** The two kinds of words inside a range; the longer match wins. */
const BOUND_WORD = /[^ \]}]+/y;
const QUOTED_BOUND = /"(?:[^"\\]|\\[\s\S])+"/y;

/** Reads token by token, so that errors appear only when the parser reaches them. */
export class Lexer {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @throws QuerySyntaxError */
  next(): Token {
    while (SPACE.test(this.#peek())) this.#at++;
    const column = this.#at;
    if (column >= this.#text.length) return { kind: "end", column };
    const character = this.#peek();
    const pair = this.#text.slice(column, column + 2);
    if (pair === "&&" || pair === "||") {
      this.#at += 2;
      return { kind: pair === "&&" ? "and" : "or", text: pair, column };
    }
    switch (character) {
      case "(":
        return this.#sign("open");
      case ")":
        return this.#sign("close");
      case ":":
        return this.#sign("colon");
      case "+":
      case "-":
      case "!":
        return this.#modifier(character);
      case '"':
        return { kind: "quoted", text: this.#delimitedText('"'), column };
      case "/":
        return { kind: "regexp", text: this.#delimitedText("/"), column };
      case "[":
      case "{":
        this.#at++;
        return { kind: "range", includeLower: character === "[", column };
      case "^":
        return { kind: "boost", boost: this.#boost(), column };
      case "~":
        this.#at++;
        return { kind: "tilde", text: this.#word(SPECIAL), column };
      case "]":
      case "}":
        throw QuerySyntaxError.lexical(this.#text, column);
      default:
        return this.#term(column);
    }
  }

  #sign(kind: "open" | "close" | "colon"): Token {
    return { kind, column: this.#at++ };
  }

  #modifier(character: string): Token {
    const column = this.#at++;
    if (SPACE.test(this.#peek())) return { kind: "bare", text: character, column };
    if (character === "!") return { kind: "not", text: character, column };
    return { kind: character === "+" ? "plus" : "minus", column };
  }

  #term(column: number): Token {
    const text = this.#word(SPECIAL_IN_PATTERN);
    if (text === "") throw QuerySyntaxError.lexical(this.#text, this.#at);
    if (text === "*") return { kind: "star", column };
    if (text === "AND") return { kind: "and", text, column };
    if (text === "OR") return { kind: "or", text, column };
    if (text === "NOT") return { kind: "not", text, column };
    const pattern = unescapedPattern(text);
    return { kind: pattern === "none" ? "term" : pattern, text, column };
  }

  /** @param end what ends the word, unless escaped @returns the text with its escapes */
  #word(end: RegExp): string {
    const from = this.#at;
    while (this.#at < this.#text.length) {
      const character = this.#peek();
      if (character === "\\") {
        if (this.#at + 1 >= this.#text.length) {
          throw QuerySyntaxError.lexical(this.#text, this.#text.length);
        }
        this.#at += 2;
      } else if (end.test(character)) break;
      else this.#at++;
    }
    return this.#text.slice(from, this.#at);
  }

  #delimitedText(end: string): string {
    const from = ++this.#at;
    while (this.#at < this.#text.length) {
      const character = this.#peek();
      if (character === end) return this.#text.slice(from, this.#at++);
      this.#at += character === "\\" ? 2 : 1;
    }
    throw QuerySyntaxError.lexical(this.#text, this.#text.length, { after: this.#text.slice(from - 1) });
  }

  /** Reads the rest of `[from TO to]`; each bracket may be of either kind. @throws QuerySyntaxError */
  range({ includeLower }: { includeLower: boolean }): RangeToken {
    const lower = this.#bound();
    const between = this.#rangeWord();
    if (between?.kind !== "to") throw this.#unexpected(between);
    const upper = this.#bound();
    const next = this.#rangeWord();
    if (next) throw this.#unexpected(next);
    const end = this.#peek();
    if (end !== "]" && end !== "}") throw this.#unexpected(undefined);
    this.#at++;
    return { lower, upper, includeLower, includeUpper: end === "]" };
  }

  #bound(): string {
    const word = this.#rangeWord();
    if (!word) throw this.#unexpected(undefined);
    return unescapeText(word.text);
  }

  /** Reads a word inside a range; `undefined` at its end. */
  #rangeWord(): RangeWord | undefined {
    this.#skipSpace();
    const column = this.#at;
    const quoted = this.#match(QUOTED_BOUND);
    const found = this.#match(BOUND_WORD);
    if (quoted !== "" && quoted.length >= found.length) {
      this.#at += quoted.length;
      return { kind: "quoted", text: quoted.slice(1, -1), column };
    }
    if (found === "") return undefined;
    this.#at += found.length;
    return { kind: found === "TO" ? "to" : "goop", text: found, column };
  }

  /** The match of a pattern at the current position, or nothing. @param pattern sticky */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? "";
  }

  #boost(): number {
    this.#at++;
    if (this.#at >= this.#text.length) throw this.#unexpected(undefined);
    const found = /^\d+(?:\.\d+)?/.exec(this.#text.slice(this.#at, this.#at + 32));
    if (!found) throw QuerySyntaxError.lexical(this.#text, this.#at, { state: BOOST });
    this.#at += found[0].length;
    return Math.fround(Number(found[0]));
  }

  #skipSpace(): void {
    while (SPACE.test(this.#peek())) this.#at++;
  }

  /** @param word inside a range; `undefined` for the current character */
  #unexpected(word: RangeWord | undefined): QuerySyntaxError {
    if (!word) {
      const character = this.#text[this.#at];
      const image = character === undefined ? "<EOF>" : ` "${character}" "${character} "`;
      return QuerySyntaxError.encountered(image, this.#at);
    }
    const { kind, text, column } = word;
    const image = kind === "quoted" ? `"${text}"` : text;
    const name = kind === "to" ? `"TO"` : `<RANGE_${kind.toUpperCase()}>`;
    return QuerySyntaxError.encountered(` ${name} "${image.replace(/["\\]/g, "\\$&")} "`, column);
  }

  #peek(): string {
    return this.#text[this.#at] ?? "";
  }
}

/** The kind of a word by its unescaped wildcards: a single star at the end makes a prefix. */
function unescapedPattern(text: string): "none" | "prefix" | "wildcard" {
  let found: "none" | "prefix" = "none";
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (character === "?") return "wildcard";
    else if (character === "*") {
      if (at < text.length - 1) return "wildcard";
      found = "prefix";
    }
  }
  return found;
}

/** Resolves the escapes of a text: `\:`, `A`. */
export function unescapeText(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S])|$)/g, (_, code?: string, character?: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    if (character === undefined) throw new QuerySyntaxError("Term can not end with escape character.");
    if (character === "u") throw new QuerySyntaxError("Truncated unicode escape sequence.");
    return character;
  });
}
