/**
 * The lexer. Its mode depends on the command: index expressions after FROM, name patterns after KEEP, DROP and RENAME,
 * expressions after the rest.
 */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { type Span, syntaxError } from "./errors.ts";
import { expressionKeywords, type Token, type TokenKind } from "./tokens.ts";

type Mode = "command" | "expression" | "source" | "pattern" | "rename" | "word";

const modes = lookupTable<Mode>({
  from: "source",
  metrics: "source",
  keep: "pattern",
  drop: "pattern",
  rename: "rename",
  mv_expand: "expression",
  show: "word",
  meta: "word",
});

const space = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)+/y;
const word = /[^ \t\r\n[\]/|]+/y;
const sourceWord = /(?:[^:"=|,[\]/ \t\r\n]|\/(?![/*]))+/y;
const patternWord = /(?:[A-Za-z*]|[_@][A-Za-z0-9_*])[A-Za-z0-9_*]*/y;
const name = /(?:[A-Za-z]|[_@](?=[A-Za-z0-9_]))[A-Za-z0-9_]*/y;
const quotedName = /`(?:[^`]|``)*`/y;
const rawString = /"""[\s\S]*?"""(?:"{0,2}(?!"))?/y;
const string = /"(?:\\[tnr"\\]|[^"\\\r\n])*"/y;
const decimal = /(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+/y;
const integer = /\d+/y;
const param = /\?(?:[A-Za-z_][A-Za-z0-9_]*|\d+)?/y;
const symbol = /::|==|=~|!=|<=|>=|[<>=+\-*/%.,()[\]|:]/y;
const escapes = lookupTable<string>({ t: "\t", n: "\n", r: "\r", '"': '"', "\\": "\\" });

/** @throws VendorError where no token begins */
export function tokenize(query: string): Token[] {
  return new Lexer(query).run();
}

class Lexer {
  readonly #query: string;
  readonly #tokens: Token[] = [];
  #mode: Mode = "command";
  #offset = 0;
  #line = 1;
  #lineStart = 0;

  constructor(query: string) {
    this.#query = query;
  }

  run(): Token[] {
    for (;;) {
      this.#skipSpace();
      if (this.#offset >= this.#query.length) break;
      this.#next();
    }
    this.#add("end", "<EOF>", this.#offset);
    return this.#tokens;
  }

  #next(): void {
    if (this.#mode === "command") {
      this.#command();
      return;
    }
    if (this.#query[this.#offset] === "|") {
      this.#add("symbol", "|", this.#offset + 1);
      this.#mode = "command";
      return;
    }
    if (this.#mode === "source") {
      this.#source();
      return;
    }
    if (this.#mode === "pattern" || this.#mode === "rename") {
      this.#pattern();
      return;
    }
    if (this.#mode === "word") {
      const text = this.#match(word);
      if (text !== undefined) {
        this.#add("name", text.toLowerCase(), this.#offset + text.length);
        return;
      }
    }
    this.#expression();
  }

  #command(): void {
    const text = this.#match(word);
    if (text === undefined) {
      const symbolText = this.#match(symbol);
      if (symbolText === undefined) throw this.#unknown();
      this.#add("symbol", symbolText, this.#offset + symbolText.length);
      this.#mode = "expression";
      return;
    }
    const command = text.toLowerCase();
    this.#add("command", command, this.#offset + text.length);
    this.#mode = modes[command] ?? "expression";
  }

  #source(): void {
    if (this.#string()) return;
    const punctuation = this.#match(/[:,=[\]]/y);
    if (punctuation !== undefined) {
      this.#add("symbol", punctuation, this.#offset + 1);
      return;
    }
    const text = this.#match(sourceWord);
    if (text === undefined) throw this.#unknown();
    const keyword = text.toLowerCase() === "metadata";
    this.#add(keyword ? "keyword" : "source", keyword ? "metadata" : text, this.#offset + text.length);
  }

  #pattern(): void {
    if (this.#quotedName("pattern")) return;
    const punctuation = this.#match(/[.,]/y);
    if (punctuation !== undefined) {
      this.#add("symbol", punctuation, this.#offset + 1);
      return;
    }
    const text = this.#match(patternWord);
    if (text === undefined) {
      if (this.#mode === "rename") {
        this.#expression();
        return;
      }
      throw this.#unknown();
    }
    const keyword = this.#mode === "rename" && text.toLowerCase() === "as";
    this.#add(keyword ? "keyword" : "pattern", keyword ? "as" : text, this.#offset + text.length);
  }

  #expression(): void {
    if (this.#string() || this.#quotedName("name")) return;
    const first = this.#query.charCodeAt(this.#offset);
    if (isLetter(first)) {
      const words = this.#match(name);
      if (words !== undefined) {
        const lower = words.toLowerCase();
        const keyword = expressionKeywords.has(lower);
        this.#add(keyword ? "keyword" : "name", keyword ? lower : words, this.#offset + words.length);
        return;
      }
    }
    for (const [kind, pattern] of isDigit(first) || first === POINT ? numberTokens : otherTokens) {
      const text = this.#match(pattern);
      if (text === undefined) continue;
      this.#add(kind, kind === "param" ? text.slice(1) : text, this.#offset + text.length);
      return;
    }
    throw this.#unknown();
  }

  #string(): boolean {
    if (this.#query[this.#offset] !== '"') return false;
    const rawText = this.#match(rawString);
    if (rawText !== undefined) {
      this.#add("string", rawText.slice(3, -3), this.#offset + rawText.length);
      return true;
    }
    const text = this.#match(string);
    if (text === undefined) return false;
    const value = text
      .slice(1, -1)
      .replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character);
    this.#add("string", value, this.#offset + text.length);
    return true;
  }

  #quotedName(kind: "name" | "pattern"): boolean {
    if (this.#query[this.#offset] !== "`") return false;
    const text = this.#match(quotedName);
    if (text === undefined) return false;
    this.#add(kind, text.slice(1, -1).replaceAll("``", "`"), this.#offset + text.length, { quoted: true });
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    return pattern.exec(this.#query)?.[0];
  }

  #add(kind: TokenKind, value: string, end: number, { quoted = false } = {}): void {
    const start = this.#offset;
    this.#tokens.push({
      kind,
      value,
      quoted,
      line: this.#line,
      column: start - this.#lineStart + 1,
      start,
      end,
    });
    this.#advance(end);
  }

  #span(end: number): Span {
    return { line: this.#line, column: this.#offset - this.#lineStart + 1, start: this.#offset, end };
  }

  #skipSpace(): void {
    const first = this.#query.charCodeAt(this.#offset);
    if (first > SPACE && first !== SLASH) return;
    const text = this.#match(space);
    if (text !== undefined) this.#advance(this.#offset + text.length);
    if (this.#query.startsWith("/*", this.#offset)) throw this.#unknown();
  }

  #advance(end: number): void {
    for (let at = this.#offset; at < end; at++) {
      if (this.#query[at] !== "\n") continue;
      this.#line++;
      this.#lineStart = at + 1;
    }
    this.#offset = end;
  }

  #unknown(): Error {
    const at = this.#span(this.#offset + 1);
    const rest = this.#query.slice(this.#offset);
    const text = /^["`]/.test(rest) ? rest.split(/[\r\n]/, 1)[0] : Array.from(rest.slice(0, 2))[0];
    return syntaxError(at, `token recognition error at: '${(text ?? "").slice(0, 200)}'`);
  }
}

const SPACE = 0x20;
const POINT = 0x2e;
const SLASH = 0x2f;

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** A letter, `_` or `@`: what may begin a name. */
function isLetter(code: number): boolean {
  return (code >= 0x40 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f;
}

const numberTokens: readonly (readonly [TokenKind, RegExp])[] = [
  ["decimal", decimal],
  ["integer", integer],
  ["symbol", symbol],
];
const otherTokens: readonly (readonly [TokenKind, RegExp])[] = [
  ["symbol", symbol],
  ["param", param],
];
