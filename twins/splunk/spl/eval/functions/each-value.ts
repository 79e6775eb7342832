/** `mvfilter` and `mvmap`: expressions over each value of a multi-value. */
import { sql } from "@offhook/log-store/sql";
import { lambdaParameter, listOf } from "../../relation/typed.ts";
import type { Expression } from "../../syntax/ast.ts";
import { fieldsOf } from "../fields-of.ts";
import { truth } from "../logic.ts";
import { roundToPrecision } from "../precision.ts";
import type { Scope } from "../scope.ts";
import { nothing, type Value } from "../value.ts";
import type { FormFunction } from "./declaration.ts";
import { nullIfEmpty } from "./tools.ts";

export const mvfilter: FormFunction = {
  kind: "form",
  name: "mvfilter",
  family: "multivalue",
  syntax: "mvfilter(condition)",
  summary: "The values of a field for which a condition is true.",
  minArgs: 1,
  maxArgs: 1,
  async compile([condition], { scope, compile, fail }) {
    const [name, ...others] = condition === undefined ? [] : fieldsOf(condition);
    if (condition === undefined || name === undefined || others.length > 0) return fail();
    const value = scope.field(name);
    if (value.isNull) return nothing;
    const one = lambdaParameter();
    const test = truth(
      await compile(condition, withName(scope, name, { ...value, multi: false, sql: one })),
      fail,
    );
    const kept = sql`list_filter(${listOf(value)}, lambda ${one}: coalesce(${test}, FALSE))`;
    return { ...value, multi: true, sql: nullIfEmpty(kept) };
  },
};

export const mvmap: FormFunction = {
  kind: "form",
  name: "mvmap",
  family: "multivalue",
  syntax: "mvmap(mv, expression)",
  summary: "The results of an expression for each value.",
  minArgs: 2,
  maxArgs: 2,
  async compile([subject, expression], { scope, compile, fail }) {
    const name = subject === undefined ? undefined : iteratedField(subject);
    if (subject === undefined || expression === undefined || name === undefined) return fail();
    const value = await compile(subject, scope);
    if (value.isNull) return nothing;
    if (!value.multi) return compile(expression, withName(scope, name, value));
    const one = lambdaParameter();
    const made = roundToPrecision(
      await compile(expression, withName(scope, name, { ...value, multi: false, sql: one })),
    );
    if (made.isNull) return nothing;
    if (made.type === "boolean") return fail();
    const all = sql`list_transform(${value.sql}, lambda ${one}: ${made.sql})`;
    const flat = made.multi ? sql`flatten(${all})` : all;
    const result = sql`list_filter(${flat}, lambda ${one}: ${one} IS NOT NULL)`;
    return { type: made.type, loose: made.loose ?? false, multi: true, sql: nullIfEmpty(result) };
  },
};

/** The only field of an expression: the one to iterate. */
function iteratedField(subject: Expression): string | undefined {
  const [name, ...others] = fieldsOf(subject);
  return others.length === 0 ? name : undefined;
}

function withName(scope: Scope, name: string, value: Value): Scope {
  return scope.with(new Map([[name, value]]));
}
