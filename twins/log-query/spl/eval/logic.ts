/** AND, OR, XOR and NOT, with unknown among the truth values. */
import { joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { Scope } from "./scope.ts";
import { boolean, type Value } from "./value.ts";

/** A truth value; NULL when unknown. */
export function truth(value: Value, scope: Scope, operator: string): Sql {
  if (value.isNull) return raw("CAST(NULL AS BOOLEAN)");
  if (value.type === "boolean") return value.sql;
  return scope.fail(`Type checking failed. '${operator}' only takes boolean values.`);
}

export function conjunction(values: readonly Value[], scope: Scope): Value {
  return boolean(
    sql`(${joined(
      values.map((value) => truth(value, scope, "AND")),
      " AND ",
    )})`,
  );
}

export function disjunction(values: readonly Value[], scope: Scope): Value {
  return boolean(
    sql`(${joined(
      values.map((value) => truth(value, scope, "OR")),
      " OR ",
    )})`,
  );
}

export function exclusive(left: Value, right: Value, scope: Scope): Value {
  return boolean(sql`(${truth(left, scope, "XOR")} <> ${truth(right, scope, "XOR")})`);
}

export function negation(value: Value, scope: Scope): Value {
  return boolean(sql`(NOT ${truth(value, scope, "NOT")})`);
}
