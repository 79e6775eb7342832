/** Evaluates the definitions of eval macros while the search is parsed: without events and without a time. */
import { lookupTable, ownValue } from "@offhook/platform/base/lookup-table";
import { SplError } from "../spl-error.ts";
import type { Expression } from "./ast.ts";
import { parseExpressionAt } from "./expression.ts";

type Value = string | number | boolean | undefined;

/** Computes the text of an eval macro. @throws SplError for a malformed or unsupported expression, and for other results than texts and numbers */
export function evaluateMacro(definition: string): string {
  const value = evaluate(parse(definition), new Map());
  if (typeof value !== "string" && typeof value !== "number") refuse("it gives neither a text nor a number");
  return String(value);
}

/**
 * Validates the arguments of a macro. @returns the error: the text that the validation gives, or `errorMessage` if it is not true.
 * Source: macros.conf.spec. @throws SplError as above
 */
export function validateMacro(
  validation: string,
  args: ReadonlyMap<string, string>,
  errorMessage: string,
): string | undefined {
  const expression = parse(validation);
  const value = evaluate(expression, args);
  if (value === true) return undefined;
  if (typeof value === "boolean" || (value === undefined && isCondition(expression))) return errorMessage;
  return value === undefined ? undefined : String(value);
}

/** Whether an expression gives a boolean if it gives a value. */
function isCondition(expression: Expression): boolean {
  switch (expression.node) {
    case "in":
      return true;
    case "unary":
      return expression.operator === "not";
    case "binary":
      return ![".", "+", "-", "*", "/", "%"].includes(expression.operator);
    default:
      return false;
  }
}

function parse(definition: string): Expression {
  const expression = parseExpressionAt({
    text: definition,
    span: { start: 0, end: definition.length },
    nested: () => refuse("it has a subsearch"),
    fail: refuse,
  });
  const left = definition.slice(expression.end).trim();
  if (left !== "") refuse(`nothing is expected at '${left}'`);
  return expression;
}

/** @param fields values of names: the arguments of the macro being validated */
function evaluate(expression: Expression, fields: ReadonlyMap<string, string>): Value {
  const given = (one: Expression) => evaluate(one, fields);
  switch (expression.node) {
    case "number":
    case "string":
      return expression.value;
    case "field":
      return fields.get(expression.name);
    case "unary":
      return applyUnary(expression.operator, given(expression.operand));
    case "binary":
      return applyBinary(expression.operator, given(expression.left), given(expression.right));
    case "in":
      return expression.values.some(
        (value) => applyBinary("=", given(expression.operand), given(value)) === true,
      );
    case "call":
      return callFunction(expression.name, expression.args.map(given));
    case "subsearch":
      return refuse("it has a subsearch");
  }
}

function applyUnary(operator: "-" | "+" | "not", value: Value): Value {
  if (operator === "not") return typeof value === "boolean" ? !value : undefined;
  const number = numberOf(value);
  return operator === "-" && number !== undefined ? -number : number;
}

function applyBinary(
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
  const a = numberOf(left);
  const b = numberOf(right);
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
      return numbers ? compare(operator, a, b) : compare(operator, String(left), String(right));
  }
}

function compare<Operand extends string | number>(operator: string, a: Operand, b: Operand): boolean {
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

/** Functions that need no event. */
const functions = lookupTable<(...values: Value[]) => Value>({
  true: () => true,
  false: () => false,
  null: () => undefined,
  if: (condition, yes, no) => (condition === true ? yes : no),
  case: (...values) => values.find((_, index) => index % 2 === 1 && values[index - 1] === true),
  coalesce: (...values) => values.find((value) => value !== undefined),
  isnull: (value) => value === undefined,
  isnotnull: (value) => value !== undefined,
  isnum: (value) => numberOf(value) !== undefined,
  isint: (value) => Number.isInteger(numberOf(value)),
  isstr: (value) => typeof value === "string" && numberOf(value) === undefined,
  validate: (...values) => values.find((_, index) => index % 2 === 1 && values[index - 1] !== true),
  lower: (value) => (value === undefined ? undefined : String(value).toLowerCase()),
  upper: (value) => (value === undefined ? undefined : String(value).toUpperCase()),
  len: (value) => (value === undefined ? undefined : String(value).length),
  trim: (value) => (value === undefined ? undefined : String(value).trim()),
  tostring: (value) => (typeof value === "boolean" ? (value ? "True" : "False") : value?.toString()),
  tonumber: (value) => numberOf(value),
  round: (value) => round(numberOf(value)),
});

function callFunction(name: string, args: readonly Value[]): Value {
  const call = ownValue(functions, name);
  if (call === undefined) return refuse(`the function '${name}' is not served in a macro`);
  return call(...args);
}

function round(value: number | undefined): Value {
  return value === undefined ? undefined : Math.sign(value) * Math.round(Math.abs(value));
}

function numberOf(value: Value): number | undefined {
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
