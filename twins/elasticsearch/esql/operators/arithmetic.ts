/**
 * `+ - * / %` on numbers, and `+ -` on dates and time spans.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html
 */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import { arithmeticError, type Span } from "../errors.ts";
import { convertLiteral, convertLiteralTo } from "../implicit-cast.ts";
import type { ArithmeticOperator, TimeSpan } from "../syntax.ts";
import { addSpan, addSpans, negateSpan } from "../time-arithmetic.ts";
import { constantTyped, nullTyped, type Typed, unknownTyped, widen } from "../typed.ts";
import { type DataType, isNumeric, isTimeSpan, typeSets, widest } from "../types.ts";

export function compileArithmetic(
  compiler: Compiler,
  operator: ArithmeticOperator,
  leftGiven: Typed,
  rightGiven: Typed,
  at: Span,
): Typed {
  const left = compiler.single(convertOperand(compiler, operator, leftGiven, rightGiven), at);
  const right = compiler.single(convertOperand(compiler, operator, rightGiven, leftGiven), at);
  if (left.type === "unknown" || right.type === "unknown") return unknownTyped(at);
  if (
    !checkOperands(compiler, operator, left, "first", at) ||
    !checkOperands(compiler, operator, right, "second", at)
  ) {
    return unknownTyped(at);
  }
  const type = isTemporal(left) || isTemporal(right) ? temporalType(left, right) : numericType(left, right);
  if (type === undefined) {
    compiler.problems.mismatch(
      at,
      `[${operator}] has arguments with incompatible types [${left.type}] and [${right.type}]`,
    );
    return unknownTyped(at);
  }
  if (operator === "-" && right.type === "datetime") {
    compiler.problems.mismatch(
      at,
      `[-] arguments are in unsupported order: cannot subtract a [DATETIME] value [${compiler.text(right.at)}] from a [${left.type.toUpperCase()}] amount [${compiler.text(left.at)}]`,
    );
    return unknownTyped(at);
  }
  if (left.type === "null" || right.type === "null") return nullTyped(at, type);
  if (type === "datetime") return compileDateArithmetic(compiler, operator, left, right, at);
  return isTimeSpan(type)
    ? compileSpanArithmetic(compiler, operator, left, right, at)
    : compileNumberArithmetic(compiler, operator, type, left, right, at);
}

/** Beside a time span, a string is parsed as a date, too. */
function convertOperand(
  compiler: Compiler,
  operator: ArithmeticOperator,
  value: Typed,
  beside: Typed,
): Typed {
  const additive = operator === "+" || operator === "-";
  return additive && isTimeSpan(beside.type)
    ? convertLiteralTo(compiler, value, typeSets.datetime)
    : convertLiteral(compiler, value, beside);
}

function isTemporal({ type }: Typed): boolean {
  return type === "datetime" || isTimeSpan(type);
}

function checkOperands(
  compiler: Compiler,
  operator: ArithmeticOperator,
  side: Typed,
  ordinal: string,
  at: Span,
): boolean {
  const additive = operator === "+" || operator === "-";
  if (isNumeric(side.type) || side.type === "null" || (additive && isTemporal(side))) return true;
  compiler.problems.mismatch(
    at,
    `${ordinal} argument of [${compiler.text(at)}] must be [${additive ? "datetime or numeric" : "numeric"}], found value [${compiler.text(side.at)}] type [${side.type}]`,
  );
  return false;
}

/** The result type for dates and time spans; `undefined` for an invalid pair. */
function temporalType({ type: left }: Typed, { type: right }: Typed): DataType | undefined {
  if (left === "null") return right;
  if (right === "null") return left;
  if (left === "datetime") return isTimeSpan(right) ? left : undefined;
  if (right === "datetime") return isTimeSpan(left) ? right : undefined;
  return left === right ? left : undefined;
}

/** `undefined` for an unsigned number with a signed one: they do not mix. */
function numericType({ type: left }: Typed, { type: right }: Typed): DataType | undefined {
  if (left === "null") return right;
  if (right === "null") return left;
  if ((left === "unsigned_long") !== (right === "unsigned_long")) return undefined;
  return widest(left, right);
}

function compileNumberArithmetic(
  compiler: Compiler,
  operator: ArithmeticOperator,
  type: DataType,
  left: Typed,
  right: Typed,
  at: Span,
): Typed {
  const [a, b] = [widen(left, type), widen(right, type)];
  if (operator === "/" || operator === "%") return division(compiler, operator, type, a, b, at);
  const value = compiler.derive(type, sql`(${a.sql} ${raw(operator)} ${b.sql})`, at, a, b);
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
  const value = compiler.derive(type, sql`(${a.sql} ${operation} ${divisor.sql})`, at, a, divisor);
  const { constant } = divisor;
  if (constant && "value" in constant && Number(constant.value) !== 0) return value;
  return compiler.guard(value, sql`${divisor.sql} <> 0`, "java.lang.ArithmeticException: / by zero");
}

/** Adds a time span to a date, or subtracts it. */
function compileDateArithmetic(
  compiler: Compiler,
  operator: ArithmeticOperator,
  left: Typed,
  right: Typed,
  at: Span,
): Typed {
  const [date, given] = left.type === "datetime" ? [left, spanOf(right)] : [right, spanOf(left)];
  // A null span makes a null date.
  if (!given) return nullTyped(at, "datetime");
  const span = operator === "+" ? given : negateSpan(given);
  if (date.constant?.type === "datetime") {
    return constantTyped({ type: "datetime", value: addSpan(date.constant.value, span) }, at);
  }
  const value = compiler.derive("datetime", sql`(${date.sql} + ${intervalSql(span)})`, at, date);
  return compiler.attempt(value, [date], "java.lang.ArithmeticException: long overflow");
}

/** @throws VendorError for a result out of range */
function compileSpanArithmetic(
  compiler: Compiler,
  operator: ArithmeticOperator,
  left: Typed,
  right: Typed,
  at: Span,
): Typed {
  const [a, b] = [spanOf(left), spanOf(right)];
  if (!a || !b) return nullTyped(at, left.type);
  const sum = addSpans(a, operator === "+" ? b : negateSpan(b));
  if (!sum) throw arithmeticError(compiler.text(at), a.clock ? "long overflow" : "integer overflow");
  return constantTyped({ type: a.clock ? "time_duration" : "date_period", value: sum }, at);
}

function spanOf(value: Typed): TimeSpan | undefined {
  const { constant } = value;
  return constant?.type === "date_period" || constant?.type === "time_duration" ? constant.value : undefined;
}

/** A time span as an INTERVAL. */
function intervalSql({ years, months, days, ms }: TimeSpan): Sql {
  return sql`(to_months(CAST(${BigInt(years * 12 + months)} AS INTEGER)) + to_days(CAST(${BigInt(days)} AS INTEGER)) + to_milliseconds(CAST(${ms} AS DOUBLE)))`;
}

export function compileNegation(compiler: Compiler, given: Typed, at: Span): Typed {
  const operand = compiler.single(given, at);
  if (operand.type === "unknown") return unknownTyped(at);
  if (operand.type === "null") return nullTyped(at);
  const { constant } = operand;
  if (constant?.type === "date_period" || constant?.type === "time_duration") {
    return constantTyped({ ...constant, value: negateSpan(constant.value) }, at);
  }
  if (!isNumeric(operand.type) || operand.type === "unsigned_long") {
    compiler.problems.mismatch(
      at,
      `argument of [${compiler.text(at)}] must be [numeric, date_period or time_duration], found value [${compiler.text(operand.at)}] type [${operand.type}]`,
    );
    return unknownTyped(at);
  }
  const value = compiler.derive(operand.type, sql`(- ${operand.sql})`, at, operand);
  if (operand.type === "double") return value;
  return compiler.attempt(
    value,
    [operand],
    `java.lang.ArithmeticException: ${overflow[operand.type] ?? "long"} overflow`,
  );
}
