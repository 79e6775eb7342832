/** Comparisons: numeric if both sides are numbers or look like numbers, otherwise as case-sensitive texts. */
import { joined, list, raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, isNumeral, lambdaParameter, numberOf, textOf } from "../relation/typed.ts";
import type { Comparator } from "../syntax/ast.ts";
import type { Scope } from "./scope.ts";
import { boolean, certainType, type Value } from "./value.ts";

const unknown = boolean(raw("CAST(NULL AS BOOLEAN)"));

/** NULL if a side is missing. A multi-value compares true if one of its values does. */
export function compare(comparator: Comparator, first: Value, second: Value, scope: Scope): Value {
  // Numbers are compared with all digits, however they are displayed.
  const [left, right] = [first, second].map(({ displayText: _, ...value }): Value => value) as [Value, Value];
  if (typesDiffer(left, right)) {
    const name = comparator === "=" ? "==" : comparator;
    scope.fail(`Type checking failed. The '${name}' operator received different types.`);
  }
  if (left.isNull || right.isNull) return unknown;
  if (left.type === "boolean") return boolean(comparison(comparator, left.sql, right.sql));
  return boolean(anyOf(left, (one) => anyOf(right, (other) => compareOne(comparator, one, other))));
}

function typesDiffer(left: Value, right: Value): boolean {
  const types = [certainType(left), certainType(right)];
  if (!types.includes(undefined) && types[0] !== types[1]) return true;
  return !left.isNull && !right.isNull && (left.type === "boolean") !== (right.type === "boolean");
}

/** `IN`: whether one of the values is equal. All words are tested with one SQL IN. */
export function isIn(operand: Value, values: readonly Value[], scope: Scope): Value {
  const subject = { ...operand, certain: false };
  const words = operand.isNull || operand.type === "boolean" ? [] : values.filter(isWord);
  const others = values.filter((value) => !words.includes(value));
  const tests = others.map((value) => compare("=", subject, value, scope).sql);
  if (words.length > 0) {
    const set = list(words.map(({ constant }) => String(constant)));
    tests.push(anyOf(subject, (one) => sql`(${textOf(one)} IN ${set})`));
  }
  return tests.length === 0 ? boolean(raw("FALSE")) : boolean(sql`(${joined(tests, " OR ")})`);
}

/** Whether a test holds for a value, or for any value of a multi-value. */
export function anyOf(value: Value, test: (one: Value) => Sql): Sql {
  if (!value.multi) return test(value);
  const name = lambdaParameter();
  const one: Value = { ...value, multi: false, sql: name };
  return sql`list_bool_or(list_transform(${value.sql}, lambda ${name}: ${test(one)}))`;
}

/** The number of a constant, or of a constant text that looks like one. */
function constantNumber(value: Value): number | undefined {
  if (typeof value.constant === "number") return value.constant;
  if (typeof value.constant !== "string") return undefined;
  return isNumeral(value.constant) ? Number(value.constant) : undefined;
}

/** Whether a value is a constant text that is no number. */
function isWord(value: Value): boolean {
  return value.type === "text" && typeof value.constant === "string" && constantNumber(value) === undefined;
}

function compareOne(comparator: Comparator, left: Value, right: Value): Sql {
  const strings = left.type === "text" && !left.loose && right.type === "text" && !right.loose;
  if (strings || isWord(left) || isWord(right)) return comparison(comparator, textOf(left), textOf(right));
  if (left.type === "number" && right.type === "number") return comparison(comparator, left.sql, right.sql);
  return bindOnce(left.sql, (a) =>
    bindOnce(right.sql, (b) => compareMixed(comparator, { ...left, sql: a }, { ...right, sql: b })),
  );
}

/** Compares sides of unknown type: as numbers, or as texts where that is NULL because a side is no number. */
function compareMixed(comparator: Comparator, left: Value, right: Value): Sql {
  const asNumbers = comparison(comparator, asNumber(left), asNumber(right));
  return sql`coalesce(${asNumbers}, ${comparison(comparator, textOf(left), textOf(right))})`;
}

function asNumber(value: Value): Sql {
  const known = constantNumber(value);
  return known === undefined ? numberOf(value) : sql`CAST(${known} AS DOUBLE)`;
}

function comparison(comparator: Comparator, left: Sql, right: Sql): Sql {
  return sql`(${left} ${raw(comparator)} ${right})`;
}
