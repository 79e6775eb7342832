/** The fields that an expression reads. */
import type { Expression } from "../syntax/ast.ts";

export function fieldsOf(expression: Expression): Set<string> {
  const names = new Set<string>();
  const open: Expression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.node === "field") names.add(node.name);
    open.push(...operandsOf(node));
  }
  return names;
}

function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.node) {
    case "call":
      return expression.args;
    case "unary":
      return [expression.operand];
    case "binary":
      return [expression.left, expression.right];
    case "in":
      return [expression.operand, ...expression.values];
    default:
      return [];
  }
}
