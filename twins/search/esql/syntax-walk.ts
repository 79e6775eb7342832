/** Walks through the syntax tree. */
import type { Expression } from "./syntax.ts";

export function children(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "literal":
    case "list":
    case "column":
      return [];
    case "call":
      return node.args;
    case "negate":
    case "not":
      return [node.operand];
    case "arithmetic":
    case "comparison":
    case "logical":
      return [node.left, node.right];
    case "in":
      return [node.value, ...node.list];
    case "is null":
    case "like":
    case "cast":
      return [node.value];
  }
}
