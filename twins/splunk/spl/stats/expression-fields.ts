/** The fields that an expression reads. */
import type { Expression } from "../syntax/ast.ts";

export function fieldsOf(expression: Expression): string[] {
  switch (expression.node) {
    case "field":
      return [expression.name];
    case "call":
      return expression.args.flatMap(fieldsOf);
    case "unary":
      return fieldsOf(expression.operand);
    case "binary":
      return [...fieldsOf(expression.left), ...fieldsOf(expression.right)];
    case "in":
      return [expression.operand, ...expression.values].flatMap(fieldsOf);
    default:
      return [];
  }
}
