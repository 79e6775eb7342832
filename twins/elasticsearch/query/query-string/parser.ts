/**
 * The grammar of Lucene's classic query syntax. AND, OR and NOT have no precedence: they mark the clauses before and after them as
 * required, optional or prohibited.
 */
import { Lexer, QuerySyntaxError, type RangeToken, type Token, unescapeText } from "./lexer.ts";

type Occur = "must" | "should" | "must_not";

/** The content of a clause. `field`: absent for the default fields. */
type Expression = { readonly field: string | undefined; readonly boost: number } & (
  | { readonly kind: "group"; readonly clauses: readonly Clause[] }
  /** Adjacent words, as one text. */
  | { readonly kind: "text"; readonly text: string; readonly several: boolean }
  | { readonly kind: "phrase"; readonly text: string; readonly slop: number | undefined }
  /** A pattern keeps its escapes. */
  | { readonly kind: "wildcard"; readonly pattern: string }
  | { readonly kind: "prefix"; readonly prefix: string }
  | { readonly kind: "regexp"; readonly pattern: string }
  /** @property fuzziness the text behind `~`; `undefined` when empty */
  | { readonly kind: "fuzzy"; readonly text: string; readonly fuzziness: string | undefined }
  | { readonly kind: "range"; readonly range: RangeToken }
);

export interface Clause {
  readonly occur: Occur;
  /** Whether a sign or `NOT` precedes it. */
  readonly modified: boolean;
  readonly expression: Expression;
}

/** Depth of nested groups. */
const MAX_DEPTH = 100;

export interface QueryStringOptions {
  defaultOperator: "or" | "and";
  /** Called with each expression other than a group as soon as it is read, before a syntax error further on. */
  onRead?(expression: Leaf): void;
}

export type Leaf = Exclude<Expression, { kind: "group" }>;

/** @throws QuerySyntaxError */
export function parseQueryString(text: string, options: QueryStringOptions): Clause[] {
  return new Parser(new Lexer(text), options).whole();
}

class Parser {
  readonly #lexer: Lexer;
  readonly #tokens: Token[] = [];
  readonly #all: boolean;
  readonly #onRead: QueryStringOptions["onRead"];
  #at = 0;
  #depth = 0;

  constructor(lexer: Lexer, { defaultOperator, onRead }: QueryStringOptions) {
    this.#lexer = lexer;
    this.#all = defaultOperator === "and";
    this.#onRead = onRead;
  }

  whole(): Clause[] {
    if (this.#peek().kind === "end") return [];
    const clauses = this.#clauses(undefined);
    if (this.#peek().kind !== "end") throw unexpected(this.#peek());
    return clauses;
  }

  #clauses(field: string | undefined): Clause[] {
    const clauses: Clause[] = [];
    do {
      const conjunction = clauses.length === 0 ? undefined : this.#conjunction();
      if (conjunction === undefined && this.#severalWords()) {
        clauses.push({
          occur: this.#all ? "must" : "should",
          modified: false,
          expression: this.#words(field),
        });
      } else {
        const modifier = this.#modifier();
        const expression = this.#expression(field);
        this.#join(clauses, conjunction);
        clauses.push({
          occur: this.#occur(conjunction, modifier),
          modified: modifier !== undefined,
          expression,
        });
      }
    } while (this.#peek().kind !== "end" && this.#peek().kind !== "close");
    return clauses;
  }

  /** Applies a conjunction to the clause before it. */
  #join(clauses: Clause[], conjunction: "and" | "or" | undefined): void {
    const before = clauses.at(-1);
    if (!before || before.occur === "must_not") return;
    if (conjunction === "and") clauses[clauses.length - 1] = { ...before, occur: "must" };
    else if (conjunction === "or" && this.#all) clauses[clauses.length - 1] = { ...before, occur: "should" };
  }

  #occur(conjunction: "and" | "or" | undefined, modifier: "not" | "plus" | undefined): Occur {
    if (modifier === "not") return "must_not";
    if (this.#all) return conjunction === "or" ? "should" : "must";
    return modifier === "plus" || conjunction === "and" ? "must" : "should";
  }

  #conjunction(): "and" | "or" | undefined {
    const { kind } = this.#peek();
    if (kind !== "and" && kind !== "or") return undefined;
    this.#at++;
    return kind;
  }

  #modifier(): "not" | "plus" | undefined {
    const { kind } = this.#peek();
    if (kind !== "plus" && kind !== "minus" && kind !== "not") return undefined;
    this.#at++;
    return kind === "plus" ? "plus" : "not";
  }

  /** Whether two plain words follow. */
  #severalWords(): boolean {
    return this.#peek().kind === "term" && this.#peek(1).kind === "term" && this.#isWordBefore(2);
  }

  /** Whether the token behind a word leaves it a plain word. */
  #isWordBefore(offset: number): boolean {
    return !["colon", "star", "tilde", "boost", "and", "or"].includes(this.#peek(offset).kind);
  }

  #words(field: string | undefined): Expression {
    const words: string[] = [];
    do {
      const token = this.#next();
      if (token.kind === "term") words.push(token.text);
    } while (this.#peek().kind === "term" && this.#isWordBefore(1));
    return this.#read({ kind: "text", field, boost: 1, text: unescapeText(words.join(" ")), several: true });
  }

  #expression(outer: string | undefined): Expression {
    const field = this.#field() ?? outer;
    const token = this.#next();
    if (token.kind !== "open") return this.#read(this.#leaf(field, token));
    if (++this.#depth > MAX_DEPTH)
      throw new QuerySyntaxError(`more than ${MAX_DEPTH} groups within each other`);
    const clauses = this.#clauses(field);
    const end = this.#next();
    if (end.kind !== "close") throw unexpected(end);
    this.#depth--;
    return { kind: "group", field, clauses, boost: this.#boost() };
  }

  #read(leaf: Leaf): Leaf {
    this.#onRead?.(leaf);
    return leaf;
  }

  #leaf(field: string | undefined, token: Token): Leaf {
    switch (token.kind) {
      case "range": {
        const range = this.#lexer.range(token);
        return { kind: "range", field, range, boost: this.#boost() };
      }
      case "quoted": {
        const { boost, tilde } = this.#suffixes();
        return { kind: "phrase", field, text: unescapeText(token.text), slop: slopOf(tilde), boost };
      }
      case "regexp":
        return { kind: "regexp", field, pattern: token.text, boost: this.#suffixes().boost };
      case "star":
        return { kind: "wildcard", field, pattern: "*", boost: this.#suffixes().boost };
      case "wildcard":
        return { kind: "wildcard", field, pattern: token.text, boost: this.#suffixes().boost };
      case "prefix": {
        const prefix = unescapeText(token.text.slice(0, -1));
        return { kind: "prefix", field, prefix, boost: this.#suffixes().boost };
      }
      case "bare":
      case "term": {
        const { boost, tilde } = this.#suffixes();
        const text = unescapeText(token.text);
        if (tilde === undefined) return { kind: "text", field, text, several: false, boost };
        return { kind: "fuzzy", field, text, fuzziness: tilde === "" ? undefined : tilde, boost };
      }
      default:
        throw unexpected(token);
    }
  }

  /** `name:` or `*:` */
  #field(): string | undefined {
    const token = this.#peek();
    if (token.kind !== "term" && token.kind !== "star") return undefined;
    if (this.#peek(1).kind !== "colon") return undefined;
    this.#at += 2;
    return token.kind === "term" ? unescapeText(token.text) : "*";
  }

  /** `^2`, `~1`, in either order. */
  #suffixes(): { boost: number; tilde: string | undefined } {
    let boost = this.#boost();
    const token = this.#peek();
    if (token.kind !== "tilde") return { boost, tilde: undefined };
    this.#at++;
    if (boost === 1) boost = this.#boost();
    return { boost, tilde: token.text };
  }

  #boost(): number {
    const token = this.#peek();
    if (token.kind !== "boost") return 1;
    this.#at++;
    return token.boost;
  }

  #peek(offset = 0): Token {
    for (;;) {
      const known = this.#tokens[this.#at + offset];
      if (known) return known;
      const last = this.#tokens.at(-1);
      if (last?.kind === "end") return last;
      this.#tokens.push(this.#lexer.next());
    }
  }

  #next(): Token {
    const token = this.#peek();
    if (token.kind !== "end") this.#at++;
    return token;
  }
}

/** Anything other than a number counts as absent. */
function slopOf(tilde: string | undefined): number | undefined {
  const written = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?=[fFdD]?$)/.exec(tilde ?? "");
  return written ? Math.trunc(Number(written[0])) : undefined;
}

const images: Partial<Record<Token["kind"], string>> = {
  end: "<EOF>",
  plus: ' "+" "+ "',
  minus: ' "-" "- "',
  open: ' "(" "( "',
  close: ' ")" ") "',
  colon: ' ":" ": "',
  boost: ' "^" "^ "',
  tilde: ' <FUZZY_SLOP> "~ "',
};

function unexpected(token: Token): QuerySyntaxError {
  const { kind, column } = token;
  if (kind === "and" || kind === "or" || kind === "not") {
    return QuerySyntaxError.encountered(` <${kind.toUpperCase()}> "${token.text} "`, column);
  }
  return QuerySyntaxError.encountered(images[kind] ?? kind, column);
}
