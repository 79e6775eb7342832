/**
 * Parses expressions of `search`. Operators by increasing precedence: AND, explicit or implied; OR; NOT. Only in capitals are they
 * operators; otherwise they are terms.
 */
import type { Comparator, Pipeline, SearchExpression, SearchValue, Span, Subsearch } from "./ast.ts";
import {
  comparatorOf,
  isComma,
  isOperator,
  isWord,
  type Lexeme,
  lexemeAt,
  listValuePattern,
  nameOf,
  quotedName,
  searchValue,
  termPattern,
  valuePattern,
} from "./search-lexeme.ts";
import { closingBracket, closingParenthesis, unescapeQuotes } from "./text.ts";

export interface SearchExpressionSource {
  text: string;
  span: Span;
  /** Parses the pipeline of a subsearch. */
  nested(span: Span): Pipeline;
  fail(message: string): never;
  /** Words that end the expression, ignoring case, unless they are compared or in parentheses: `BY` of `tstats`. */
  stopWords: readonly string[];
}

const MAX_DEPTH = 250;
const timeModifiers = new Set(
  ["earliest latest _index_earliest _index_latest starttime endtime starttimeu endtimeu timeformat"]
    .concat("startdaysago enddaysago starthoursago endhoursago startminutesago endminutesago")
    .concat("startmonthsago endmonthsago searchtimespanhours searchtimespanminutes searchtimespandays")
    .flatMap((names) => names.split(" ")),
);

/** Parses the text up to a stop word. @returns `end`: the start of the stop word, or the end of the text */
export function parseSearchExpressionAt(source: SearchExpressionSource): {
  expression: SearchExpression;
  end: number;
} {
  return new SearchExpressionParser(source).read();
}

class SearchExpressionParser {
  readonly #source: SearchExpressionSource;
  readonly #text: string;
  readonly #end: number;
  #offset: number;
  #depth = 0;

  constructor(source: SearchExpressionSource) {
    this.#source = source;
    this.#text = source.text;
    this.#offset = source.span.start;
    this.#end = source.span.end;
  }

  read(): { expression: SearchExpression; end: number } {
    const first = this.#peek();
    const nothing = first.type === "end" || this.#isStopWord(first);
    const expression: SearchExpression = nothing ? { node: "all" } : this.#and();
    const left = this.#peek();
    if (left.text === ")") this.#fail("unbalanced parentheses.");
    return { expression, end: left.start };
  }

  #and(): SearchExpression {
    const operands: SearchExpression[] = [this.#or()];
    for (;;) {
      const next = this.#peek();
      if (next.type === "end" || next.text === ")" || this.#isStopWord(next)) break;
      if (isOperator(next, "AND")) {
        this.#move(next);
        this.#expectRightClause("AND");
      } else if (isComma(next)) {
        this.#move(next);
        continue;
      }
      operands.push(this.#or());
    }
    return combine("and", operands);
  }

  #or(): SearchExpression {
    const operands: SearchExpression[] = [this.#not()];
    for (let next = this.#peek(); isOperator(next, "OR"); next = this.#peek()) {
      this.#move(next);
      this.#expectRightClause("OR");
      operands.push(this.#not());
    }
    return combine("or", operands);
  }

  #isStopWord(next: Lexeme): boolean {
    if (this.#depth > 0 || next.type !== "word" || next.quoted) return false;
    if (!this.#source.stopWords.includes(next.text.toLowerCase())) return false;
    const after = this.#after(next);
    return after.type !== "symbol" || comparatorOf(after.text) === undefined;
  }

  #expectRightClause(operator: string): void {
    const next = this.#peek();
    if (next.type === "end" || next.text === ")" || isOperator(next, "AND", "OR")) {
      this.#fail(`'${operator}' operator is missing a clause on the right hand side.`);
    }
  }

  #not(): SearchExpression {
    const next = this.#peek();
    if (isOperator(next, "AND", "OR")) {
      this.#fail(`'${next.text}' operator is missing a clause on the left hand side.`);
    }
    let negations = 0;
    for (let not = next; isOperator(not, "NOT"); not = this.#peek()) {
      this.#checkDepth(++negations);
      this.#move(not);
      this.#expectRightClause("NOT");
    }
    let clause = this.#clause();
    for (; negations > 0; negations--) clause = { node: "not", operand: clause };
    return clause;
  }

  #clause(): SearchExpression {
    const next = this.#peek();
    if (next.type === "symbol") return this.#bracketed(next);
    if (next.type === "end") this.#fail("a clause is missing.");
    this.#move(next);
    const compared = this.#comparison(next);
    if (compared !== undefined) return compared;
    const mode = this.#mode(next);
    if (mode !== undefined) return { node: "term", ...mode };
    return { node: "term", value: searchValue(next), mode: "plain" };
  }

  #bracketed(next: Lexeme): SearchExpression {
    if (next.text === "[") return { node: "subsearch", prefix: "", subsearch: this.#subsearch(next.start) };
    if (next.text !== "(") {
      if (next.text === ")") this.#fail("unbalanced parentheses.");
      const side = `Comparator '${next.text}' is missing a term on the left hand side.`;
      this.#fail(side);
    }
    this.#move(next);
    if (this.#peek().text === ")") {
      this.#move(this.#peek());
      return { node: "all" };
    }
    const inner = this.#deeper(() => this.#and());
    const close = this.#peek();
    if (close.text !== ")") this.#fail("unbalanced parentheses.");
    this.#move(close);
    return inner;
  }

  /** Reads a comparison with a field, if a comparator is next. */
  #comparison(field: Lexeme): SearchExpression | undefined {
    const next = this.#peek();
    if (next.type === "symbol" && comparatorOf(next.text) !== undefined) {
      this.#move(next);
      return this.#comparedValue(nameOf(field), comparatorOf(next.text) ?? "=", next);
    }
    if (isWord(next, "IN") && this.#after(next).text === "(") return this.#list(field, next);
    if (isWord(next, "NOT")) {
      const after = this.#after(next);
      if (isWord(after, "IN") && this.#after(after).text === "(") {
        return { node: "not", operand: this.#list(field, after) };
      }
    }
    return undefined;
  }

  #comparedValue(field: string, comparator: Comparator, symbol: Lexeme): SearchExpression {
    const read = this.#value(valuePattern);
    if (read.text === "[" && read.type === "symbol") {
      const prefix = `${quotedName(field)}${comparator}`;
      return { node: "subsearch", prefix, subsearch: this.#subsearch(read.start) };
    }
    if (read.type === "symbol" && read.text === "(") return this.#distribute(field, comparator, read);
    if (read.type !== "word") {
      this.#fail(`Comparator '${symbol.text}' is missing a term on the right hand side.`);
    }
    this.#move(read);
    const mode = this.#mode(read);
    if (mode !== undefined) return { node: "comparison", field, comparator, ...mode };
    if (timeModifiers.has(field) && comparator === "=") {
      return { node: "time", modifier: field, value: searchValue(read).text };
    }
    return { node: "comparison", field, comparator, value: searchValue(read), mode: "plain" };
  }

  /** Reads `field=(a OR b)`, which compares the field with each term in the parentheses. */
  #distribute(field: string, comparator: Comparator, open: Lexeme): SearchExpression {
    this.#move(open);
    const inner = this.#deeper(() => this.#and());
    const close = this.#peek();
    if (close.text !== ")") this.#fail("unbalanced parentheses.");
    this.#move(close);
    return distribute(field, comparator, inner);
  }

  #list(field: Lexeme, keyword: Lexeme): SearchExpression {
    this.#move(this.#after(keyword));
    const values: SearchValue[] = [];
    for (;;) {
      const next = this.#value(listValuePattern);
      this.#move(next);
      if (next.text === ")" && next.type === "symbol") break;
      if (isComma(next)) continue;
      if (next.type !== "word") {
        this.#fail(
          `Right hand side of IN must be a collection of literals. '${next.text}' is not a literal.`,
        );
      }
      values.push(searchValue(next));
    }
    if (values.length === 0) this.#fail("Right hand side of IN must be a collection of literals.");
    return { node: "in", field: nameOf(field), values };
  }

  /** Reads the parentheses of `TERM(x)` or `CASE(x)`. */
  #mode(lexeme: Lexeme): { value: SearchValue; mode: "case" | "term" } | undefined {
    if (lexeme.type !== "word" || lexeme.quoted || !/^(?:TERM|CASE)$/.test(lexeme.text)) return undefined;
    if (this.#offset >= this.#end || this.#text[this.#offset] !== "(") return undefined;
    const close = closingParenthesis(this.#text, this.#offset, this.#end);
    if (close === -1) this.#fail("unbalanced parentheses.");
    const inner = this.#text.slice(this.#offset + 1, close).trim();
    this.#offset = close + 1;
    const quoted = /^".*"$/s.test(inner);
    const text = unescapeQuotes(quoted ? inner.slice(1, -1) : inner);
    return { value: { text, quoted }, mode: lexeme.text === "TERM" ? "term" : "case" };
  }

  #subsearch(start: number): Subsearch {
    const close = closingBracket(this.#text, start, this.#end);
    this.#offset = close + 1;
    const pipeline = this.#source.nested({ start: start + 1, end: close });
    return { start, end: close + 1, pipeline };
  }

  #peek(): Lexeme {
    return this.#lexeme(this.#offset, termPattern);
  }

  #after(lexeme: Lexeme): Lexeme {
    return this.#lexeme(lexeme.end, termPattern);
  }

  #value(pattern: RegExp): Lexeme {
    return this.#lexeme(this.#offset, pattern);
  }

  #lexeme(offset: number, pattern: RegExp): Lexeme {
    const lexeme = lexemeAt(this.#text, offset, this.#end, pattern);
    return lexeme ?? this.#fail("unbalanced quotes.");
  }

  #move({ end }: Lexeme): void {
    this.#offset = end;
  }

  #deeper<Result>(read: () => Result): Result {
    this.#checkDepth(++this.#depth);
    const result = read();
    this.#depth--;
    return result;
  }

  #checkDepth(depth: number): void {
    if (depth > MAX_DEPTH) this.#fail(`it is nested too deeply: there can be ${MAX_DEPTH} levels.`);
  }

  #fail(message: string): never {
    return this.#source.fail(`Unable to parse the search: ${message}`);
  }
}

function distribute(field: string, comparator: Comparator, inner: SearchExpression): SearchExpression {
  switch (inner.node) {
    case "and":
    case "or":
      return {
        node: inner.node,
        operands: inner.operands.map((operand) => distribute(field, comparator, operand)),
      };
    case "not":
      return { node: "not", operand: distribute(field, comparator, inner.operand) };
    case "term":
      return { node: "comparison", field, comparator, value: inner.value, mode: inner.mode };
    default:
      return inner;
  }
}

function combine(node: "and" | "or", operands: readonly SearchExpression[]): SearchExpression {
  const [first, ...others] = operands;
  return first !== undefined && others.length === 0 ? first : { node, operands };
}
