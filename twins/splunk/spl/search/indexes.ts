/** The indexes that a search covers. */
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { SearchContext } from "../context/search-context.ts";
import type { SearchExpression, SearchValue } from "../syntax/ast.ts";
import { parseCidr } from "./cidr.ts";

/** Whether an expression names indexes itself; else the default ones apply. */
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

/** All events of the named indexes (wildcards allowed); of the default ones when none is named. */
export function eventsOfIndexes(names: readonly string[]): SearchExpression {
  if (names.length === 0) return { node: "all" };
  return { node: "in", field: "index", values: names.map((text) => ({ text, quoted: true })) };
}

/** With more indexes, `index` is compared event by event. */
const MAX_INDEXES = 100;
/** Names without special characters, whose case folds as in ASCII. */
const plainName = /^[\w.-]+$/;
const all: SearchExpression = { node: "all" };
const none: SearchExpression = { node: "not", operand: all };

/**
 * Resolves the conditions on `index` against the existing names: each becomes none, all, or a list of exact names.
 */
export async function withKnownIndexes(
  expression: SearchExpression,
  { store }: SearchContext,
): Promise<SearchExpression> {
  // A field named `index` takes precedence.
  if (!namesIndexes(expression) || store.fields.get("index") !== undefined) return expression;
  const names = [...(await store.indexes())];
  const isPlain = names.length <= MAX_INDEXES && names.every((name) => plainName.test(name));
  return isPlain ? resolveIndexes(expression, names) : expression;
}

function resolveIndexes(expression: SearchExpression, names: readonly string[]): SearchExpression {
  switch (expression.node) {
    case "and": {
      const operands = expression.operands
        .map((operand) => resolveIndexes(operand, names))
        .filter(({ node }) => node !== "all");
      const [only = all] = operands;
      return operands.length > 1 ? { node: "and", operands } : only;
    }
    case "or": {
      const operands = expression.operands.map((operand) => resolveIndexes(operand, names));
      return operands.some(({ node }) => node === "all") ? all : { node: "or", operands };
    }
    case "not":
      return { node: "not", operand: resolveIndexes(expression.operand, names) };
    case "comparison": {
      const { field, comparator, value, mode } = expression;
      const isServed = comparator === "=" || comparator === "!=";
      if (field !== "index" || !isServed || mode === "case" || !isIndexName(value)) return expression;
      // A leading `*` does not match internal indexes.
      const mayBe = (name: string) => !value.text.startsWith("*") || !name.startsWith("_");
      const isFound = (name: string) => matches(name, value) === (comparator === "=") && mayBe(name);
      return indexesIn(names.filter(isFound), names);
    }
    case "in": {
      const { field, values } = expression;
      if (field !== "index" || !values.every(isIndexName)) return expression;
      return indexesIn(
        names.filter((name) => values.some((value) => matches(name, value))),
        names,
      );
    }
    default:
      return expression;
  }
}

function isIndexName({ text }: SearchValue): boolean {
  return parseCidr(text) === undefined;
}

function matches(name: string, { text }: SearchValue): boolean {
  return matchesPattern(name.toLowerCase(), text.toLowerCase());
}

function indexesIn(found: readonly string[], names: readonly string[]): SearchExpression {
  if (found.length === names.length) return all;
  const operands = found.map(indexNamed);
  const [only = none] = operands;
  return operands.length > 1 ? { node: "or", operands } : only;
}

function indexNamed(text: string): SearchExpression {
  const value = { text, quoted: true };
  return { node: "comparison", field: "index", comparator: "=", value, mode: "case" };
}
