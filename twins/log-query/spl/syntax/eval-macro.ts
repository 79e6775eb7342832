/** The text that an eval macro's definition gives. It is computed while the search is read, so that it knows no event. */
import { SplError } from "../spl-error.ts";
import type { Expression } from "./ast.ts";
import { parseExpressionAt } from "./expression.ts";

/** @throws SplError when it is no expression of texts and numbers */
export function evaluateMacro(definition: string): string {
  const expression = parseExpressionAt({
    text: definition,
    span: { start: 0, end: definition.length },
    nested: () => refuse("it has a subsearch"),
    fail: refuse,
  });
  if (definition.slice(expression.end).trim() !== "") refuse(definition.slice(expression.end).trim());
  return String(value(expression));
}

function value(expression: Expression): string | number {
  switch (expression.node) {
    case "number":
      return expression.value;
    case "string":
      return expression.value;
    case "binary":
      if (expression.operator !== ".") return refuse(`operator ${expression.operator}`);
      return `${value(expression.left)}${value(expression.right)}`;
    default:
      return refuse(expression.node);
  }
}

function refuse(reason: string): never {
  throw new SplError(
    `Error in 'SearchParser': The definition of the macro must be an eval expression that gives a text (${reason}).`,
  );
}
