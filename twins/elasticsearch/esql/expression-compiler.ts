/** Compiles expressions to SQL. */
import { joined, raw, sql } from "@offhook/log-store/sql";
import { Compiler } from "./compiler.ts";
import { type Span, UnrecognisedEsql } from "./errors.ts";
import { compileCall } from "./functions/call.ts";
import { compileCast } from "./functions/cast.ts";
import { findFunction } from "./functions/registry.ts";
import { compileArithmetic, compileNegation } from "./operators/arithmetic.ts";
import { compileComparison, compileIn } from "./operators/comparison.ts";
import { compileLike } from "./operators/like.ts";
import type { Expression, Literal } from "./syntax.ts";
import { constantTyped, literalConstant, nullTyped, type Typed, unknownTyped } from "./typed.ts";
import { type DataType, isNumeric, isTimeSpan, sqlType } from "./types.ts";

export class ExpressionCompiler extends Compiler {
  protected override compileNode(node: Expression): Typed {
    const { at } = node;
    switch (node.kind) {
      case "literal":
        return constantTyped(literalConstant(node.literal), at);
      case "list":
        return this.#list(node.items, at);
      case "column":
        return this.column(node.name, at);
      case "call":
        return compileCall(this, node);
      case "cast":
        return compileCast(this, node);
      case "negate":
        return compileNegation(this, this.expression(node.operand), at);
      case "arithmetic":
        return compileArithmetic(
          this,
          node.operator,
          this.expression(node.left),
          this.expression(node.right),
          at,
        );
      case "comparison":
        return compileComparison(
          this,
          node.operator,
          this.expression(node.left),
          this.expression(node.right),
          at,
        );
      case "in":
        return compileIn(
          this,
          this.expression(node.value),
          node.list.map((item) => this.expression(item)),
          at,
        );
      case "like":
        return this.problems.defer(
          () => compileLike(this, node, this.expression(node.value)),
          () => this.derive("boolean", raw("CAST(NULL AS BOOLEAN)"), at),
        );
      case "not": {
        const operand = this.single(this.#condition(node.operand, "", at), at);
        return this.derive("boolean", sql`(NOT ${operand.sql})`, at, operand);
      }
      case "logical": {
        const sides = [
          this.#condition(node.left, "first ", at),
          this.#condition(node.right, "second ", at),
        ] as const;
        const simple = simplifyLogic(node.operator, ...sides);
        if (simple) return { ...simple, at };
        const [left, leftIsOne] = this.truthOf(sides[0]);
        const [right, rightIsOne] = this.truthOf(sides[1]);
        const whole = sql`(${left.sql} ${raw(node.operator)} ${right.sql})`;
        const single = [leftIsOne, rightIsOne].filter((test) => test !== undefined);
        const value =
          single.length === 0 ? whole : sql`CASE WHEN ${joined(single, " AND ")} THEN ${whole} END`;
        return this.derive("boolean", value, at, left, right);
      }
      case "is null": {
        const value = this.expression(node.value);
        if (isTimeSpan(value.type)) return constantTyped({ type: "boolean", value: node.negated }, at);
        const test = node.negated ? raw("IS NOT NULL") : raw("IS NULL");
        return this.derive("boolean", sql`(${value.sql} ${test})`, at, value);
      }
    }
  }

  protected override another(): Compiler {
    return new ExpressionCompiler(this.query, this.context, this.folded);
  }

  protected override isScalarFunction(name: string): boolean {
    return findFunction(name)?.kind === "scalar";
  }

  #condition(node: Expression, ordinal: string, at: Span): Typed {
    const value = this.expression(node);
    if (value.type === "null") return nullTyped(value.at, "boolean");
    if (value.type !== "boolean" && value.type !== "unknown") {
      this.problems.mismatch(
        at,
        `${ordinal}argument of [${this.text(at)}] must be [boolean], found value [${this.text(node.at)}] type [${value.type}]`,
      );
      return unknownTyped(node.at);
    }
    return value;
  }

  #list(items: readonly Literal[], at: Span): Typed {
    const constants = items.map((item) => constantTyped(literalConstant(item), at));
    const type = commonType(constants.map(({ type: itemType }) => itemType));
    if (type === undefined) throw new UnrecognisedEsql(at, "a list of values of several types");
    const values = constants.map((constant) => sql`CAST(${constant.sql} AS ${sqlType(type)})`);
    const all = values.reduce(
      (before, value, index) => (index === 0 ? value : sql`${before}, ${value}`),
      raw(""),
    );
    return {
      type,
      multi: true,
      sql: sql`[${all}]`,
      constant: undefined,
      atomic: items.length < 8,
      depth: 2,
      at,
    };
  }
}

/**
 * The vendor's optimizer: a constant beside AND or OR decides, or leaves the other side as it is, several values
 * included.
 */
function simplifyLogic(operator: "AND" | "OR", left: Typed, right: Typed): Typed | undefined {
  for (const [side, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (side.constant?.type === "boolean") return side.constant.value === (operator === "AND") ? other : side;
  }
  return undefined;
}

/** The widest numeric type of a list; other types must be equal. */
function commonType(types: readonly DataType[]): DataType | undefined {
  const distinct = new Set(types);
  if (distinct.size === 1) return types[0];
  if (![...distinct].every(isNumeric)) return undefined;
  return (["double", "unsigned_long"] as const).find((type) => distinct.has(type)) ?? "long";
}
