/** AND, OR, XOR and NOT in three-valued logic. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Scope } from "./scope.ts";
import { boolean, type Value } from "./value.ts";

/** A boolean as SQL; NULL if unknown. @param refuse called for any other type */
export function truth(value: Value, refuse: () => never): Sql {
  if (value.isNull) return raw("CAST(NULL AS BOOLEAN)");
  return value.type === "boolean" ? value.sql : refuse();
}

function operand(value: Value, scope: Scope, operator: string): Sql {
  return truth(value, () => scope.fail(`Type checking failed. '${operator}' only takes boolean arguments.`));
}

export function conjunction(values: readonly Value[], scope: Scope): Value {
  return boolean(
    sql`(${joined(
      values.map((value) => operand(value, scope, "AND")),
      " AND ",
    )})`,
  );
}

export function disjunction(values: readonly Value[], scope: Scope): Value {
  return boolean(
    sql`(${joined(
      values.map((value) => operand(value, scope, "OR")),
      " OR ",
    )})`,
  );
}

export function exclusive(left: Value, right: Value, scope: Scope): Value {
  return boolean(sql`(${operand(left, scope, "XOR")} <> ${operand(right, scope, "XOR")})`);
}

export function negation(value: Value, scope: Scope): Value {
  return boolean(sql`(NOT ${operand(value, scope, "NOT")})`);
}
