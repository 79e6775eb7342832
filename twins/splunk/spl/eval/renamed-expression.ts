/** An expression whose fields have other names. */
import type { Expression } from "../syntax/ast.ts";

/** @param names from the old name to the new one */
export function renamedExpression(expression: Expression, names: ReadonlyMap<string, string>): Expression {
  const renamed = (operand: Expression) => renamedExpression(operand, names);
  switch (expression.node) {
    case "field":
      return { ...expression, name: names.get(expression.name) ?? expression.name };
    case "call":
      return { ...expression, args: expression.args.map(renamed) };
    case "unary":
      return { ...expression, operand: renamed(expression.operand) };
    case "binary":
      return { ...expression, left: renamed(expression.left), right: renamed(expression.right) };
    case "in":
      return { ...expression, operand: renamed(expression.operand), values: expression.values.map(renamed) };
    default:
      return expression;
  }
}
