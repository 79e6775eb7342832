/** A cursor over tokens. */
import { type Span, syntaxError } from "./errors.ts";
import type { Token, TokenKind } from "./tokens.ts";

export class TokenReader {
  readonly query: string;
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #index = 0;

  /** @param tokens the last one is `end` */
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

  /** The token read last. */
  previous(): Token {
    return this.#tokens[this.#index - 1] ?? this.peek();
  }

  /** From a start to the end of the token read last. */
  spanFrom({ line, column, start }: Span): Span {
    return { line, column, start, end: this.previous().end };
  }

  at(kind: TokenKind, value?: string): boolean {
    const token = this.peek();
    return token.kind === kind && (value === undefined || token.value === value);
  }

  /** Reads the next token if it matches. */
  take(kind: TokenKind, value?: string): Token | undefined {
    return this.at(kind, value) ? this.next() : undefined;
  }

  /** @param expected as the vendor's message lists it: `'('`, `{'a', 'b'}` @throws VendorError */
  expect(kind: TokenKind, value: string | undefined, expected: string): Token {
    return this.take(kind, value) ?? this.fail(expected);
  }

  /** The token's text in the query. */
  textOf({ kind, start, end }: Token): string {
    return kind === "end" ? "<EOF>" : this.query.slice(start, end);
  }

  fail(expected: string): never {
    const token = this.peek();
    throw syntaxError(token, `mismatched input '${this.textOf(token)}' expecting ${expected}`);
  }
}
