/**
 * Parses eval expressions. Operators by increasing precedence: XOR; OR; AND; NOT (or `!`); comparisons, LIKE and IN; `+ - .`;
 * `* / %`; signs. The case of word operators does not matter.
 */
import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Expression, Pipeline, Span } from "./ast.ts";
import { afterString, closingBracket, isSpace, unescapeQuotes } from "./text.ts";

export interface ExpressionSource {
  text: string;
  span: Span;
  /** Parses the pipeline of a subsearch. */
  nested(span: Span): Pipeline;
  /** @param message text after `The expression is malformed.` */
  fail(message: string, at: number): never;
}

type BinaryOperator = Extract<Expression, { node: "binary" }>["operator"];

/** Deepest nesting of parentheses, calls and signs, and longest chain of operators of equal precedence. */
const MAX_DEPTH = 250;
const number = /0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/y;
/** `{}` denotes JSON lists; `$…$` is a token without a value. */
const name = /[\p{L}_$@][\p{L}\p{N}_$@:]*(?:\{[^{}\s"']*\}[\p{L}\p{N}_]*)*/uy;
const operatorText = /==|!=|<=|>=|[=<>+\-.*/%]|(?:and|or|xor|like|in|not\s+(?:like|in))(?![\p{L}\p{N}_])/iuy;
const reserved = new Set(["and", "or", "not", "xor", "like", "in"]);

const precedences = { xor: 1, or: 2, and: 3, not: 4, comparison: 5, sum: 6, product: 7 };
const operators = lookupTable<{ operator: BinaryOperator; precedence: number }>({
  xor: { operator: "xor", precedence: precedences.xor },
  or: { operator: "or", precedence: precedences.or },
  and: { operator: "and", precedence: precedences.and },
  like: { operator: "like", precedence: precedences.comparison },
  "=": { operator: "=", precedence: precedences.comparison },
  "==": { operator: "=", precedence: precedences.comparison },
  "!=": { operator: "!=", precedence: precedences.comparison },
  "<": { operator: "<", precedence: precedences.comparison },
  "<=": { operator: "<=", precedence: precedences.comparison },
  ">": { operator: ">", precedence: precedences.comparison },
  ">=": { operator: ">=", precedence: precedences.comparison },
  "+": { operator: "+", precedence: precedences.sum },
  "-": { operator: "-", precedence: precedences.sum },
  ".": { operator: ".", precedence: precedences.sum },
  "*": { operator: "*", precedence: precedences.product },
  "/": { operator: "/", precedence: precedences.product },
  "%": { operator: "%", precedence: precedences.product },
});

/** Parses the longest expression at the start of the text. */
export function parseExpressionAt(source: ExpressionSource): Expression {
  return new ExpressionParser(source).read();
}

class ExpressionParser {
  readonly #source: ExpressionSource;
  readonly #text: string;
  readonly #end: number;
  #offset: number;
  #depth = 0;

  constructor(source: ExpressionSource) {
    this.#source = source;
    this.#text = source.text;
    this.#offset = source.span.start;
    this.#end = source.span.end;
  }

  /** @param minimum an operator of lower precedence ends the expression */
  read(minimum = precedences.xor): Expression {
    let left = this.#unary(minimum);
    for (let count = 0; ; count++) {
      this.#checkDepth(count);
      const next = this.#operator(minimum);
      if (next === undefined) return left;
      left = this.#operation(left, next);
    }
  }

  #operation(left: Expression, { negated, text }: { negated: boolean; text: string }): Expression {
    const known = operators[text];
    if (known === undefined) return negate(negated ? 1 : 0, left.start, this.#list(left));
    const { operator, precedence } = known;
    const operand = () => {
      this.#expectOperand(operator);
      return this.read(precedence + 1);
    };
    const right = operand();
    if (operator === "and" || operator === "or" || operator === "xor") {
      const operands = [left, right];
      while (this.#word(operator)) operands.push(operand());
      return balance(operator, operands);
    }
    return negate(negated ? 1 : 0, left.start, binary(operator, left, right));
  }

  /** Reads the next operator unless its precedence is lower: its text in lower case, and whether NOT precedes it. */
  #operator(minimum: number): { negated: boolean; text: string } | undefined {
    const start = this.#offset;
    const matched = this.#match(operatorText)?.toLowerCase();
    if (matched === undefined) return undefined;
    const negated = /^not\s/.test(matched);
    const text = negated ? matched.slice(3).trim() : matched;
    if ((operators[text]?.precedence ?? precedences.comparison) >= minimum) return { negated, text };
    this.#offset = start;
    return undefined;
  }

  /** Fails for an operator without a right operand. */
  #expectOperand(operator: BinaryOperator): void {
    this.#skipSpace();
    if (this.#offset < this.#end && !/[),]/.test(this.#text.charAt(this.#offset))) return;
    if (operator === "and" || operator === "or") {
      this.#fail(`An '${operator.toUpperCase()}' term is missing.`);
    }
    if (/^[<>=!]|like/.test(operator)) this.#fail("A comparison term is missing.");
    this.#fail(/^[+.-]$/.test(operator) ? "A term is missing." : "The factor is missing.");
  }

  #list(operand: Expression): Expression {
    if (!this.#symbol("(")) this.#fail("Expected (.");
    const values = this.#arguments();
    return { node: "in", operand, values, start: operand.start, end: this.#offset };
  }

  /** Reads an operand with its NOTs and signs. */
  #unary(minimum: number): Expression {
    this.#skipSpace();
    const start = this.#offset;
    let negations = 0;
    while (this.#word("not") || this.#exclamation()) this.#checkDepth(++negations);
    if (negations > 0) return negate(negations, start, this.read(Math.max(minimum, precedences.not)));
    const signs: { operator: "-" | "+"; start: number }[] = [];
    for (;;) {
      this.#skipSpace();
      const char = this.#text[this.#offset];
      if (this.#offset >= this.#end || (char !== "-" && char !== "+")) break;
      signs.push({ operator: char, start: this.#offset });
      this.#checkDepth(signs.length);
      this.#offset++;
    }
    return signs.reduceRight<Expression>(
      (operand, sign) => ({ node: "unary", ...sign, operand, end: operand.end }),
      this.#factor(),
    );
  }

  #factor(): Expression {
    this.#skipSpace();
    const start = this.#offset;
    const char = start < this.#end ? this.#text[start] : undefined;
    if (char === '"') return this.#string();
    if (char === "'") return this.#quotedField();
    if (char === "[") return this.#subsearch();
    if (char === "(") {
      this.#offset++;
      const inner = this.#deeper(() => this.read());
      if (!this.#symbol(")")) this.#fail("Expected ).");
      return { ...inner, start, end: this.#offset };
    }
    const digits = this.#match(number);
    if (digits !== undefined) {
      return { node: "number", value: Number(digits), text: digits, start, end: this.#offset };
    }
    const word = this.#match(name);
    if (word === undefined) {
      if (char === undefined) this.#fail("The factor is missing.");
      return this.#fail(`An unexpected character is reached at '${this.#left()}'.`);
    }
    return this.#named(word, start);
  }

  #named(word: string, start: number): Expression {
    const lower = word.toLowerCase();
    if (this.#symbol("(")) {
      const args = this.#deeper(() => this.#arguments());
      return { node: "call", name: lower, args, start, end: this.#offset };
    }
    if (!reserved.has(lower)) return { node: "field", name: word, start, end: start + word.length };
    this.#offset = start;
    return this.#fail("The factor is missing.");
  }

  /** Reads arguments up to the closing parenthesis. The opening one is already read. */
  #arguments(): Expression[] {
    const args: Expression[] = [];
    if (this.#symbol(")")) return args;
    do {
      args.push(this.#deeper(() => this.read()));
    } while (this.#symbol(","));
    if (!this.#symbol(")")) this.#fail("Expected ).");
    return args;
  }

  #string(): Expression {
    const start = this.#offset;
    const end = afterString(this.#text, start, this.#end);
    if (end === -1) this.#fail("Unbalanced quotes.");
    this.#offset = end;
    return { node: "string", value: unescapeQuotes(this.#text.slice(start + 1, end - 1)), start, end };
  }

  #quotedField(): Expression {
    const start = this.#offset;
    const close = this.#text.indexOf("'", start + 1);
    if (close === -1 || close >= this.#end) this.#fail("Unbalanced quotes.");
    this.#offset = close + 1;
    return { node: "field", name: this.#text.slice(start + 1, close), start, end: close + 1 };
  }

  #subsearch(): Expression {
    const start = this.#offset;
    const close = closingBracket(this.#text, start, this.#end);
    this.#offset = close + 1;
    const span = { start, end: close + 1 };
    const pipeline = this.#source.nested({ start: start + 1, end: close });
    return { node: "subsearch", subsearch: { ...span, pipeline }, ...span };
  }

  #deeper<Result>(read: () => Result): Result {
    this.#depth++;
    this.#checkDepth(this.#depth);
    const result = read();
    this.#depth--;
    return result;
  }

  #checkDepth(depth: number): void {
    if (depth > MAX_DEPTH) this.#fail(`It is nested too deeply: there can be ${MAX_DEPTH} levels.`);
  }

  /** `!` means NOT; `!=` does not. */
  #exclamation(): boolean {
    return this.#text[this.#offset + 1] !== "=" && this.#symbol("!");
  }

  /** Reads the word if it is next, ignoring case. */
  #word(word: string): boolean {
    this.#skipSpace();
    const end = this.#offset + word.length;
    if (end > this.#end || this.#text.slice(this.#offset, end).toLowerCase() !== word) return false;
    if (end < this.#end && /[\p{L}\p{N}_]/u.test(this.#text.charAt(end))) return false;
    this.#offset = end;
    return true;
  }

  #symbol(symbol: string): boolean {
    this.#skipSpace();
    if (this.#offset >= this.#end || this.#text[this.#offset] !== symbol) return false;
    this.#offset++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    this.#skipSpace();
    pattern.lastIndex = this.#offset;
    const matched = pattern.exec(this.#text)?.[0];
    if (matched === undefined || this.#offset + matched.length > this.#end) return undefined;
    this.#offset += matched.length;
    return matched;
  }

  #skipSpace(): void {
    while (this.#offset < this.#end && isSpace(this.#text[this.#offset])) this.#offset++;
  }

  #left(): string {
    return this.#text.slice(this.#offset, Math.min(this.#end, this.#offset + 100));
  }

  #fail(message: string): never {
    this.#source.fail(message, this.#offset);
  }
}

function binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  return { node: "binary", operator, left, right, start: left.start, end: right.end };
}

/** @param times number of NOTs */
function negate(times: number, start: number, operand: Expression): Expression {
  let negated = operand;
  for (let count = 0; count < times; count++) {
    negated = { node: "unary", operator: "not", operand: negated, start, end: operand.end };
  }
  return negated;
}

/** Builds a balanced tree of equal operators, so that long chains do not nest deeply. */
function balance(operator: "and" | "or" | "xor", operands: readonly Expression[]): Expression {
  let level = operands;
  while (level.length > 1) {
    const next: Expression[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const [left, right] = level.slice(index, index + 2);
      if (left !== undefined) next.push(right === undefined ? left : binary(operator, left, right));
    }
    level = next;
  }
  const [root] = level;
  if (root === undefined) throw new Error("an operator without operands");
  return root;
}
