/** Expressions built by hand. */
import type { Expression } from "../../spl/syntax/ast.ts";

type Binary = Extract<Expression, { node: "binary" }>;

const nowhere = { start: 0, end: 0 };

export const number = (value: number): Expression => ({
  ...nowhere,
  node: "number",
  value,
  text: String(value),
});
export const string = (value: string): Expression => ({ ...nowhere, node: "string", value });
export const field = (name: string): Expression => ({ ...nowhere, node: "field", name });
export const call = (name: string, ...args: Expression[]): Expression => ({
  ...nowhere,
  node: "call",
  name,
  args,
});
export const not = (operand: Expression): Expression => ({
  ...nowhere,
  node: "unary",
  operator: "not",
  operand,
});
export const minus = (operand: Expression): Expression => ({
  ...nowhere,
  node: "unary",
  operator: "-",
  operand,
});
export const binary = (left: Expression, operator: Binary["operator"], right: Expression): Expression => ({
  ...nowhere,
  node: "binary",
  operator,
  left,
  right,
});
export const within = (operand: Expression, ...values: Expression[]): Expression => ({
  ...nowhere,
  node: "in",
  operand,
  values,
});
