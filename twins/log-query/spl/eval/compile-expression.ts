/** Eval expressions as SQL. */

import type { Sql } from "../../../datasets/sql.ts";
import type { Relation } from "../relation.ts";
import type { SearchContext } from "../search-context.ts";
import { SplError } from "../spl-error.ts";
import type { Expression } from "../syntax/ast.ts";
import type { Typed } from "../typed.ts";

/** The value of an expression for each row of `(input.select) AS r`. @throws SplError of phase `run` */
export async function compileExpression(
  expression: Expression,
  _input: Relation,
  _context: SearchContext,
): Promise<Typed> {
  throw new SplError(`Error in 'EvalCommand': The expression is malformed (${expression.node}).`, "run");
}

/** Whether a row is kept: never NULL. @throws SplError of phase `run` */
export async function compileCondition(
  expression: Expression,
  input: Relation,
  context: SearchContext,
): Promise<Sql> {
  return (await compileExpression(expression, input, context)).sql;
}
