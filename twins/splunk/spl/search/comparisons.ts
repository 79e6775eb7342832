/** Comparisons of a field with a literal. They ignore case, except for `CASE(…)`. */
import { jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import { inNetwork, networkOf } from "../addresses/networks.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { bindOnce, isNumeral, lambdaParameter, numberOf, type Typed, textOf } from "../relation/typed.ts";
import type { Comparator, SearchExpression, SearchValue } from "../syntax/ast.ts";
import { parseCidr, withinCidr } from "./cidr.ts";

export type Comparison = Extract<SearchExpression, { node: "comparison" }>;

/** From this many values on, they are passed as one list. */
const LIST_THRESHOLD = 20;

/** The condition that a field, or one value of a multi-value, compares true. NULL or false when it is missing. */
export function comparisonMatches({ field, comparator, value, mode }: Comparison, relation: Relation): Sql {
  const column = columnOf(relation, field);
  if (column === undefined) return raw("false");
  const test = anyValueMatches(fieldValue(column), comparatorTest(comparator, value, mode));
  if (field !== "index" || relation.kind !== "events" || !value.text.startsWith("*")) return test;
  // A leading `*` does not match internal indexes.
  return sql`(${test} AND NOT starts_with(${textOf(fieldValue(column))}, '_'))`;
}

/** The condition of `field IN (…)`, or of several `field=…` joined by OR. NULL or false when the field is missing. */
export function isOneOf(field: string, values: readonly SearchValue[], relation: Relation): Sql {
  const column = columnOf(relation, field);
  if (column === undefined || values.length === 0) return raw("false");
  const plain = values.filter((value) => !isPattern(value.text));
  const patterns = values.filter((value) => isPattern(value.text));
  const value = fieldValue(column);
  const tests = patterns.map((pattern) => anyValueMatches(value, comparatorTest("=", pattern, "plain")));
  if (plain.length < LIST_THRESHOLD)
    tests.push(...plain.map((one) => anyValueMatches(value, comparatorTest("=", one, "plain"))));
  else tests.push(inList(value, plain));
  return tests.reduce((all, test) => sql`${all} OR ${test}`, raw("false"));
}

function inList(value: Typed, values: readonly SearchValue[]): Sql {
  const known = jsonParameter(values.map(({ text }) => normalizeText(text, value.type)));
  const wanted = sql`from_json(${known}, '["VARCHAR"]')`;
  const lower = (one: Sql) => sql`lower(${textOf({ ...value, multi: false, sql: one })})`;
  if (!value.multi) return sql`(${lower(value.sql)} IN (SELECT unnest(${wanted})))`;
  const name = lambdaParameter();
  return sql`list_has_any(list_transform(${value.sql}, lambda ${name}: ${lower(name)}), ${wanted})`;
}

/** A literal in the form that the field's text has. */
function normalizeText(text: string, type: Typed["type"]): string {
  return type === "number" && isNumeral(text) ? String(Number(text)) : text.toLowerCase();
}

function anyValueMatches(value: Typed, test: (one: Typed) => Sql): Sql {
  if (!value.multi) return sql`(${test(value)})`;
  const name = lambdaParameter();
  const one: Typed = { ...value, multi: false, sql: name };
  return sql`list_bool_or(list_transform(${value.sql}, lambda ${name}: ${test(one)}))`;
}

/** Whether a literal has wildcards or is a network of addresses. */
function isPattern(text: string): boolean {
  return text.includes("*") || parseCidr(text) !== undefined || isIPv6Network(text);
}

function isIPv6Network(text: string): boolean {
  return text.includes(":") && text.includes("/") && networkOf(text) !== undefined;
}

function comparatorTest(
  comparator: Comparator,
  { text }: SearchValue,
  mode: Comparison["mode"],
): (one: Typed) => Sql {
  switch (comparator) {
    case "=":
      return (one) => equals(one, text, mode);
    case "!=":
      return (one) => sql`NOT ${equals(one, text, mode)}`;
    default:
      return (one) => compareOrdered(comparator, one, text);
  }
}

function equals(one: Typed, text: string, mode: Comparison["mode"]): Sql {
  if (/^\*+$/.test(text)) return sql`nullif(${one.sql} IS NOT NULL, false)`;
  const fold = (value: Sql) => (mode === "case" ? value : sql`lower(${value})`);
  if (text.includes("*")) {
    const pattern = text.replace(/[\\%_]/g, "\\$&").replace(/\*+/g, "%");
    return sql`(${fold(textOf(one))} LIKE ${fold(sql`${pattern}`)} ESCAPE '\\')`;
  }
  const cidr = parseCidr(text);
  if (cidr !== undefined && one.type === "text") {
    return sql`(lower(${one.sql}) = ${text.toLowerCase()} OR ${withinCidr(one.sql, cidr)})`;
  }
  if (isIPv6Network(text) && one.type === "text") {
    const network = sql`CAST(${text} AS VARCHAR)`;
    return sql`(lower(${one.sql}) = ${text.toLowerCase()} OR (contains(${one.sql}, ':') AND ${inNetwork(network, one.sql)} = '1'))`;
  }
  if (one.type === "number") {
    return isNumeral(text)
      ? sql`(${one.sql} = CAST(${Number(text)} AS DOUBLE))`
      : sql`nullif(${one.sql} IS NULL, true)`;
  }
  return sql`(${fold(one.sql)} = ${fold(sql`CAST(${text} AS VARCHAR)`)})`;
}

/** Compares numerically when both sides are numbers, else as text. */
function compareOrdered(comparator: Comparator, one: Typed, text: string): Sql {
  const operator = raw(comparator);
  const asTexts = (value: Sql) => sql`(lower(${value}) ${operator} lower(${text}))`;
  if (!isNumeral(text)) return asTexts(textOf(one));
  const number = sql`CAST(${Number(text)} AS DOUBLE)`;
  if (one.type === "number") return sql`(${one.sql} ${operator} ${number})`;
  return bindOnce(one.sql, (value) => {
    const own = numberOf({ ...one, sql: value });
    return sql`CASE WHEN ${own} IS NOT NULL THEN ${own} ${operator} ${number} ELSE ${asTexts(value)} END`;
  });
}
