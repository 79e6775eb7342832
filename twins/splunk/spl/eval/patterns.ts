/** The operator `LIKE`. */
import { sql } from "@offhook/log-store/sql";
import { textOf } from "../relation/typed.ts";
import { singleText } from "./arithmetic.ts";
import { anyOf } from "./compare.ts";
import type { Scope } from "./scope.ts";
import { boolean, nothing, type Value } from "./value.ts";

/** `%` matches any characters, `_` one character. Case-sensitive. */
export function like(value: Value, pattern: Value, scope: Scope): Value {
  if (value.isNull || pattern.isNull) return { ...nothing, type: "boolean" };
  if (value.type === "boolean" || pattern.type === "boolean") {
    scope.fail("Type checking failed. 'LIKE' only takes strings.");
  }
  return boolean(anyOf(value, (one) => sql`(${textOf(one)} LIKE ${singleText(pattern)} ESCAPE '\\')`));
}
