/** EVAL and ROW: computed columns. */
import { raw } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import type { Column } from "../pipeline.ts";
import type { Command, Expression, NamedExpression } from "../syntax.ts";
import { type Typed, unknownTyped } from "../typed.ts";
import { isTimeSpan } from "../types.ts";

export function compileRow(compiler: Compiler, { fields }: Extract<Command, { kind: "row" }>): void {
  compiler.pipeline.base([], raw(""), undefined);
  const refusal = (text: string) => `cannot use [${text}] directly in a row assignment`;
  const made = lastOfEachName(fields).map((field) => ({
    field,
    value: compileField(compiler, field, refusal),
  }));
  for (const { field, value } of made) assign(compiler, field.name, value, field.expression);
}

export function compileEval(compiler: Compiler, { fields }: Extract<Command, { kind: "eval" }>): void {
  for (const field of fields) {
    const value = compileField(
      compiler,
      field,
      (text, type) => `EVAL does not support type [${type}] in expression [${text}]`,
    );
    assign(compiler, field.name, value, field.expression);
  }
}

/** @param refusal of a time span, which cannot be a column */
function compileField(
  compiler: Compiler,
  { expression, at }: NamedExpression,
  refusal: (text: string, type: string) => string,
): Typed {
  const value = compiler.expression(expression);
  if (!isTimeSpan(value.type)) return value;
  compiler.problems.mismatch(at, refusal(compiler.text(expression.at), value.type));
  return unknownTyped(expression.at);
}

/** Of several definitions of a name the last one wins and keeps its position. */
export function lastOfEachName<Named extends { name: string }>(list: readonly Named[]): Named[] {
  const last = new Map(list.map((one) => [one.name, one]));
  return list.filter((one) => last.get(one.name) === one);
}

/** Adds a column at the end, in place of any column of that name. */
export function assign(compiler: Compiler, name: string, given: Typed, made?: Expression): void {
  const { pipeline } = compiler;
  const value = compiler.valueOf(given);
  const column: Column = {
    name,
    type: value.type,
    multi: value.multi,
    ref: pipeline.place(value.sql),
    constantExpression: made && compiler.constantExpression(made),
  };
  pipeline.columns = [...pipeline.columns.filter((existing) => existing.name !== name), column];
}
