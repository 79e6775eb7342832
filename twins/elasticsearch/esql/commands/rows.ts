/** WHERE, SORT and LIMIT. */
import { raw, sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import { UnrecognisedEsql } from "../errors.ts";
import type { Command } from "../syntax.ts";
import type { Typed } from "../typed.ts";

export function compileWhere(compiler: Compiler, { condition }: Extract<Command, { kind: "where" }>): void {
  const value = compiler.expression(condition);
  if (value.type !== "boolean" && value.type !== "unknown" && value.type !== "null") {
    compiler.problems.mismatch(
      condition.at,
      `Condition expression needs to be boolean, found [${value.type.toUpperCase()}]`,
    );
  }
  compiler.pipeline.where(value.type === "null" ? sql`FALSE` : compiler.truth(value));
}

export function compileSort(compiler: Compiler, { keys }: Extract<Command, { kind: "sort" }>): void {
  const order = keys.map(({ expression, descending, nullsFirst }) => {
    const value = compiler.valueOf(compiler.expression(expression));
    if (value.type === "source") {
      compiler.problems.mismatch(expression.at, `cannot sort on _source`);
    }
    return { ref: keyColumn(compiler, value, descending ? "list_max" : "list_min"), descending, nullsFirst };
  });
  compiler.pipeline.sort(order);
}

/** Of several values the smallest sorts ascending, the greatest descending. */
function keyColumn(
  compiler: Compiler,
  { multi, sql: value }: Typed,
  extreme: "list_max" | "list_min",
): string {
  return compiler.pipeline.place(multi ? sql`${raw(extreme)}(${value})` : value);
}

const MAX_COUNT = 2_147_483_647;

export function compileLimit(compiler: Compiler, { count, at }: Extract<Command, { kind: "limit" }>): void {
  if (count > MAX_COUNT) throw new UnrecognisedEsql(at, `a limit of ${count}`);
  compiler.pipeline.limit(count);
}
