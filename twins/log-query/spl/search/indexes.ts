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

/** All events of these indexes, whose names can have wildcards; of the default ones when there are none. */
export function amongIndexes(names: readonly string[]): SearchExpression {
  if (names.length === 0) return { node: "all" };
  return { node: "in", field: "index", values: names.map((text) => ({ text, quoted: true })) };
}
