/** LIKE and RLIKE. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { luceneToRe2 } from "../../query/compile/regexp.ts";
import type { Compiler } from "../compiler.ts";
import type { Expression } from "../syntax.ts";
import { nullTyped, type Typed, unknownTyped } from "../typed.ts";
import { isString } from "../types.ts";

export function compileLike(
  compiler: Compiler,
  node: Extract<Expression, { kind: "like" }>,
  given: Typed,
): Typed {
  const { at } = node;
  const value = compiler.single(given, at);
  if (value.type === "unknown") return value;
  if (value.type === "null") return nullTyped(at, "boolean");
  if (!isString(value.type)) {
    compiler.problems.mismatch(
      at,
      `argument of [${compiler.text(at)}] must be [string], found value [${compiler.text(value.at)}] type [${value.type}]`,
    );
    return unknownTyped(at);
  }
  // The vendor's optimizer turns a pattern that matches any text into IS NOT NULL.
  if (/^[*]+$/.test(node.operator === "LIKE" ? node.pattern : node.pattern.replace(/^[.][*]$/, "*")))
    return compiler.derive("boolean", sql`(${value.sql} IS NOT NULL)`, at, value);
  const test =
    node.operator === "LIKE"
      ? likeSql(value.sql, node.pattern)
      : sql`regexp_full_match(${value.sql}, ${luceneToRe2(node.pattern)}, 's')`;
  return compiler.derive("boolean", test, at, value);
}

/** `*` matches any characters, `?` one, `\` escapes the next. */
function likeSql(value: Sql, pattern: string): Sql {
  const exact = /^[^*?\\]*$/.test(pattern);
  if (exact) return sql`(${value} = ${pattern})`;
  const translated = pattern.replace(/\\([\s\S])|[*?%_!]/g, (found: string, escaped: string | undefined) => {
    if (escaped !== undefined) return /[%_!]/.test(escaped) ? `!${escaped}` : escaped;
    if (found === "*") return "%";
    return found === "?" ? "_" : `!${found}`;
  });
  return translated.includes("!")
    ? sql`(${value} LIKE ${translated} ESCAPE '!')`
    : sql`(${value} LIKE ${translated})`;
}
