/** The text that an eval macro's definition gives. It is computed while the search is read, so that it knows no event and no time. */

import { lookupTable, ownValue } from "@offhook/platform/base/lookup-table";
import { SplError } from "../spl-error.ts";
import type { Expression } from "./ast.ts";
import { parseExpressionAt } from "./expression.ts";

type Value = string | number | boolean | undefined;

/** @throws SplError when it is no expression that gives a text or a number, or needs what is not served in a macro */
export function evaluateMacro(definition: string): string {
  const value = evaluated(parsed(definition), new Map());
  if (typeof value !== "string" && typeof value !== "number") refuse("it gives neither a text nor a number");
  return String(value);
}

/**
 * What is wrong with the arguments of a macro: the text that its validation gives, or its message where that is not true.
 * Source: macros.conf.spec. @throws SplError as above
 */
export function validateMacro(
  validation: string,
  args: ReadonlyMap<string, string>,
  errorMessage: string,
): string | undefined {
  const expression = parsed(validation);
  const value = evaluated(expression, args);
  if (value === true) return undefined;
  if (typeof value === "boolean" || (value === undefined && isCondition(expression))) return errorMessage;
  return value === undefined ? undefined : String(value);
}

/** Whether an expression gives a truth value where it gives any. */
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

function parsed(definition: string): Expression {
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

/** @param fields what names stand for: the arguments of a macro whose validation it is */
function evaluated(expression: Expression, fields: ReadonlyMap<string, string>): Value {
  const given = (one: Expression) => evaluated(one, fields);
  switch (expression.node) {
    case "number":
    case "string":
      return expression.value;
    case "field":
      return fields.get(expression.name);
    case "unary":
      return signed(expression.operator, given(expression.operand));
    case "binary":
      return combined(expression.operator, given(expression.left), given(expression.right));
    case "in":
      return expression.values.some(
        (value) => combined("=", given(expression.operand), given(value)) === true,
      );
    case "call":
      return called(expression.name, expression.args.map(given));
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
const functions = lookupTable<(...values: Value[]) => Value>({
  true: () => true,
  false: () => false,
  null: () => undefined,
  if: (condition, yes, no) => (condition === true ? yes : no),
  case: (...values) => values.find((_, index) => index % 2 === 1 && values[index - 1] === true),
  coalesce: (...values) => values.find((value) => value !== undefined),
  isnull: (value) => value === undefined,
  isnotnull: (value) => value !== undefined,
  isnum: (value) => numeric(value) !== undefined,
  isint: (value) => Number.isInteger(numeric(value)),
  isstr: (value) => typeof value === "string" && numeric(value) === undefined,
  validate: (...values) => values.find((_, index) => index % 2 === 1 && values[index - 1] !== true),
  lower: (value) => (value === undefined ? undefined : String(value).toLowerCase()),
  upper: (value) => (value === undefined ? undefined : String(value).toUpperCase()),
  len: (value) => (value === undefined ? undefined : String(value).length),
  trim: (value) => (value === undefined ? undefined : String(value).trim()),
  tostring: (value) => (typeof value === "boolean" ? (value ? "True" : "False") : value?.toString()),
  tonumber: (value) => numeric(value),
  round: (value) => roundedOrMissing(numeric(value)),
});

function called(name: string, args: readonly Value[]): Value {
  const call = ownValue(functions, name);
  if (call === undefined) return refuse(`the function '${name}' is not served in a macro`);
  return call(...args);
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
