/**
 * Reads eval expressions. From the weakest operator to the strongest: XOR; OR; AND; NOT; comparisons, LIKE and IN; `+ - .`; `* / %`;
 * signs. Operators in words are in any case.
 */
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
const maxDepth = 500;
const number = /0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/y;
/** `{}` are of JSON's lists, `$…$` are tokens nobody has put a value for. */
const name = /[\p{L}_$@][\p{L}\p{N}_$@:]*(?:\{[^{}\s"']*\}[\p{L}\p{N}_]*)*/uy;
const comparison = /==|=|!=|<=|>=|<|>/y;
const sum = /[+\-.]/y;
const product = /[*/%]/y;
const comparators: Readonly<Record<string, BinaryOperator>> = {
  "==": "=",
  "=": "=",
  "!=": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
};
const sums: Readonly<Record<string, BinaryOperator>> = { "+": "+", "-": "-", ".": "." };
const products: Readonly<Record<string, BinaryOperator>> = { "*": "*", "/": "/", "%": "%" };
const reserved = new Set(["and", "or", "not", "xor", "like", "in"]);

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

  read(): Expression {
    return this.#logical("xor", () => this.#logical("or", () => this.#logical("and", () => this.#not())));
  }

  /** Operands of an operator that may be grouped as one likes: as flat a tree as can be. */
  #logical(operator: "and" | "or" | "xor", operand: () => Expression): Expression {
    const operands = [operand()];
    while (this.#word(operator)) operands.push(operand());
    return balanced(operator, operands);
  }

  #not(): Expression {
    this.#skipSpace();
    const start = this.#offset;
    if (!this.#word("not")) return this.#comparison();
    const operand = this.#deeper(() => this.#not());
    return { node: "unary", operator: "not", operand, start, end: operand.end };
  }

  #comparison(): Expression {
    let left = this.#sum();
    for (let count = 0; ; count++) {
      this.#bound(count);
      const symbol = this.#match(comparison);
      const comparator = symbol === undefined ? undefined : comparators[symbol];
      if (comparator !== undefined) {
        left = binary(
          comparator,
          left,
          this.#negated(() => this.#sum()),
        );
        continue;
      }
      const start = this.#offset;
      const not = this.#word("not");
      const next = this.#listOrPattern(left);
      if (next === undefined) {
        this.#offset = start;
        return left;
      }
      left = not ? { node: "unary", operator: "not", operand: next, start: left.start, end: next.end } : next;
    }
  }

  /** `x = NOT y`. */
  #negated(operand: () => Expression): Expression {
    this.#skipSpace();
    const start = this.#offset;
    if (!this.#word("not")) return operand();
    const negated = this.#deeper(() => this.#negated(operand));
    return { node: "unary", operator: "not", operand: negated, start, end: negated.end };
  }

  #listOrPattern(left: Expression): Expression | undefined {
    if (this.#word("like")) return binary("like", left, this.#sum());
    if (!this.#word("in")) return undefined;
    if (!this.#symbol("(")) this.#fail("Expected (.");
    const values = this.#arguments();
    return { node: "in", operand: left, values, start: left.start, end: this.#offset };
  }

  #sum(): Expression {
    return this.#chain(sum, sums, () => this.#chain(product, products, () => this.#sign()));
  }

  #chain(
    pattern: RegExp,
    operators: Readonly<Record<string, BinaryOperator>>,
    operand: () => Expression,
  ): Expression {
    let left = operand();
    for (let count = 0; ; count++) {
      this.#bound(count);
      const operator = operators[this.#match(pattern) ?? ""];
      if (operator === undefined) return left;
      left = binary(operator, left, operand());
    }
  }

  #sign(): Expression {
    this.#skipSpace();
    const start = this.#offset;
    const char = this.#text[start];
    if (start >= this.#end || (char !== "-" && char !== "+")) return this.#factor();
    this.#offset++;
    const operand = this.#deeper(() => this.#sign());
    return { node: "unary", operator: char, operand, start, end: operand.end };
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
      if (char === undefined || char === ")" || char === ",") this.#fail("The factor is missing.");
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
