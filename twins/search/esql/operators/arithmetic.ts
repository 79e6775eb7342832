/**
 * `+ - * / %` of numbers, and of dates with spans of time.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html
 */
import { raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { Compiler } from "../compiler.ts";
import type { Span } from "../errors.ts";
import { convertLiteral } from "../implicit-cast.ts";
import type { ArithmeticOperator, TimeSpan } from "../syntax.ts";
import { addSpan } from "../time-arithmetic.ts";
import { constantTyped, nullTyped, type Typed, unknownTyped, widened } from "../typed.ts";
import { type DataType, isNumeric, isTimeSpan, widest } from "../types.ts";
import { mixesUnsigned } from "./unsigned.ts";

export function compileArithmetic(
  compiler: Compiler,
  operator: ArithmeticOperator,
  leftGiven: Typed,
  rightGiven: Typed,
  at: Span,
): Typed {
  const left = compiler.single(convertLiteral(compiler, leftGiven, rightGiven));
  const right = compiler.single(convertLiteral(compiler, rightGiven, leftGiven));
  if (left.type === "unknown" || right.type === "unknown") return unknownTyped(at);
  if (!fits(compiler, operator, left, "first", at) || !fits(compiler, operator, right, "second", at)) {
    return unknownTyped(at);
  }
  const dated = left.type === "datetime" || right.type === "datetime";
  if (dated || isTimeSpan(left.type) || isTimeSpan(right.type))
    return withDates(compiler, operator, left, right, at);
  if (left.type === "null" || right.type === "null")
    return nullTyped(at, left.type === "null" ? right.type : left.type);
  if (mixesUnsigned(compiler, left, right, at)) return unknownTyped(at);
  return numbers(compiler, operator, left, right, at);
}

function fits(
  compiler: Compiler,
  operator: ArithmeticOperator,
  side: Typed,
  ordinal: string,
  at: Span,
): boolean {
  const additive = operator === "+" || operator === "-";
  const dateLike = side.type === "datetime" || isTimeSpan(side.type);
  if (isNumeric(side.type) || side.type === "null" || (additive && dateLike)) return true;
  compiler.problems.mismatch(
    at,
    `${ordinal} argument of [${compiler.text(at)}] must be [${additive ? "datetime or numeric" : "numeric"}], found value [${compiler.text(side.at)}] type [${side.type}]`,
  );
  return false;
}

function numbers(
  compiler: Compiler,
  operator: ArithmeticOperator,
  left: Typed,
  right: Typed,
  at: Span,
): Typed {
  const type = widest(left.type, right.type);
  const [a, b] = [widened(left, type), widened(right, type)];
  if (operator === "/" || operator === "%") return division(compiler, operator, type, a, b, at);
  const value = compiler.made(type, sql`(${a.sql} ${raw(operator)} ${b.sql})`, at, a, b);
  if (type === "double") return compiler.finite(value);
  return compiler.attempt(
    value,
    [a, b],
    `java.lang.ArithmeticException: ${overflow[type] ?? "long"} overflow`,
  );
}

const overflow: Partial<Record<DataType, string>> = {
  integer: "integer",
  long: "long",
  unsigned_long: "unsigned_long",
};

function division(
  compiler: Compiler,
  operator: "/" | "%",
  type: DataType,
  a: Typed,
  b: Typed,
  at: Span,
): Typed {
  const divisor = b.constant ? b : compiler.hoist(b);
  const operation = operator === "%" ? raw("%") : raw(type === "double" ? "/" : "//");
  const value = compiler.made(type, sql`(${a.sql} ${operation} ${divisor.sql})`, at, a, divisor);
  const { constant } = divisor;
  if (constant && "value" in constant && Number(constant.value) !== 0) return value;
  return compiler.guard(value, sql`${divisor.sql} <> 0`, "java.lang.ArithmeticException: / by zero");
}

function withDates(
  compiler: Compiler,
  operator: ArithmeticOperator,
  left: Typed,
  right: Typed,
  at: Span,
): Typed {
  const span = spanOf(right) ?? (operator === "+" ? spanOf(left) : undefined);
  const date = spanOf(right) ? left : right;
  if (!span || date.type !== "datetime" || (operator !== "+" && operator !== "-")) {
    if (span && date.type === "null") return nullTyped(at, "datetime");
    compiler.problems.mismatch(
      at,
      `[${operator}] has arguments with incompatible types [${left.type}] and [${right.type}]`,
    );
    return unknownTyped(at);
  }
  const signed = operator === "+" ? span : { ...span, months: -span.months, days: -span.days, ms: -span.ms };
  if (date.constant?.type === "datetime") {
    return constantTyped({ type: "datetime", value: addSpan(date.constant.value, signed) }, at);
  }
  const value = compiler.made("datetime", sql`(${date.sql} + ${intervalSql(signed)})`, at, date);
  return compiler.attempt(value, [date], "java.lang.ArithmeticException: long overflow");
}

function spanOf(value: Typed): TimeSpan | undefined {
  const { constant } = value;
  return constant?.type === "date_period" || constant?.type === "time_duration" ? constant.value : undefined;
}

/** The span as an INTERVAL. */
export function intervalSql({ months, days, ms }: TimeSpan): Sql {
  return sql`(to_months(CAST(${BigInt(months)} AS INTEGER)) + to_days(CAST(${BigInt(days)} AS INTEGER)) + to_milliseconds(CAST(${ms} AS DOUBLE)))`;
}

export function compileNegation(compiler: Compiler, given: Typed, at: Span): Typed {
  const operand = compiler.single(given);
  if (operand.type === "unknown") return unknownTyped(at);
  if (operand.type === "null") return nullTyped(at);
  const { constant } = operand;
  if (constant?.type === "date_period" || constant?.type === "time_duration") {
    const { months, days, ms, clock } = constant.value;
    return constantTyped({ ...constant, value: { months: -months, days: -days, ms: -ms, clock } }, at);
  }
  if (operand.type === "unsigned_long") {
    compiler.problems.mismatch(
      at,
      `negation unsupported for arguments of type [unsigned_long] in expression [${compiler.text(at)}]`,
    );
    return unknownTyped(at);
  }
  if (!isNumeric(operand.type)) {
    compiler.problems.mismatch(
      at,
      `argument of [${compiler.text(at)}] must be [numeric, date_period or time_duration], found value [${compiler.text(operand.at)}] type [${operand.type}]`,
    );
    return unknownTyped(at);
  }
  const value = compiler.made(operand.type, sql`(- ${operand.sql})`, at, operand);
  if (operand.type === "double") return value;
  return compiler.attempt(
    value,
    [operand],
    `java.lang.ArithmeticException: ${overflow[operand.type] ?? "long"} overflow`,
  );
}
