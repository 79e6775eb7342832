/** Which indexes a search looks at. */
import type { SearchExpression } from "../syntax/ast.ts";

/** Whether an expression says which indexes are meant; else the default ones are. */
export function namesIndexes(expression: SearchExpression): boolean {
  switch (expression.node) {
    case "and":
    case "or":
      return expression.operands.some(namesIndexes);
    case "not":
      return namesIndexes(expression.operand);
    case "comparison":
    case "in":
      return expression.field === "index";
    default:
      return false;
  }
}
