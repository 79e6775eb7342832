/** `== != < <= > >=` and IN. */
import { joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { Compiler } from "../compiler.ts";
import { type Span, UnrecognisedEsql } from "../errors.ts";
import { convertLiteral } from "../implicit-cast.ts";
import type { ComparisonOperator } from "../syntax.ts";
import { nullTyped, type Typed, unknownTyped, widened } from "../typed.ts";
import { isNumeric, isString, widest } from "../types.ts";
import { mixesUnsigned } from "./unsigned.ts";

export function compileComparison(
  compiler: Compiler,
  operator: ComparisonOperator,
  leftGiven: Typed,
  rightGiven: Typed,
  at: Span,
): Typed {
  if (operator === "=~") throw new UnrecognisedEsql(at, "the operator [=~]");
  const left = compiler.single(convertLiteral(compiler, leftGiven, rightGiven));
  const right = compiler.single(convertLiteral(compiler, rightGiven, leftGiven));
  if (left.type === "unknown" || right.type === "unknown") return unknownTyped(at);
  if (!ordered(compiler, operator, left, "first", at) || !ordered(compiler, operator, right, "second", at)) {
    return unknownTyped(at);
  }
  if (left.type === "null" || right.type === "null") return nullTyped(at, "boolean");
  if (!comparable(left, right)) {
    const kind = isNumeric(left.type) ? "numeric" : left.type;
    compiler.problems.mismatch(
      at,
      `first argument of [${compiler.text(at)}] is [${kind}] so second argument must also be [${kind}] but was [${right.type}]`,
    );
    return unknownTyped(at);
  }
  if (isNumeric(left.type) && mixesUnsigned(compiler, left, right, at)) return unknownTyped(at);
  const [a, b] = alike(left, right);
  return compiler.made("boolean", sql`(${a.sql} ${operators[operator]} ${b.sql})`, at, a, b);
}

const operators: Readonly<Record<Exclude<ComparisonOperator, "=~">, Sql>> = {
  "==": raw("="),
  "!=": raw("<>"),
  "<": raw("<"),
  "<=": raw("<="),
  ">": raw(">"),
  ">=": raw(">="),
};

/** Truth has no order. */
function ordered(
  compiler: Compiler,
  operator: ComparisonOperator,
  side: Typed,
  ordinal: string,
  at: Span,
): boolean {
  if (operator === "==" || operator === "!=" || side.type !== "boolean") return true;
  compiler.problems.mismatch(
    at,
    `${ordinal} argument of [${compiler.text(at)}] must be [datetime, double, integer, ip, keyword, long, text, unsigned_long or version], found value [${compiler.text(side.at)}] type [boolean]`,
  );
  return false;
}

function comparable(left: Typed, right: Typed): boolean {
  if (isNumeric(left.type)) return isNumeric(right.type);
  if (isString(left.type)) return isString(right.type);
  return left.type === right.type;
}

function alike(left: Typed, right: Typed): [Typed, Typed] {
  if (!isNumeric(left.type)) return [left, right];
  const type = widest(left.type, right.type);
  return [widened(left, type), widened(right, type)];
}

export function compileIn(compiler: Compiler, given: Typed, items: readonly Typed[], at: Span): Typed {
  const value = compiler.single(given);
  if (value.type === "unknown" || items.some(({ type }) => type === "unknown")) return unknownTyped(at);
  const converted = items.map((item) => compiler.single(convertLiteral(compiler, item, value)));
  for (const [index, item] of converted.entries()) {
    if (item.type === "null" || value.type === "null" || comparable(value, item)) continue;
    compiler.problems.mismatch(
      at,
      `${ordinals[index] ?? `${index + 1}th`} argument of [${compiler.text(at)}] must be [${value.type}], found value [${compiler.text(item.at)}] type [${item.type}]`,
    );
    return unknownTyped(at);
  }
  if (value.type === "null") return nullTyped(at, "boolean");
  if (
    isNumeric(value.type) &&
    converted.some((item) => item.type !== "null" && mixesUnsigned(compiler, value, item, at))
  ) {
    return unknownTyped(at);
  }
  const type = isNumeric(value.type)
    ? converted
        .map((item) => item.type)
        .filter(isNumeric)
        .reduce(widest, value.type)
    : value.type;
  const list = joined(
    converted.map((item) => widened(item, type).sql),
    ", ",
  );
  return compiler.made("boolean", sql`(${widened(value, type).sql} IN (${list}))`, at, value, ...converted);
}

const ordinals = ["first", "second", "third", "fourth", "fifth"];
