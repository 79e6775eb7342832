/** `mvfilter` and `mvmap`: an expression for each value of a multi-value. */
import { sql } from "@offhook/log-store/sql";
import { lambdaParameter, listOf } from "../../relation/typed.ts";
import type { Expression } from "../../syntax/ast.ts";
import { compile } from "../compile.ts";
import { fieldsOf } from "../fields-of.ts";
import { truth } from "../logic.ts";
import { settled } from "../precision.ts";
import type { Scope } from "../scope.ts";
import { nothing, type Value } from "../value.ts";
import type { FormFunction } from "./declaration.ts";
import { filled } from "./tools.ts";

export const mvfilter: FormFunction = {
  kind: "form",
  name: "mvfilter",
  family: "multivalue",
  syntax: "mvfilter(condition)",
  summary: "The values for which a condition on one field is true.",
  least: 1,
  most: 1,
  async compile([condition], { scope, fail }) {
    const [name, ...others] = condition === undefined ? [] : fieldsOf(condition);
    if (condition === undefined || name === undefined || others.length > 0) return fail();
    const value = scope.field(name);
    if (value.isNull) return nothing;
    const one = lambdaParameter();
    const test = truth(
      await compile(condition, within(scope, name, { ...value, multi: false, sql: one })),
      fail,
    );
    const kept = sql`list_filter(${listOf(value)}, lambda ${one}: coalesce(${test}, FALSE))`;
    return { ...value, multi: true, sql: filled(kept) };
  },
};

export const mvmap: FormFunction = {
  kind: "form",
  name: "mvmap",
  family: "multivalue",
  syntax: "mvmap(mv, expression)",
  summary: "What an expression makes of each value.",
  least: 2,
  most: 2,
  async compile([subject, expression], { scope, fail }) {
    const name = subject === undefined ? undefined : iterated(subject);
    if (subject === undefined || expression === undefined || name === undefined) return fail();
    const value = await compile(subject, scope);
    if (value.isNull) return nothing;
    if (!value.multi) return compile(expression, within(scope, name, value));
    const one = lambdaParameter();
    const made = settled(
      await compile(expression, within(scope, name, { ...value, multi: false, sql: one })),
    );
    if (made.isNull) return nothing;
    if (made.type === "boolean") return fail();
    const all = sql`list_transform(${value.sql}, lambda ${one}: ${made.sql})`;
    const flat = made.multi ? sql`flatten(${all})` : all;
    const result = sql`list_filter(${flat}, lambda ${one}: ${one} IS NOT NULL)`;
    return { type: made.type, loose: made.loose ?? false, multi: true, sql: filled(result) };
  },
};

/** The field whose values the expression sees one by one. */
function iterated(subject: Expression): string | undefined {
  const [name, ...others] = fieldsOf(subject);
  return others.length === 0 ? name : undefined;
}

function within(scope: Scope, name: string, value: Value): Scope {
  return scope.with(new Map([[name, value]]));
}
