/** A Pratt parser for expressions. */
import { parsingError, type Span, syntaxError, UnrecognisedEsql } from "./errors.ts";
import { negateLiteral, takeListItems, takeLiteral } from "./literals.ts";
import type { Params } from "./params.ts";
import type {
  ArithmeticOperator,
  ComparisonOperator,
  Expression,
  Literal,
  NamedExpression,
} from "./syntax.ts";
import { children } from "./syntax-walk.ts";
import type { TokenReader } from "./token-reader.ts";
import type { Token } from "./tokens.ts";

/** The vendor's limit; it also bounds the stack of this process and of DuckDB. */
const MAX_DEPTH = 400;
/** Bounds the values of a list. */
const MAX_LIST = 50_000;

const startOfExpression =
  "{QUOTED_STRING, INTEGER_LITERAL, DECIMAL_LITERAL, 'false', '(', 'not', 'null', '?', 'true', '+', '-', NAMED_OR_POSITIONAL_PARAM, OPENING_BRACKET, UNQUOTED_IDENTIFIER, QUOTED_IDENTIFIER}";
const startOfPrimary =
  "{QUOTED_STRING, INTEGER_LITERAL, DECIMAL_LITERAL, 'false', '(', 'null', '?', 'true', '+', '-', NAMED_OR_POSITIONAL_PARAM, OPENING_BRACKET, UNQUOTED_IDENTIFIER, QUOTED_IDENTIFIER}";

/** Binding powers of operators; the caller handles an operator that binds too weakly. */
const binding = { or: 1, and: 2, not: 3, predicate: 4, comparison: 5, sum: 6, product: 7, sign: 8, cast: 9 };
type Operator = keyof typeof binding;

const comparisons: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">=", "=~"]);

type Shape<E> = E extends Expression ? Omit<E, "at" | "depth"> : never;

export class ExpressionParser {
  readonly #reader: TokenReader;
  readonly #params: Params;
  #nesting = 0;

  constructor(reader: TokenReader, params: Params) {
    this.#reader = reader;
    this.#params = params;
  }

  /** `a = expression, expression, …` */
  namedList(): NamedExpression[] {
    const fields: NamedExpression[] = [];
    do fields.push(this.#named());
    while (this.#reader.take("symbol", ","));
    return fields;
  }

  #named(): NamedExpression {
    const first = this.#reader.peek();
    const assigned = this.#assignedName();
    const expression = this.parse();
    const at = this.#reader.spanFrom(first);
    const name = assigned ?? this.#reader.query.slice(at.start, at.end);
    if (assigned === undefined && expression.kind === "column")
      return { name: expression.name, expression, at };
    return { name, expression, at };
  }

  /** Reads the name of `name =`, if one is next. */
  #assignedName(): string | undefined {
    let ahead = 0;
    const parts: string[] = [];
    for (;;) {
      const token = this.#reader.peek(ahead);
      if (token.kind !== "name") return undefined;
      parts.push(token.value);
      const behind = this.#reader.peek(ahead + 1);
      if (behind.kind !== "symbol") return undefined;
      if (behind.value === "=") break;
      if (behind.value !== ".") return undefined;
      ahead += 2;
    }
    for (let count = 0; count < ahead + 2; count++) this.#reader.next();
    return parts.join(".");
  }

  parse(): Expression {
    return this.#within(() => this.#operators(0));
  }

  /** The input of DISSECT and GROK: an expression without operators. */
  primary(): Expression {
    return this.#within(() => this.#casts(this.#primary(startOfPrimary)));
  }

  /** The value of a command's option: a string, a number, `true`, …. */
  constant(): Literal {
    const expression = this.#primary(startOfPrimary);
    if (expression.kind !== "literal") throw parsingError(expression.at, "a constant is expected");
    return expression.literal;
  }

  qualifiedName(): { name: string; at: Span } {
    const first = this.#reader.peek();
    const parts = [this.#reader.expect("name", undefined, "{UNQUOTED_IDENTIFIER, QUOTED_IDENTIFIER}").value];
    while (this.#reader.take("symbol", ".")) {
      parts.push(this.#reader.expect("name", undefined, "{UNQUOTED_IDENTIFIER, QUOTED_IDENTIFIER}").value);
    }
    return { name: parts.join("."), at: this.#reader.spanFrom(first) };
  }

  #within(parse: () => Expression): Expression {
    if (++this.#nesting > MAX_DEPTH) throw this.#tooDeep(this.#reader.peek());
    const expression = parse();
    this.#nesting--;
    return expression;
  }

  #tooDeep(at: Span): Error {
    return syntaxError(
      at,
      `ESQL statement exceeded the maximum expression depth allowed (${MAX_DEPTH}): [${this.#reader.query.slice(at.start, at.start + 200)}]`,
    );
  }

  #operators(strength: number): Expression {
    const first = this.#reader.peek();
    let left = this.#prefix(strength);
    for (;;) {
      const operator = this.#operatorAhead();
      if (operator === undefined || binding[operator] <= strength) return left;
      left = this.#infix(left, operator, first);
    }
  }

  #prefix(strength: number): Expression {
    const reader = this.#reader;
    const token = reader.peek();
    if (token.kind === "keyword" && token.value === "not" && strength < binding.predicate) {
      reader.next();
      const operand = this.#within(() => this.#operators(binding.not));
      return this.#node(token, { kind: "not", operand });
    }
    if (token.kind === "symbol" && (token.value === "-" || token.value === "+")) {
      reader.next();
      if (reader.at("integer") || reader.at("decimal")) return this.#signedNumber(token);
      const operand = this.#within(() => this.#operators(binding.sign));
      if (token.value === "+") return operand;
      return this.#node(token, { kind: "negate", operand });
    }
    return this.#casts(this.#primary(strength < binding.predicate ? startOfExpression : startOfPrimary));
  }

  /** A signed number is one literal, so that a cast after it converts the sign, too. */
  #signedNumber(sign: Token): Expression {
    const given = takeLiteral(this.#reader, this.#params) ?? this.#reader.fail(startOfPrimary);
    const literal = (sign.value === "-" ? negateLiteral(given) : given) ?? given;
    return this.#casts(this.#node(sign, { kind: "literal", literal }));
  }

  #operatorAhead(): Operator | undefined {
    const token = this.#reader.peek();
    if (token.kind === "symbol") {
      if (comparisons.has(token.value)) return "comparison";
      if (token.value === "+" || token.value === "-") return "sum";
      if (token.value === "*" || token.value === "/" || token.value === "%") return "product";
    }
    if (token.kind !== "keyword") return undefined;
    if (token.value === "and" || token.value === "or") return token.value;
    return ["is", "in", "like", "rlike", "not"].includes(token.value) ? "predicate" : undefined;
  }

  #infix(left: Expression, operator: Operator, first: Span): Expression {
    const token = this.#reader.next();
    if (operator === "predicate") return this.#predicate(left, token, first);
    const right = this.#within(() => this.#operators(binding[operator]));
    if (operator === "and" || operator === "or") {
      return this.#node(first, { kind: "logical", operator: operator === "and" ? "AND" : "OR", left, right });
    }
    if (operator === "comparison") {
      if (this.#operatorAhead() === "comparison") this.#reader.fail("{<EOF>, '|', 'and', ',', 'or'}");
      return this.#node(first, {
        kind: "comparison",
        operator: token.value as ComparisonOperator,
        left,
        right,
      });
    }
    return this.#node(first, {
      kind: "arithmetic",
      operator: token.value as ArithmeticOperator,
      left,
      right,
    });
  }

  /** Parses `IS [NOT] NULL`, `[NOT] IN (…)` or `[NOT] LIKE "…"` after its first word. */
  #predicate(left: Expression, word: Token, first: Span): Expression {
    const reader = this.#reader;
    if (word.value === "is") {
      const isNot = reader.take("keyword", "not") !== undefined;
      reader.expect("keyword", "null", isNot ? "'null'" : "{'not', 'null'}");
      return this.#node(first, { kind: "is null", value: left, negated: isNot });
    }
    const kind = word.value === "not" ? reader.next() : word;
    const positive = this.#positivePredicate(left, kind, first);
    return word.value === "not" ? this.#node(first, { kind: "not", operand: positive }) : positive;
  }

  #positivePredicate(left: Expression, word: Token, first: Span): Expression {
    const reader = this.#reader;
    if (word.kind === "keyword" && (word.value === "like" || word.value === "rlike")) {
      const operator = word.value === "like" ? "LIKE" : "RLIKE";
      const pattern = reader.expect("string", undefined, "QUOTED_STRING");
      return this.#node(first, {
        kind: "like",
        operator,
        value: left,
        pattern: pattern.value,
        patternAt: pattern,
      });
    }
    if (word.kind === "keyword" && word.value === "in") {
      reader.expect("symbol", "(", "'('");
      const list: Expression[] = [];
      do list.push(this.#within(() => this.#operators(binding.predicate)));
      while (reader.take("symbol", ","));
      reader.expect("symbol", ")", "{',', ')'}");
      const [only, ...more] = list;
      // A list of one is a comparison, as for the vendor.
      return only && more.length === 0
        ? this.#node(first, { kind: "comparison", operator: "==", left, right: only })
        : this.#node(first, { kind: "in", value: left, list });
    }
    throw syntaxError(
      word,
      `mismatched input '${this.#reader.textOf(word)}' expecting {'in', 'like', 'rlike'}`,
    );
  }

  #casts(operand: Expression): Expression {
    let value = operand;
    while (this.#reader.take("symbol", "::")) {
      const type = this.#reader.expect("name", undefined, "{UNQUOTED_IDENTIFIER, QUOTED_IDENTIFIER}");
      value = this.#node(operand.at, { kind: "cast", value, type: type.value, typeAt: type });
    }
    return value;
  }

  #primary(expected: string): Expression {
    const reader = this.#reader;
    const token = reader.peek();
    const literal = takeLiteral(reader, this.#params);
    if (literal) return this.#node(token, { kind: "literal", literal });
    if (token.kind === "symbol" && token.value === "(") {
      reader.next();
      const inner = this.parse();
      reader.expect("symbol", ")", "')'");
      return inner;
    }
    if (token.kind === "symbol" && token.value === "[") return this.#list(token);
    const called = reader.peek(1);
    const callable =
      token.kind === "name" ||
      (token.kind === "keyword" && (token.value === "first" || token.value === "last"));
    if (callable && called.kind === "symbol" && called.value === "(") return this.#call(reader.next());
    if (token.kind !== "name") reader.fail(expected);
    const { name, at } = this.qualifiedName();
    return this.#node(at, { kind: "column", name });
  }

  #call(token: Token): Expression {
    const reader = this.#reader;
    reader.expect("symbol", "(", "'('");
    const args: Expression[] = [];
    const star = reader.take("symbol", "*") !== undefined;
    if (!star && !reader.at("symbol", ")")) {
      do args.push(this.parse());
      while (reader.take("symbol", ","));
    }
    reader.expect("symbol", ")", star ? "')'" : "{',', ')'}");
    return this.#node(token, { kind: "call", name: token.value.toLowerCase(), nameAt: token, args, star });
  }

  #list(open: Token): Expression {
    const items = takeListItems(this.#reader);
    if (items.length > MAX_LIST) throw new UnrecognisedEsql(open, `a list of ${items.length} values`);
    return this.#node(open, { kind: "list", items });
  }

  #node(from: Span, shape: Shape<Expression>): Expression {
    // Spreading would make slow, large objects, and a query can have a million nodes.
    const node: Expression = Object.assign(shape, { at: this.#reader.spanFrom(from), depth: 1 });
    for (const child of children(node)) node.depth = Math.max(node.depth, child.depth + 1);
    if (node.depth > MAX_DEPTH) throw this.#tooDeep(node.at);
    return node;
  }
}
