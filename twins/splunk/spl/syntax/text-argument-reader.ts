/** Reads the arguments of a command from the text of its search. */
import { commandError, SplError } from "../spl-error.ts";
import type { ArgumentReader, OptionTypes, OptionValues, Token } from "./argument-reader.ts";
import type { Expression, Pipeline, SearchExpression, Span, Subsearch } from "./ast.ts";
import { parseExpressionAt } from "./expression.ts";
import { parseSearchExpressionAt } from "./search-expression.ts";
import {
  afterString,
  closingBracket,
  closingParenthesis,
  isSpace,
  trimSpan,
  unescapeQuotes,
} from "./text.ts";

export interface ReaderSource {
  /** Name of the command. */
  command: string;
  text: string;
  /** Extent of the arguments. */
  span: Span;
  /** Parses the pipeline of a subsearch. */
  nested(span: Span): Pipeline;
}

const symbols = /!=|<=|>=|[(),=[<>]/y;
const word = /(?:[^\s"(),=[\]<>!\\]+|\\.|!(?!=))+|\\/sy;
const quotedName = /'[^'"]*'/y;
/** Symbols that are valid as unquoted values: `delim=,`. */
const symbolValues: readonly string[] = [","];
/** Commands whose message is `The argument '…' is invalid.`; that of all others is `Invalid argument: '…'`. */
const commandsNamingArguments: ReadonlySet<string> = new Set([
  ...["stats", "eventstats", "streamstats", "chart", "timechart", "convert", "strcat"],
]);

export function createArgumentReader(source: ReaderSource): ArgumentReader {
  return new TextArgumentReader(source);
}

class TextArgumentReader implements ArgumentReader {
  readonly command: string;
  readonly #source: ReaderSource;
  readonly #end: number;
  #offset: number;
  /** The last thing read was an expression. */
  #readExpression = false;

  constructor(source: ReaderSource) {
    this.command = source.command;
    this.#source = source;
    this.#offset = source.span.start;
    this.#end = source.span.end;
  }

  peek(ahead = 0): Token {
    let token = this.#tokenAt(this.#offset);
    for (let index = 0; index < ahead; index++) token = this.#tokenAt(token.end);
    return token;
  }

  next(): Token {
    const token = this.#tokenAt(this.#offset);
    this.#moveTo(token.end);
    return token;
  }

  symbol(symbol: string): boolean {
    const token = this.peek();
    if (token.type !== "symbol" || token.text !== symbol) return false;
    this.#moveTo(token.end);
    return true;
  }

  keyword(...words: string[]): boolean {
    const token = this.peek();
    if (!isKeyword(token, words)) return false;
    this.#moveTo(token.end);
    return true;
  }

  sign<Sign extends string>(...signs: Sign[]): Sign | undefined {
    const token = this.peek();
    if (token.type !== "word") return undefined;
    const sign = signs.find((one) => token.text.startsWith(one));
    if (sign !== undefined) this.#moveTo(token.start + sign.length);
    return sign;
  }

  atEnd(): boolean {
    return this.peek().type === "end";
  }

  offset(): number {
    return this.#offset;
  }

  options<Types extends OptionTypes>(types: Types): OptionValues<Types> {
    const values: OptionValues<Types> = {};
    const names = Object.keys(types);
    for (;;) {
      const token = this.peek();
      const after = this.#tokenAt(token.end);
      if (token.type !== "word" || after.type !== "symbol" || after.text !== "=") return values;
      const name = names.find((known) => known.toLowerCase() === token.text.toLowerCase());
      const type = name === undefined ? undefined : types[name];
      if (name === undefined || type === undefined) return values;
      this.#moveTo(after.end);
      const isMissing = this.atEnd() && type.read("") === undefined;
      const text = isMissing ? "" : this.#optionValue(name);
      const value = type.read(text);
      if (value === undefined) {
        const own = type.errorMessage?.(name, text);
        if (own !== undefined) this.fail(own);
        this.#failOption(
          `Invalid option value. Expecting a '${type.expected}' for option '${name}'. Instead got '${text}'.`,
        );
      }
      if (Object.hasOwn(values, name) && !type.repeats)
        this.#failOption(`Option '${name}' should not be specified more than once.`);
      Object.assign(values, { [name]: value });
    }
  }

  field(what = "a field"): string {
    const token = this.peek();
    if (token.type !== "word" && token.type !== "string") this.fail(`Missing ${what}.`);
    this.#moveTo(token.end);
    return this.#named(token);
  }

  fields(stopWords: readonly string[] = []): string[] {
    const names: string[] = [];
    for (;;) {
      if (this.symbol(",")) continue;
      const token = this.peek();
      if ((token.type !== "word" && token.type !== "string") || isKeyword(token, stopWords)) return names;
      const after = this.#tokenAt(token.end);
      if (token.type === "word" && after.type === "symbol" && after.text === "=") return names;
      names.push(this.field());
    }
  }

  text(what: string): string {
    const token = this.next();
    if (token.type !== "word" && token.type !== "string") this.fail(`Missing ${what}.`);
    return token.text;
  }

  integer(what: string): number {
    const text = this.text(what);
    if (!/^[+-]?\d{1,15}$/.test(text))
      this.fail(`Invalid value '${text}' for ${what}. An integer is expected.`);
    return Number(text);
  }

  number(what: string): number {
    const text = this.text(what);
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!Number.isFinite(value)) this.fail(`Invalid value '${text}' for ${what}. A number is expected.`);
    return value;
  }

  expression(): Expression {
    const { text, nested } = this.#source;
    const span = { start: this.#offset, end: this.#end };
    const fail = (message: string, at: number) => this.#failExpression(message, at);
    const expression = parseExpressionAt({ text, span, nested, fail });
    this.#moveTo(expression.end);
    this.#readExpression = true;
    return expression;
  }

  searchExpression(stopWords: readonly string[] = []): SearchExpression {
    const { text, nested } = this.#source;
    const span = { start: this.#offset, end: this.#end };
    const fail = (message: string) => this.fail(message);
    const { expression, end } = parseSearchExpressionAt({ text, span, nested, fail, stopWords });
    this.#moveTo(end);
    return expression;
  }

  subsearch(): Subsearch | undefined {
    const span = this.#brackets();
    if (span === undefined) return undefined;
    this.#moveTo(span.end);
    const inner = { start: span.start + 1, end: span.end - 1 };
    return { ...span, pipeline: this.#source.nested(inner) };
  }

  bracketed(): string | undefined {
    const span = this.#brackets();
    if (span === undefined) return undefined;
    this.#moveTo(span.end);
    return this.#source.text.slice(span.start + 1, span.end - 1).trim();
  }

  parenthesized(): string | undefined {
    const token = this.peek();
    if (token.type !== "symbol" || token.text !== "(") return undefined;
    const close = closingParenthesis(this.#source.text, token.start, this.#end);
    if (close === -1) this.fail("Mismatched quotes and/or parenthesis.");
    this.#moveTo(close + 1);
    return this.#source.text.slice(token.start + 1, close).trim();
  }

  rest(): string {
    const span = trimSpan(this.#source.text, { start: this.#offset, end: this.#end });
    this.#moveTo(this.#end);
    return this.textOf(span);
  }

  textOf({ start, end }: Span): string {
    return this.#source.text.slice(start, end);
  }

  end(): void {
    if (this.atEnd()) return;
    const at = this.#offset;
    const readExpression = this.#readExpression;
    const left = this.rest();
    if (readExpression) this.#failExpression(`An unexpected character is reached at '${left}'.`, at);
    if (!commandsNamingArguments.has(this.command)) this.fail(`Invalid argument: '${left}'`);
    this.fail(`The argument '${/^\S*/.exec(left)?.[0] ?? left}' is invalid.`);
  }

  fail(message: string): never {
    const { message: text, phase } = commandError(this.command, message);
    throw new SplError(text, phase, this.#offset);
  }

  /** splunkd parses options before the command does, so the error names no command. */
  #failOption(message: string): never {
    throw new SplError(`Error in 'SearchProcessor': ${message}`, "dispatch", this.#offset);
  }

  #failExpression(message: string, at: number): never {
    const place = this.command === "eval" ? "'EvalCommand'" : `'${this.command}' command`;
    throw new SplError(`Error in ${place}: The expression is malformed. ${message}`, "dispatch", at);
  }

  #moveTo(offset: number): void {
    this.#offset = offset;
    this.#readExpression = false;
  }

  #brackets(): Span | undefined {
    const token = this.peek();
    if (token.type !== "symbol" || token.text !== "[") return undefined;
    return { start: token.start, end: closingBracket(this.#source.text, token.start, this.#end) + 1 };
  }

  #optionValue(name: string): string {
    const token = this.next();
    if (token.type === "symbol" && token.text === "(") return this.#valueUpToBlank(token.start);
    const isValue =
      token.type === "word" ||
      token.type === "string" ||
      (token.type === "symbol" && symbolValues.includes(token.text));
    if (!isValue) this.fail(`Missing a value for option '${name}'.`);
    return token.text;
  }

  /** A value that begins with a parenthesis ends at the next blank: `tokenizer=(\S+)`. */
  #valueUpToBlank(start: number): string {
    const { text } = this.#source;
    let end = start;
    while (end < this.#end && !isSpace(text[end])) end++;
    this.#moveTo(end);
    return text.slice(start, end);
  }

  /** Completes a field's name that begins with a token: `avg(x)`, `user."first name"`, `"Web"."Web"`. */
  #named(token: Token): string {
    const { text } = this.#source;
    if (token.type === "word" && /^'.*'$/s.test(token.text)) return token.text.slice(1, -1);
    if (token.type === "word" && text[token.end] === "(" && token.end < this.#end) {
      const close = closingParenthesis(text, token.end, this.#end);
      if (close === -1) this.fail("Mismatched quotes and/or parenthesis.");
      this.#moveTo(close + 1);
      return text.slice(token.start, close + 1);
    }
    let name = token.text;
    for (let last = token; last.end < this.#end; ) {
      const next = text[last.end];
      if (next !== "." && (next !== '"' || last.type !== "word")) break;
      last = this.next();
      name += last.text;
    }
    return name;
  }

  #tokenAt(offset: number): Token {
    const { text } = this.#source;
    let start = offset;
    while (start < this.#end && isSpace(text[start])) start++;
    if (start >= this.#end) return { type: "end", text: "", start: this.#end, end: this.#end };
    if (text[start] === '"') {
      const after = afterString(text, start, this.#end);
      if (after === -1) throw new SplError("Unbalanced quotes.", "dispatch", start);
      return { type: "string", text: unescapeQuotes(text.slice(start + 1, after - 1)), start, end: after };
    }
    const symbol = matchAt(symbols, text, start);
    if (isSymbol(symbol)) return { type: "symbol", text: symbol, start, end: start + symbol.length };
    const matched = matchAt(quotedName, text, start) ?? matchAt(word, text, start) ?? text.charAt(start);
    const end = Math.min(start + matched.length, this.#end);
    return { type: "word", text: text.slice(start, end), start, end };
  }
}

type SymbolText = Extract<Token, { type: "symbol" }>["text"];

function isSymbol(text: string | undefined): text is SymbolText {
  return text !== undefined;
}

function isKeyword(token: Token, words: readonly string[]): boolean {
  return token.type === "word" && words.some((word) => word.toLowerCase() === token.text.toLowerCase());
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
