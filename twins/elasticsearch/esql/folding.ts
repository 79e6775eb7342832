/**
 * Values of expressions that read no row, where the vendor wants one before it reads any: bounds, patterns, units. DuckDB computes
 * them as it computes everything else, so a query whose compilation lacks one is compiled again once it is known.
 */
import type { Sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { findFunction } from "./functions/registry.ts";
import type { Column } from "./pipeline.ts";
import type { Expression } from "./syntax.ts";
import { children, withChildren } from "./syntax-walk.ts";
import type { Constant } from "./typed.ts";
import { type DataType, isString } from "./types.ts";

/** Values that are known already, by the place of their expression in the query. */
export type FoldedConstants = Map<string, Constant>;

/** The compilation needs the value of an expression. */
export class UnfoldedConstant extends Error {
  readonly key: string;
  /** Yields it: one row, one column. */
  readonly statement: Sql;
  readonly type: DataType;

  constructor(key: string, statement: Sql, type: DataType) {
    super("a constant has yet to be computed");
    this.key = key;
    this.statement = statement;
    this.type = type;
  }
}

/** More nodes than this are no constant that anybody writes. */
const MAX_NODES = 1000;

/** The expression without columns: those that EVAL or ROW made of constants are replaced by what they were made of. */
export function withoutColumns(
  node: Expression,
  find: (name: string) => Column | undefined,
): Expression | undefined {
  let nodes = 0;
  const visit = (visited: Expression): Expression | undefined => {
    if (++nodes > MAX_NODES) return undefined;
    if (visited.kind === "column") {
      const made = find(visited.name)?.madeOf;
      nodes += made ? countNodes(made) : 0;
      return made;
    }
    if (visited.kind === "call" && findFunction(visited.name)?.kind !== "scalar") return undefined;
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

/** Whether an expression is made of literals alone: the vendor's `foldable`, before it knows what columns hold. */
export function isFoldable(node: Expression): boolean {
  return withoutColumns(node, () => undefined) !== undefined;
}

/** The value as the statement yields it. `undefined` for one of a type that no constant has. */
export function constantOf(value: ResultValue, type: DataType): Constant | undefined {
  if (value === null) return { type: "null" };
  if (isString(type)) return { type: "keyword", value: String(value) };
  if (type === "boolean") return { type, value: value === true };
  if (type === "double" || type === "datetime") return { type, value: Number(value) };
  if (type === "integer" || type === "long" || type === "unsigned_long")
    return { type, value: BigInt(value as bigint | number) };
  return undefined;
}
