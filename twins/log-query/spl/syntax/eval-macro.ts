/** The text that an eval macro's definition gives. It is computed while the search is read, so that it knows no event and no time. */
import { SplError } from "../spl-error.ts";
import type { Expression } from "./ast.ts";
import { parseExpressionAt } from "./expression.ts";

type Value = string | number | boolean | undefined;

/** @throws SplError when it is no expression that gives a text or a number, or needs what is not served in a macro */
export function evaluateMacro(definition: string): string {
  const expression = parseExpressionAt({
    text: definition,
    span: { start: 0, end: definition.length },
    nested: () => refuse("it has a subsearch"),
    fail: refuse,
  });
  const left = definition.slice(expression.end).trim();
  if (left !== "") refuse(`nothing is expected at '${left}'`);
  const value = evaluated(expression);
  if (typeof value !== "string" && typeof value !== "number") refuse("it gives neither a text nor a number");
  return String(value);
}

function evaluated(expression: Expression): Value {
  switch (expression.node) {
    case "number":
    case "string":
      return expression.value;
    case "field":
      return undefined;
    case "unary":
      return signed(expression.operator, evaluated(expression.operand));
    case "binary":
      return combined(expression.operator, evaluated(expression.left), evaluated(expression.right));
    case "in":
      return expression.values.some(
        (value) => combined("=", evaluated(expression.operand), evaluated(value)) === true,
      );
    case "call":
      return called(expression.name, expression.args);
    case "subsearch":
      return refuse("it has a subsearch");
  }
}

function signed(operator: "-" | "+" | "not", value: Value): Value {
  if (operator === "not") return typeof value === "boolean" ? !value : undefined;
  const number = numeric(value);
  return operator === "-" && number !== undefined ? -number : number;
}

function combined(
  operator: Extract<Expression, { node: "binary" }>["operator"],
  left: Value,
  right: Value,
): Value {
  switch (operator) {
    case "and":
      return left === true && right === true;
    case "or":
      return left === true || right === true;
    case "xor":
      return (left === true) !== (right === true);
  }
  if (left === undefined || right === undefined) return undefined;
  const a = numeric(left);
  const b = numeric(right);
  const numbers = a !== undefined && b !== undefined;
  switch (operator) {
    case ".":
      return `${left}${right}`;
    case "+":
      if (numbers) return a + b;
      return typeof left === "string" && typeof right === "string" ? left + right : undefined;
    case "-":
      return numbers ? a - b : undefined;
    case "*":
      return numbers ? a * b : undefined;
    case "/":
      return numbers && b !== 0 ? a / b : undefined;
    case "%":
      return numbers && b !== 0 ? a % b : undefined;
    case "like":
      return refuse("LIKE is not served in a macro");
    default:
      return numbers ? compared(operator, a, b) : compared(operator, String(left), String(right));
  }
}

function compared<Operand extends string | number>(operator: string, a: Operand, b: Operand): boolean {
  switch (operator) {
    case "=":
      return a === b;
    case "!=":
      return a !== b;
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    default:
      return a >= b;
  }
}

/** What can be told without an event. */
const functions: Readonly<Record<string, (...values: Value[]) => Value>> = {
  true: () => true,
  false: () => false,
  null: () => undefined,
  if: (condition, yes, no) => (condition === true ? yes : no),
  case: (...values) => values.find((_, index) => index % 2 === 1 && values[index - 1] === true),
  coalesce: (...values) => values.find((value) => value !== undefined),
  isnull: (value) => value === undefined,
  isnotnull: (value) => value !== undefined,
  lower: (value) => (value === undefined ? undefined : String(value).toLowerCase()),
  upper: (value) => (value === undefined ? undefined : String(value).toUpperCase()),
  len: (value) => (value === undefined ? undefined : String(value).length),
  trim: (value) => (value === undefined ? undefined : String(value).trim()),
  tostring: (value) => (typeof value === "boolean" ? (value ? "True" : "False") : value?.toString()),
  tonumber: (value) => numeric(value),
  round: (value) => roundedOrMissing(numeric(value)),
};

function called(name: string, args: readonly Expression[]): Value {
  const call = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (call === undefined) return refuse(`the function '${name}' is not served in a macro`);
  return call(...args.map(evaluated));
}

function roundedOrMissing(value: number | undefined): Value {
  return value === undefined ? undefined : Math.sign(value) * Math.round(Math.abs(value));
}

function numeric(value: Value): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function refuse(reason: string): never {
  throw new SplError(
    `Error in 'SearchParser': The definition of the macro is expected to be an eval expression that returns a string: ${reason}.`,
  );
}
