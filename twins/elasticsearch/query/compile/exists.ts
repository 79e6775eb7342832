/** `exists`: documents with a value in a field, or in any field of an object. */
import { raw, sql } from "@offhook/log-store/sql";
import type { ExistsQuery } from "../syntax/query.ts";
import { exists, indexedValue } from "./column.ts";
import type { Compiler } from "./compiler.ts";
import { fieldNames } from "./field-names.ts";
import { anyOf, type Matcher, TRUE, uniform } from "./matcher.ts";
import { targetOf } from "./target.ts";

export function compileExists(compiler: Compiler, query: ExistsQuery, boost: number): Matcher {
  return compileFieldExists(compiler, query.field, boost);
}

export function compileFieldExists(compiler: Compiler, name: string, boost: number): Matcher {
  compiler.count(1);
  const names = [...fieldNames(compiler.context, name), ...fieldNames(compiler.context, `${name}.*`)];
  const predicates = names.map((field) => {
    const target = targetOf(compiler.context, field, "whole");
    if (target.kind === "missing") return raw("false");
    if (target.kind === "meta") return TRUE;
    // A pattern that matches this sub-field also matches its text, which has all values; `ignore_above` then changes nothing.
    if (target.kind === "keyword" && target.ignoreAbove !== undefined && field === name) {
      return sql`${indexedValue(target.field, target.ignoreAbove)} IS NOT NULL`;
    }
    return exists(target.field);
  });
  const distinct = [...new Map(predicates.map((predicate) => [predicate.text, predicate])).values()];
  return uniform(
    anyOf(distinct.filter(({ text }) => text !== "false")),
    boost,
    `ConstantScore(FieldExistsQuery [field=${name}])`,
  );
}
