/** Compiles eval expressions to SQL. */
import { type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import type { Expression } from "../syntax/ast.ts";
import { compile } from "./compile.ts";
import { toFieldValue } from "./precision.ts";
import { Scope } from "./scope.ts";
import type { Value } from "./value.ts";

/**
 * The value of an expression for each row of `(input.select) AS r`.
 * @param command for error messages: `'EvalCommand'`, `'where' command`
 * @throws SplError of phase `run`
 */
export async function compileExpression(
  expression: Expression,
  input: Relation,
  context: SearchContext,
  command = "'EvalCommand'",
): Promise<Value> {
  const scope = new Scope(input, context, command);
  const value = await compile(expression, scope);
  if (!scope.hasSubqueries) return value;
  const result = toFieldValue(value);
  return { ...result, sql: scope.withSubqueries(result.sql) };
}

/** Compiles a condition on rows to SQL that is never NULL. @throws SplError of phase `run` */
export async function compileCondition(
  expression: Expression,
  input: Relation,
  context: SearchContext,
  command = "'where' command",
): Promise<Sql> {
  const scope = new Scope(input, context, command);
  const value = await compile(expression, scope);
  if (value.isNull) return sql`FALSE`;
  if (value.type !== "boolean") {
    scope.fail("The expression is invalid. The result of a 'where' expression must be boolean.");
  }
  return sql`coalesce(${scope.withSubqueries(value.sql)}, FALSE)`;
}
