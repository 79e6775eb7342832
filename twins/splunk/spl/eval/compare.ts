/** Comparisons: as numbers where both sides are numbers or look like one, else as texts. Case counts. */
import { joined, list, raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, isNumeral, lambdaParameter, numberOf, textOf } from "../relation/typed.ts";
import type { Comparator } from "../syntax/ast.ts";
import type { Scope } from "./scope.ts";
import { boolean, certainType, type Value } from "./value.ts";

const unknown = boolean(raw("CAST(NULL AS BOOLEAN)"));

/** NULL when one side is missing. Of a multi-value, it is enough that one value compares so. */
export function compare(comparator: Comparator, first: Value, second: Value, scope: Scope): Value {
  // Numbers are compared in all their digits, however they are shown.
  const [left, right] = [first, second].map(({ displayText: _, ...value }): Value => value) as [Value, Value];
  if (differ(left, right)) {
    const name = comparator === "=" ? "==" : comparator;
    scope.fail(`Type checking failed. The '${name}' operator received different types.`);
  }
  if (left.isNull || right.isNull) return unknown;
  if (left.type === "boolean") return boolean(operation(comparator, left.sql, right.sql));
  return boolean(anyOf(left, (one) => anyOf(right, (other) => compareOne(comparator, one, other))));
}

function differ(left: Value, right: Value): boolean {
  const types = [certainType(left), certainType(right)];
  if (!types.includes(undefined) && types[0] !== types[1]) return true;
  return !left.isNull && !right.isNull && (left.type === "boolean") !== (right.type === "boolean");
}

/** Whether one of the values is equal. Many words are looked for together. */
export function isAmong(operand: Value, values: readonly Value[], scope: Scope): Value {
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

/** Whether a test is true of a value, or of any one of a multi-value. */
export function anyOf(value: Value, test: (one: Value) => Sql): Sql {
  if (!value.multi) return test(value);
  const name = lambdaParameter();
  const one: Value = { ...value, multi: false, sql: name };
  return sql`list_bool_or(list_transform(${value.sql}, lambda ${name}: ${test(one)}))`;
}

/** What a text that is the same in every row is as a number. */
function constantNumber(value: Value): number | undefined {
  if (typeof value.constant === "number") return value.constant;
  if (typeof value.constant !== "string") return undefined;
  return isNumeral(value.constant) ? Number(value.constant) : undefined;
}

/** Whether it can only be a text: `"abc"`, or what a function of texts makes, beside another such. */
function isWord(value: Value): boolean {
  return value.type === "text" && typeof value.constant === "string" && constantNumber(value) === undefined;
}

function compareOne(comparator: Comparator, left: Value, right: Value): Sql {
  const strings = left.type === "text" && !left.loose && right.type === "text" && !right.loose;
  if (strings || isWord(left) || isWord(right)) return operation(comparator, textOf(left), textOf(right));
  if (left.type === "number" && right.type === "number") return operation(comparator, left.sql, right.sql);
  return bindOnce(left.sql, (a) =>
    bindOnce(right.sql, (b) => mixed(comparator, { ...left, sql: a }, { ...right, sql: b })),
  );
}

/** Of sides that may be numbers or texts: where one is no number, the comparison of numbers is NULL. */
function mixed(comparator: Comparator, left: Value, right: Value): Sql {
  const asNumbers = operation(comparator, asNumber(left), asNumber(right));
  return sql`coalesce(${asNumbers}, ${operation(comparator, textOf(left), textOf(right))})`;
}

function asNumber(value: Value): Sql {
  const known = constantNumber(value);
  return known === undefined ? numberOf(value) : sql`CAST(${known} AS DOUBLE)`;
}

function operation(comparator: Comparator, left: Sql, right: Sql): Sql {
  return sql`(${left} ${raw(comparator)} ${right})`;
}
