/**
 * The arithmetic and boolean subset of Painless: numbers, `params.x`, operators, `?:`, `Math`, casts. Everything else is refused.
 * Source: https://www.elastic.co/guide/en/elasticsearch/painless/8.15/painless-operators.html
 */
import { VendorError } from "../../vendor/error.ts";
import { type Expression, parseScript } from "./script-parser.ts";

/** Values as in Java: `bigint` for integers, `number` for doubles. */
export type ScriptValue = bigint | number | boolean | string | null;

export interface Script {
  /** @throws VendorError `script_exception` */
  run(params: ReadonlyMap<string, ScriptValue>): ScriptValue;
}

/** @throws VendorError `script_exception` for anything outside the subset */
export function compileScript(source: string, lang: string): Script {
  const fail: Fail = (when, type, reason) => {
    throw new VendorError(400, {
      type: "script_exception",
      reason: when,
      script_stack: [source, "^---- HERE"],
      script: source,
      lang,
      caused_by: { type, reason },
    });
  };
  const expression = parseScript(source, lang, (reason) =>
    fail("compile error", "illegal_argument_exception", reason),
  );
  return { run: (params) => evaluate(expression, params, fail) };
}

type Fail = (when: "compile error" | "runtime error", type: string, reason: string) => never;

function evaluate(expression: Expression, params: ReadonlyMap<string, ScriptValue>, fail: Fail): ScriptValue {
  const value = (inner: Expression) => evaluate(inner, params, fail);
  switch (expression.kind) {
    case "literal":
      return expression.value;
    case "param":
      return params.get(expression.name) ?? null;
    case "unary":
      return unary(expression.operator, value(expression.operand), fail);
    case "binary":
      if (expression.operator === "&&")
        return truth(value(expression.left), fail) && truth(value(expression.right), fail);
      if (expression.operator === "||")
        return truth(value(expression.left), fail) || truth(value(expression.right), fail);
      return binary(expression.operator, value(expression.left), value(expression.right), fail);
    case "choice":
      return truth(value(expression.condition), fail) ? value(expression.yes) : value(expression.no);
    case "elvis":
      return value(expression.left) ?? value(expression.right);
    case "call":
      return expression.function(expression.arguments.map((argument) => number(value(argument), fail)));
    case "cast": {
      const operand = value(expression.operand);
      const plain = numeric(operand, fail);
      if (expression.type === "double") return Number(plain);
      return typeof plain === "bigint" ? plain : truncate(plain);
    }
  }
}

function truncate(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  const limit = 2 ** 63;
  if (value >= limit) return 2n ** 63n - 1n;
  return value <= -limit ? -(2n ** 63n) : BigInt(Math.trunc(value));
}

function unary(operator: string, operand: ScriptValue, fail: Fail): ScriptValue {
  if (operator === "!") return !truth(operand, fail);
  const value = numeric(operand, fail);
  return operator === "-" ? -value : value;
}

function binary(operator: string, left: ScriptValue, right: ScriptValue, fail: Fail): ScriptValue {
  if (operator === "==" || operator === "!=") return equal(left, right) === (operator === "==");
  const [a, b] = [numeric(left, fail), numeric(right, fail)];
  switch (operator) {
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
  }
  if (typeof a === "bigint" && typeof b === "bigint") return whole(operator, a, b, fail);
  return double(operator, Number(a), Number(b));
}

function equal(left: ScriptValue, right: ScriptValue): boolean {
  const isNumber = (value: ScriptValue) => typeof value === "number" || typeof value === "bigint";
  // biome-ignore lint/suspicious/noDoubleEquals: a whole number equals a double of the same value, as in Java.
  return isNumber(left) && isNumber(right) ? left == right : left === right;
}

function whole(operator: string, a: bigint, b: bigint, fail: Fail): bigint {
  if ((operator === "/" || operator === "%") && b === 0n) {
    return fail("runtime error", "arithmetic_exception", "/ by zero");
  }
  switch (operator) {
    case "+":
      return BigInt.asIntN(64, a + b);
    case "-":
      return BigInt.asIntN(64, a - b);
    case "*":
      return BigInt.asIntN(64, a * b);
    case "/":
      return a / b;
    default:
      return a % b;
  }
}

function double(operator: string, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    default:
      return a % b;
  }
}

function truth(value: ScriptValue, fail: Fail): boolean {
  if (typeof value === "boolean") return value;
  return fail("runtime error", "class_cast_exception", `Cannot cast from [${typeName(value)}] to [boolean].`);
}

function number(value: ScriptValue, fail: Fail): number {
  return Number(numeric(value, fail));
}

function numeric(value: ScriptValue, fail: Fail): bigint | number {
  if (typeof value === "bigint" || typeof value === "number") return value;
  if (value === null)
    return fail(
      "runtime error",
      "null_pointer_exception",
      'Cannot invoke "Object.getClass()" because value is null',
    );
  return fail(
    "runtime error",
    "class_cast_exception",
    `Cannot apply an arithmetic operation to the type [${typeName(value)}].`,
  );
}

function typeName(value: ScriptValue): string {
  if (value === null) return "null";
  const names: Record<string, string> = {
    bigint: "long",
    number: "double",
    boolean: "boolean",
    string: "java.lang.String",
  };
  return names[typeof value] ?? "java.lang.Object";
}
