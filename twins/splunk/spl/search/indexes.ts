/** Which indexes a search looks at. */
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { SearchContext } from "../context/search-context.ts";
import type { SearchExpression, SearchValue } from "../syntax/ast.ts";
import { parseCidr } from "./cidr.ts";

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

/** More indexes than these are looked for in the events. */
const MOST_INDEXES = 100;
/** Names whose case is told by their letters alone, and in which nothing stands for anything else. */
const plainName = /^[\w.-]+$/;
const all: SearchExpression = { node: "all" };
const none: SearchExpression = { node: "not", operand: all };

/**
 * The same search of the store's events, where what it says of indexes is decided by the names that there are: of none, of all,
 * or of those that are called exactly so.
 */
export async function withKnownIndexes(
  expression: SearchExpression,
  { store }: SearchContext,
): Promise<SearchExpression> {
  // A field of that name goes before.
  if (!namesIndexes(expression) || store.fields.get("index") !== undefined) return expression;
  const names = [...(await store.indexes())];
  const isPlain = names.length <= MOST_INDEXES && names.every((name) => plainName.test(name));
  return isPlain ? decided(expression, names) : expression;
}

function decided(expression: SearchExpression, names: readonly string[]): SearchExpression {
  switch (expression.node) {
    case "and": {
      const operands = expression.operands
        .map((operand) => decided(operand, names))
        .filter(({ node }) => node !== "all");
      const [only = all] = operands;
      return operands.length > 1 ? { node: "and", operands } : only;
    }
    case "or": {
      const operands = expression.operands.map((operand) => decided(operand, names));
      return operands.some(({ node }) => node === "all") ? all : { node: "or", operands };
    }
    case "not":
      return { node: "not", operand: decided(expression.operand, names) };
    case "comparison": {
      const { field, comparator, value, mode } = expression;
      const isServed = comparator === "=" || comparator === "!=";
      if (field !== "index" || !isServed || mode === "case" || !isDecidable(value)) return expression;
      // Internal indexes are found by a name that begins as theirs does.
      const mayBe = (name: string) => !value.text.startsWith("*") || !name.startsWith("_");
      const isFound = (name: string) => matches(name, value) === (comparator === "=") && mayBe(name);
      return oneOf(names.filter(isFound), names);
    }
    case "in": {
      const { field, values } = expression;
      if (field !== "index" || !values.every(isDecidable)) return expression;
      return oneOf(
        names.filter((name) => values.some((value) => matches(name, value))),
        names,
      );
    }
    default:
      return expression;
  }
}

function isDecidable({ text }: SearchValue): boolean {
  return parseCidr(text) === undefined;
}

function matches(name: string, { text }: SearchValue): boolean {
  return matchesPattern(name.toLowerCase(), text.toLowerCase());
}

function oneOf(found: readonly string[], names: readonly string[]): SearchExpression {
  if (found.length === names.length) return all;
  const operands = found.map(exactly);
  const [only = none] = operands;
  return operands.length > 1 ? { node: "or", operands } : only;
}

function exactly(text: string): SearchExpression {
  const value = { text, quoted: true };
  return { node: "comparison", field: "index", comparator: "=", value, mode: "case" };
}
