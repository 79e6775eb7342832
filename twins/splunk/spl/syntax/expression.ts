/**
 * Reads eval expressions. From the weakest operator to the strongest: XOR; OR; AND; NOT (or `!`); comparisons, LIKE and IN; `+ - .`; `* / %`;
 * signs. Operators in words are in any case.
 */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Expression, Pipeline, Span } from "./ast.ts";
import { afterString, closingBracket, isSpace, unescaped } from "./text.ts";

export interface ExpressionSource {
  text: string;
  span: Span;
  /** Reads the pipeline of a subsearch. */
  nested(span: Span): Pipeline;
  /** @param message without `The expression is malformed.` */
  fail(message: string, at: number): never;
}

type BinaryOperator = Extract<Expression, { node: "binary" }>["operator"];

/** Parentheses, calls, signs and operators of one strength in each other. */
const maxDepth = 250;
const number = /0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/y;
/** `{}` are of JSON's lists, `$…$` are tokens nobody has put a value for. */
const name = /[\p{L}_$@][\p{L}\p{N}_$@:]*(?:\{[^{}\s"']*\}[\p{L}\p{N}_]*)*/uy;
const operatorText = /==|!=|<=|>=|[=<>+\-.*/%]|(?:and|or|xor|like|in|not\s+(?:like|in))(?![\p{L}\p{N}_])/iuy;
const reserved = new Set(["and", "or", "not", "xor", "like", "in"]);

/** The higher the stronger. */
const strengths = { xor: 1, or: 2, and: 3, not: 4, comparison: 5, sum: 6, product: 7 };
const operators = lookupTable<{ operator: BinaryOperator; strength: number }>({
  xor: { operator: "xor", strength: strengths.xor },
  or: { operator: "or", strength: strengths.or },
  and: { operator: "and", strength: strengths.and },
  like: { operator: "like", strength: strengths.comparison },
  "=": { operator: "=", strength: strengths.comparison },
  "==": { operator: "=", strength: strengths.comparison },
  "!=": { operator: "!=", strength: strengths.comparison },
  "<": { operator: "<", strength: strengths.comparison },
  "<=": { operator: "<=", strength: strengths.comparison },
  ">": { operator: ">", strength: strengths.comparison },
  ">=": { operator: ">=", strength: strengths.comparison },
  "+": { operator: "+", strength: strengths.sum },
  "-": { operator: "-", strength: strengths.sum },
  ".": { operator: ".", strength: strengths.sum },
  "*": { operator: "*", strength: strengths.product },
  "/": { operator: "/", strength: strengths.product },
  "%": { operator: "%", strength: strengths.product },
});

/** The longest expression that the text begins with. */
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

  /** @param weakest operators that are weaker end the expression */
  read(weakest = strengths.xor): Expression {
    let left = this.#prefixed(weakest);
    for (let count = 0; ; count++) {
      this.#bound(count);
      const next = this.#operator(weakest);
      if (next === undefined) return left;
      left = this.#operation(left, next);
    }
  }

  #operation(left: Expression, { negated, text }: { negated: boolean; text: string }): Expression {
    const known = operators[text];
    if (known === undefined) return negation(negated ? 1 : 0, left.start, this.#list(left));
    const { operator, strength } = known;
    const operand = () => {
      this.#expectOperand(operator);
      return this.read(strength + 1);
    };
    const right = operand();
    if (operator === "and" || operator === "or" || operator === "xor") {
      const operands = [left, right];
      while (this.#word(operator)) operands.push(operand());
      return balanced(operator, operands);
    }
    return negation(negated ? 1 : 0, left.start, binary(operator, left, right));
  }

  /** Takes the operator that is next unless it is weaker: its text in lower case, and whether NOT stood before it. */
  #operator(weakest: number): { negated: boolean; text: string } | undefined {
    const start = this.#offset;
    const matched = this.#match(operatorText)?.toLowerCase();
    if (matched === undefined) return undefined;
    const negated = /^not\s/.test(matched);
    const text = negated ? matched.slice(3).trim() : matched;
    if ((operators[text]?.strength ?? strengths.comparison) >= weakest) return { negated, text };
    this.#offset = start;
    return undefined;
  }

  /** What is said of an operator that nothing stands behind. */
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

  /** With the NOTs or the signs before it. */
  #prefixed(weakest: number): Expression {
    this.#skipSpace();
    const start = this.#offset;
    let negations = 0;
    while (this.#word("not") || this.#exclamation()) this.#bound(++negations);
    if (negations > 0) return negation(negations, start, this.read(Math.max(weakest, strengths.not)));
    const signs: { operator: "-" | "+"; start: number }[] = [];
    for (;;) {
      this.#skipSpace();
      const char = this.#text[this.#offset];
      if (this.#offset >= this.#end || (char !== "-" && char !== "+")) break;
      signs.push({ operator: char, start: this.#offset });
      this.#bound(signs.length);
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

  /** Up to the closing parenthesis; the opening one is read. */
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
    return { node: "string", value: unescaped(this.#text.slice(start + 1, end - 1)), start, end };
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
    this.#bound(this.#depth);
    const result = read();
    this.#depth--;
    return result;
  }

  #bound(depth: number): void {
    if (depth > maxDepth) this.#fail(`It is nested too deeply: there can be ${maxDepth} levels.`);
  }

  /** `!` says the same as NOT; `!=` does not. */
  #exclamation(): boolean {
    return this.#text[this.#offset + 1] !== "=" && this.#symbol("!");
  }

  /** Takes the word if it is next, whatever its case. */
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

/** @param times how many NOTs there are */
function negation(times: number, start: number, operand: Expression): Expression {
  let negated = operand;
  for (let count = 0; count < times; count++) {
    negated = { node: "unary", operator: "not", operand: negated, start, end: operand.end };
  }
  return negated;
}

function balanced(operator: "and" | "or" | "xor", operands: readonly Expression[]): Expression {
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
