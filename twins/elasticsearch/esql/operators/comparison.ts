/** `== != < <= > >=` and IN. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import { type Span, UnrecognisedEsql } from "../errors.ts";
import { convertLiteral } from "../implicit-cast.ts";
import type { ComparisonOperator } from "../syntax.ts";
import { nullTyped, type Typed, unknownTyped, widen } from "../typed.ts";
import { isNumeric, isString, isTimeSpan, widest } from "../types.ts";

export function compileComparison(
  compiler: Compiler,
  operator: ComparisonOperator,
  leftGiven: Typed,
  rightGiven: Typed,
  at: Span,
): Typed {
  if (operator === "=~") throw new UnrecognisedEsql(at, "the operator [=~]");
  const left = compiler.single(convertLiteral(compiler, leftGiven, rightGiven), at);
  const right = compiler.single(convertLiteral(compiler, rightGiven, leftGiven), at);
  if (left.type === "unknown" || right.type === "unknown") return unknownTyped(at);
  if (
    !checkOrdered(compiler, operator, left, "first", at) ||
    !checkOrdered(compiler, operator, right, "second", at)
  ) {
    return unknownTyped(at);
  }
  if (left.type === "null" && right.type === "null") return nullTyped(at, "boolean");
  if (compiler.context.fidelity === "specification" && (left.type === "null" || right.type === "null"))
    return nullTyped(at, "boolean");
  if (mixesUnsigned(left, right)) {
    compiler.problems.mismatch(
      at,
      `first argument of [${compiler.text(at)}] is [${left.type}] and second is [${right.type}]. [unsigned_long] can only be operated on together with another [unsigned_long]`,
    );
    return unknownTyped(at);
  }
  if (!comparable(left, right)) {
    const kind = isNumeric(left.type) ? "numeric" : left.type;
    compiler.problems.mismatch(
      at,
      `first argument of [${compiler.text(at)}] is [${kind}] so second argument must also be [${kind}] but was [${right.type}]`,
    );
    return unknownTyped(at);
  }
  const [a, b] = unifyTypes(left, right);
  return compiler.derive("boolean", sql`(${a.sql} ${operators[operator]} ${b.sql})`, at, a, b);
}

const operators: Readonly<Record<Exclude<ComparisonOperator, "=~">, Sql>> = {
  "==": raw("="),
  "!=": raw("<>"),
  "<": raw("<"),
  "<=": raw("<="),
  ">": raw(">"),
  ">=": raw(">="),
};

const equatable =
  "boolean, cartesian_point, cartesian_shape, datetime, double, geo_point, geo_shape, integer, ip, keyword, long, text, unsigned_long or version";
const orderable = "datetime, double, integer, ip, keyword, long, text, unsigned_long or version";

/** Ordering comparisons. Booleans have no order, and time spans compare with nothing. */
function checkOrdered(
  compiler: Compiler,
  operator: ComparisonOperator,
  side: Typed,
  place: string,
  at: Span,
): boolean {
  const equality = operator === "==" || operator === "!=";
  if (!isTimeSpan(side.type) && side.type !== "source" && (equality || side.type !== "boolean")) return true;
  compiler.problems.mismatch(
    at,
    `${place} argument of [${compiler.text(at)}] must be [${equality ? equatable : orderable}], found value [${compiler.text(side.at)}] type [${side.type}]`,
  );
  return false;
}

/** Unsigned numbers compare only with their own type. */
function mixesUnsigned(left: Typed, right: Typed): boolean {
  return (left.type === "unsigned_long") !== (right.type === "unsigned_long");
}

function comparable(left: Typed, right: Typed): boolean {
  if (isNumeric(left.type)) return isNumeric(right.type);
  if (isString(left.type)) return isString(right.type);
  return left.type === right.type;
}

function unifyTypes(left: Typed, right: Typed): [Typed, Typed] {
  if (!isNumeric(left.type)) return [left, right];
  const type = widest(left.type, right.type);
  return [widen(left, type), widen(right, type)];
}

export function compileIn(compiler: Compiler, given: Typed, items: readonly Typed[], at: Span): Typed {
  const value = compiler.single(given, at);
  if (value.type === "unknown" || items.some(({ type }) => type === "unknown")) return unknownTyped(at);
  const converted = items.map((item) => compiler.single(convertLiteral(compiler, item, value), at));
  for (const [index, item] of converted.entries()) {
    if (item.type === "null" || value.type === "null") continue;
    if (comparable(value, item) && !mixesUnsigned(value, item)) continue;
    compiler.problems.mismatch(
      at,
      `${ordinal(index + 1)} argument of [${compiler.text(at)}] must be [${value.type}], found value [${compiler.text(item.at)}] type [${item.type}]`,
    );
    return unknownTyped(at);
  }
  if (value.type === "null") return nullTyped(at, "boolean");
  const type = isNumeric(value.type)
    ? converted
        .map((item) => item.type)
        .filter(isNumeric)
        .reduce(widest, value.type)
    : value.type;
  const list = joined(
    converted.map((item) => widen(item, type).sql),
    ", ",
  );
  return compiler.derive("boolean", sql`(${widen(value, type).sql} IN (${list}))`, at, value, ...converted);
}

function ordinal(place: number): string {
  const teen = place % 100 >= 11 && place % 100 <= 13;
  return `${place}${teen ? "th" : (["th", "st", "nd", "rd"][place % 10] ?? "th")}`;
}
