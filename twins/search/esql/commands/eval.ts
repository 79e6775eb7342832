/** EVAL and ROW: columns made of expressions. */
import { raw } from "../../../datasets/sql.ts";
import type { Compiler } from "../compiler.ts";
import type { Column } from "../pipeline.ts";
import type { Command } from "../syntax.ts";

export function compileRow(compiler: Compiler, { fields }: Extract<Command, { kind: "row" }>): void {
  compiler.pipeline.base([], raw(""), undefined);
  for (const { name, expression } of fields) assign(compiler, name, compiler.expression(expression));
}

export function compileEval(compiler: Compiler, { fields }: Extract<Command, { kind: "eval" }>): void {
  for (const { name, expression } of fields) assign(compiler, name, compiler.expression(expression));
}

/** Gives a value a column. One of that name before is gone; the new one stands last. */
export function assign(compiler: Compiler, name: string, given: ReturnType<Compiler["expression"]>): void {
  const { pipeline } = compiler;
  const value = compiler.valueOf(given);
  const column: Column = { name, type: value.type, multi: value.multi, ref: pipeline.place(value.sql) };
  pipeline.columns = [...pipeline.columns.filter((existing) => existing.name !== name), column];
}
