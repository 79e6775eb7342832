/** An expression that is written with as few parentheses as its operators' strengths allow is read as the same expression. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Expression, SearchExpression } from "../../spl/syntax/ast.ts";
import { parseExpression, parseSearchExpression } from "../../spl/syntax/parse-text.ts";

type Eval =
  | { kind: "leaf"; text: string }
  | { kind: "binary"; operator: string; left: Eval; right: Eval }
  | { kind: "not" | "minus"; operand: Eval }
  | { kind: "call"; name: string; args: Eval[] }
  | { kind: "in"; operand: Eval; values: Eval[] };

const strengths: Record<string, number> = {
  ...{ xor: 1, or: 2, and: 3, not: 4, "=": 5, "!=": 5, "<": 5, "<=": 5, ">": 5, ">=": 5, like: 5, in: 5 },
  ...{ "+": 6, "-": 6, ".": 6, "*": 7, "/": 7, "%": 7, minus: 8, leaf: 9 },
};

const { tree } = fc.letrec<{ tree: Eval }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc
      .constantFrom("a", "order_id", "'b c'", '"x \\" y"', "1", "2.5", "inner", "notes")
      .map((text): Eval => ({ kind: "leaf", text })),
    fc.record({
      kind: fc.constant("binary" as const),
      operator: fc
        .constantFrom(...Object.keys(strengths).slice(0, 17))
        .map((o) => (/^(?:not|in)$/.test(o) ? "and" : o)),
      left: tie("tree"),
      right: tie("tree"),
    }),
    fc.record({ kind: fc.constantFrom("not" as const, "minus" as const), operand: tie("tree") }),
    fc.record({
      kind: fc.constant("call" as const),
      name: fc.constantFrom("if", "like", "in", "true"),
      args: fc.array(tie("tree"), { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant("in" as const),
      operand: tie("tree"),
      values: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }),
    }),
  ),
}));

/** @param full with all parentheses there can be */
function written(node: Eval, weakest: number, full: boolean): string {
  const strength = strengthOf(node);
  const text = writtenOnce(node, strength, full);
  return strength < weakest || (full && node.kind !== "leaf") ? `(${text})` : text;
}

function strengthOf(node: Eval): number {
  if (node.kind === "binary") return strengths[node.operator] ?? 0;
  if (node.kind === "call" || node.kind === "leaf") return 9;
  return strengths[node.kind] ?? 0;
}

function writtenOnce(node: Eval, strength: number, full: boolean): string {
  switch (node.kind) {
    case "leaf":
      return node.text;
    case "binary":
      return `${written(node.left, strength, full)} ${node.operator} ${written(node.right, strength + 1, full)}`;
    case "not":
      return `NOT ${written(node.operand, 4, full)}`;
    case "minus":
      return `- ${written(node.operand, 8, full)}`;
    case "call":
      return `${node.name}(${node.args.map((arg) => written(arg, 0, full)).join(", ")})`;
    case "in":
      return `${written(node.operand, 5, full)} IN (${node.values.map((value) => written(value, 0, full)).join(",")})`;
  }
}

/** Without positions. The order in which a chain of AND, OR or XOR is grouped says nothing. */
function shape(node: Expression): unknown {
  if (node.node === "binary" && /^(?:and|or|xor)$/.test(node.operator)) {
    return [node.operator, ...operandsOf(node, node.operator).map(shape)];
  }
  if (node.node === "binary") return [node.operator, shape(node.left), shape(node.right)];
  if (node.node === "unary") return [node.operator, shape(node.operand)];
  if (node.node === "call") return [node.name, node.args.map(shape)];
  if (node.node === "in") return ["in", shape(node.operand), node.values.map(shape)];
  if (node.node === "field") return ["field", node.name];
  return node.node === "subsearch" ? node : [node.node, node.value];
}

function operandsOf(node: Expression, operator: string): Expression[] {
  if (node.node !== "binary" || node.operator !== operator) return [node];
  return [...operandsOf(node.left, operator), ...operandsOf(node.right, operator)];
}

test("eval expressions", () => {
  fc.assert(
    fc.property(tree, (node) => {
      const bare = parseExpression(written(node, 0, false), "eval");
      const full = parseExpression(written(node, 0, true), "eval");
      expect(shape(bare)).toEqual(shape(full));
    }),
    { numRuns: 500 },
  );
});

type Search =
  | { kind: "term"; text: string }
  | { kind: "and" | "or"; operands: Search[] }
  | { kind: "not"; operand: Search };

const { search } = fc.letrec<{ search: Search }>((tie) => ({
  search: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc
      .constantFrom("error", '"two words"', "a=b", "c IN (1, 2)", "TERM(x)", "d>=3")
      .map((text): Search => ({ kind: "term", text })),
    fc.record({
      kind: fc.constantFrom("and" as const, "or" as const),
      operands: fc.array(tie("search"), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("not" as const), operand: tie("search") }),
  ),
}));

const searchStrengths = { and: 1, or: 2, not: 3, term: 4 };

function searchText(node: Search, weakest: number, full: boolean): string {
  const strength = searchStrengths[node.kind];
  const inner = (part: Search, least = strength + 1) => searchText(part, least, full);
  const text =
    node.kind === "term"
      ? node.text
      : node.kind === "not"
        ? `NOT ${inner(node.operand, strength)}`
        : node.operands.map((part) => inner(part)).join(node.kind === "and" ? " " : " OR ");
  return strength < weakest || (full && node.kind !== "term") ? `(${text})` : text;
}

function searchShape(node: SearchExpression): unknown {
  if (node.node === "and" || node.node === "or") return [node.node, ...node.operands.map(searchShape)];
  return node.node === "not" ? ["not", searchShape(node.operand)] : node;
}

test("search expressions", () => {
  fc.assert(
    fc.property(search, (node) => {
      const bare = parseSearchExpression(searchText(node, 0, false));
      const full = parseSearchExpression(searchText(node, 0, true));
      expect(searchShape(bare)).toEqual(searchShape(full));
    }),
    { numRuns: 500 },
  );
});
