/**
 * Constant folding, where the vendor requires a value before it reads rows: bounds, patterns, units. DuckDB computes
 * constants like everything else, so a compilation that misses one stops, and starts again once the value is known.
 */
import type { Sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { Column } from "./pipeline.ts";
import type { Expression } from "./syntax.ts";
import { children, withChildren } from "./syntax-walk.ts";
import type { Constant } from "./typed.ts";
import { type DataType, isString } from "./types.ts";

/** Computed values by the position of their expression in the query. */
export type FoldedConstants = Map<string, Constant>;

/** Stops a compilation that needs the value of a constant expression. */
export class UnfoldedConstant extends Error {
  readonly key: string;
  /** Computes the value: one row, one column. */
  readonly statement: Sql;
  readonly type: DataType;

  constructor(key: string, statement: Sql, type: DataType) {
    super("a constant has yet to be computed");
    this.key = key;
    this.statement = statement;
    this.type = type;
  }
}

/** Bounds the search through an expression; larger ones are not folded. */
const MAX_NODES = 1000;

/** Replaces columns that EVAL or ROW made of constants by their expressions. */
export function withoutColumns(
  node: Expression,
  find: (name: string) => Column | undefined,
  isScalar: (functionName: string) => boolean,
): Expression | undefined {
  let nodes = 0;
  const visit = (visited: Expression): Expression | undefined => {
    if (++nodes > MAX_NODES) return undefined;
    if (visited.kind === "column") {
      const source = find(visited.name)?.constantExpression;
      nodes += source ? countNodes(source) : 0;
      return source;
    }
    if (visited.kind === "call" && !isScalar(visited.name)) return undefined;
    const inner = new Map<Expression, Expression>();
    for (const child of children(visited)) {
      const replaced = visit(child);
      if (!replaced) return undefined;
      inner.set(child, replaced);
    }
    return withChildren(visited, (child) => inner.get(child) ?? child);
  };
  const found = visit(node);
  return found && nodes <= MAX_NODES ? found : undefined;
}

function countNodes(node: Expression): number {
  return children(node).reduce((count, child) => count + countNodes(child), 1);
}

/** Converts a computed value; `undefined` for a type that constants do not have. */
export function constantOf(value: ResultValue, type: DataType): Constant | undefined {
  if (value === null) return { type: "null" };
  if (isString(type)) return { type: "keyword", value: String(value) };
  if (type === "boolean") return { type, value: value === true };
  if (type === "double" || type === "datetime") return { type, value: Number(value) };
  if (type === "integer" || type === "long" || type === "unsigned_long")
    return { type, value: BigInt(value as bigint | number) };
  return undefined;
}
