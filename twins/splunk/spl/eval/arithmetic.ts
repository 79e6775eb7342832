/** Arithmetic on doubles, and concatenation of texts. An operand that is no number gives NULL. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, numberOf, textOf } from "../relation/typed.ts";
import { fieldPrecision, resultPrecision, roundToPrecision } from "./precision.ts";
import type { Scope } from "./scope.ts";
import { certainType, constant, nothing, number, text, type Value } from "./value.ts";

type Operator = "-" | "*" | "/" | "%";

/** A value as DOUBLE; NULL if it is no number. */
export function doubleOf(value: Value): Sql {
  if (value.isNull) return raw("CAST(NULL AS DOUBLE)");
  return value.type === "number" && !value.multi ? sql`CAST(${value.sql} AS DOUBLE)` : numberOf(value);
}

export function arithmetic(operator: Operator, left: Value, right: Value, scope: Scope): Value {
  for (const value of [left, right]) {
    const type = certainType(value) ?? "number";
    if (type !== "number" || value.type === "boolean") {
      scope.fail(`Type checking failed. '${operator}' only takes numbers.`);
    }
  }
  const a = doubleOf(left);
  const b = doubleOf(right);
  const divides = operator === "/" || operator === "%";
  const result = sql`(${a} ${raw(operator)} ${divides ? sql`nullif(${b}, 0)` : b})`;
  return asCertain(withPrecision(operator, left, right, result));
}

/** A numeric result with the precision that its operands allow. */
function withPrecision(operator: Operator | "+", left: Value, right: Value, result: Sql): Value {
  return { ...number(result), precision: resultPrecision(operator, [left, right], result) };
}

export function negate(value: Value, scope: Scope): Value {
  const { precision, displayText: shown } = value;
  if (typeof value.constant === "number") {
    const text = shown === undefined ? {} : { displayText: sql`('-' || ${shown})` };
    return { ...constant(-value.constant), precision, ...text };
  }
  if (value.type === "boolean" || (certainType(value) ?? "number") !== "number") {
    scope.fail("Type checking failed. '-' only takes numbers.");
  }
  return asCertain({ ...number(sql`(- ${doubleOf(value)})`), precision });
}

function asCertain(value: Value): Value {
  return { ...value, certain: true };
}

/**
 * `+`: concatenates if one side is known to be a text. Otherwise the values of each row decide: two numbers are added, two texts
 * concatenated, a number and a text give NULL.
 */
export function add(left: Value, right: Value, scope: Scope): Value {
  const types = [certainType(left), certainType(right)];
  const booleans = left.type === "boolean" || right.type === "boolean";
  if (booleans || types.includes("null") || (types.includes("text") && types.includes("number"))) {
    scope.fail("Type checking failed. '+' only takes two strings or two numbers.");
  }
  if (left.isNull || right.isNull) return nothing;
  if (types.includes("text")) return concatTexts(left, right);
  if (left.type === "number" || right.type === "number" || left.multi || right.multi) {
    return asCertain(withPrecision("+", left, right, sql`(${doubleOf(left)} + ${doubleOf(right)})`));
  }
  if (!left.loose && !right.loose) return text(sql`(${left.sql} || ${right.sql})`);
  const sum = bindOnce(left.sql, (a) =>
    bindOnce(right.sql, (b) => {
      const first = numberOf({ ...left, sql: a });
      const second = numberOf({ ...right, sql: b });
      const exactness = { ...left, precision: fieldPrecision({ ...left, sql: a }) };
      const other = { ...right, precision: fieldPrecision({ ...right, sql: b }) };
      const added = textOf(
        roundToPrecision(withPrecision("+", exactness, other, sql`(${first} + ${second})`)),
      );
      return sql`coalesce(${added}, CASE WHEN ${first} IS NULL AND ${second} IS NULL THEN ${a} || ${b} END)`;
    }),
  );
  return { ...text(sum), loose: true };
}

/** `.`: concatenates both sides as text. NULL for a multi-value of several values. */
export function concatenate(left: Value, right: Value, scope: Scope): Value {
  const refused = [left, right].some((value) => value.type === "boolean" || certainType(value) === "null");
  if (refused) scope.fail("Type checking failed. The '.' operator only takes strings and numbers.");
  return left.isNull || right.isNull ? nothing : concatTexts(left, right);
}

function concatTexts(first: Value, second: Value): Value {
  const [left, right] = [roundToPrecision(first), roundToPrecision(second)];
  if (typeof left.constant === "string" && typeof right.constant === "string") {
    return { ...constant(left.constant + right.constant), loose: true };
  }
  return asCertain({ ...text(sql`(${singleText(left)} || ${singleText(right)})`), loose: true });
}

/** A value as one text; NULL for a multi-value of several values. */
export function singleText(value: Value): Sql {
  if (!value.multi) return textOf(value);
  return bindOnce(value.sql, (list) =>
    textOf({ ...value, multi: false, sql: sql`CASE WHEN len(${list}) = 1 THEN ${list}[1] END` }),
  );
}
