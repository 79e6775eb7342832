/** Reads tokens one after another. */
import { type Span, syntaxError } from "./errors.ts";
import type { Token, TokenKind } from "./tokens.ts";

export class TokenReader {
  readonly query: string;
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #index = 0;

  /** @param tokens the last one is the `end`. */
  constructor(query: string, tokens: readonly Token[]) {
    const end = tokens.at(-1);
    if (!end) throw new Error("a query has at least its end as a token");
    this.query = query;
    this.#tokens = tokens;
    this.#end = end;
  }

  peek(ahead = 0): Token {
    return this.#tokens[this.#index + ahead] ?? this.#end;
  }

  next(): Token {
    const token = this.peek();
    this.#index++;
    return token;
  }

  /** The token before the next one. */
  previous(): Token {
    return this.#tokens[this.#index - 1] ?? this.peek();
  }

  /** From a place to the last token that was read. */
  spanFrom({ line, column, start }: Span): Span {
    return { line, column, start, end: this.previous().end };
  }

  at(kind: TokenKind, value?: string): boolean {
    const token = this.peek();
    return token.kind === kind && (value === undefined || token.value === value);
  }

  /** Takes the next token if it is this one. */
  take(kind: TokenKind, value?: string): Token | undefined {
    return this.at(kind, value) ? this.next() : undefined;
  }

  /** @param expected what the vendor says it expects: `'('`, `{'a', 'b'}`. @throws VendorError */
  expect(kind: TokenKind, value: string | undefined, expected: string): Token {
    return this.take(kind, value) ?? this.fail(expected);
  }

  /** As it stands in the query. */
  textOf({ kind, start, end }: Token): string {
    return kind === "end" ? "<EOF>" : this.query.slice(start, end);
  }

  fail(expected: string): never {
    const token = this.peek();
    throw syntaxError(token, `mismatched input '${this.textOf(token)}' expecting ${expected}`);
  }
}
