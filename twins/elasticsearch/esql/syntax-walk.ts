/** Traversal of the syntax tree. */
import type { Expression } from "./syntax.ts";

/** Copies an expression with its children replaced. */
export function withChildren(node: Expression, replace: (child: Expression) => Expression): Expression {
  switch (node.kind) {
    case "literal":
    case "list":
    case "column":
      return node;
    case "call":
      return { ...node, args: node.args.map(replace) };
    case "negate":
    case "not":
      return { ...node, operand: replace(node.operand) };
    case "arithmetic":
    case "comparison":
    case "logical":
      return { ...node, left: replace(node.left), right: replace(node.right) };
    case "in":
      return { ...node, value: replace(node.value), list: node.list.map(replace) };
    case "is null":
    case "like":
    case "cast":
      return { ...node, value: replace(node.value) };
  }
}

/** Whether two expressions are equal, regardless of notation. */
export function sameExpression(a: Expression, b: Expression): boolean {
  return canonicalText(a) === canonicalText(b);
}

function canonicalText(node: Expression): string {
  return JSON.stringify(node, (key, value) => {
    if (key === "at" || key === "nameAt" || key === "typeAt" || key === "patternAt" || key === "depth")
      return undefined;
    return typeof value === "bigint" ? `${value}n` : value;
  });
}

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
