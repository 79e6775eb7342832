/** `terms`, `terms_set` and `ids`: any of many exact values. */
import { type Field, fieldValue } from "@offhook/log-store/fields";
import { identifier, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { IdsQuery, Scalar, TermsQuery, TermsSetQuery } from "../syntax/query.ts";
import { addressIs } from "./addresses.ts";
import { combine } from "./bool.ts";
import { equals } from "./column.ts";
import type { Compiler } from "./compiler.ts";
import { dateRange } from "./dates.ts";
import { anyOf, FALSE, inRows, type Matcher, nothing, uniform } from "./matcher.ts";
import { normalize, type Target, targetOf } from "./target.ts";
import { matchValue } from "./term.ts";
import { ignoreUnfit, ignoreUnfitInSpecification } from "./unfit.ts";
import { booleanOf, fieldNumber, numberOf, strings, wholeNumbers } from "./values.ts";

export function compileTerms(compiler: Compiler, query: TermsQuery, boost: number): Matcher {
  compiler.count(1);
  const target = targetOf(compiler.context, query.field, "whole");
  if (query.values.length === 0) return nothing;
  return ignoreUnfitInSpecification(compiler.context, () =>
    uniform(oneOf(compiler, target, query.values), boost, `${query.field}:${describe(query.values)}`),
  );
}

function describe(values: readonly Scalar[]): string {
  return `(${values.slice(0, 16).map(String).join(" ")}${values.length > 16 ? " …" : ""})`;
}

function oneOf(compiler: Compiler, target: Target, values: readonly Scalar[]): Sql {
  const texts = values.map(String);
  switch (target.kind) {
    case "missing":
      return FALSE;
    case "meta":
      return sql`d.${identifier(target.name)} IN ${strings(texts)}`;
    case "words":
      compiler.markWords(target.name, texts);
      return inRows(
        sql`SELECT _row FROM ${identifier(target.postings)} WHERE frequency > 0 AND term IN ${strings(texts)}`,
      );
    case "keyword":
      compiler.markWords(target.name, texts);
      return anyText(
        target.field,
        texts
          .filter(({ length }) => length <= (target.ignoreAbove ?? length))
          .map((text) => normalize(target, text)),
      );
    case "number":
      return anyNumber(compiler, target.field, values);
    case "boolean": {
      const wanted = values.map(booleanOf);
      return anyOf(
        [true, false]
          .filter((value) => wanted.includes(value))
          .map((value) => equals(target.field, sql`${value}`)),
      );
    }
    case "ip":
      return anyOf(values.map((value) => addressIs(target.field, value)));
    case "date":
      return anyOf(
        values.map((value) => {
          const bound = { value, inclusive: true };
          return dateRange(compiler.context, target, { lower: bound, upper: bound }, 1).predicate;
        }),
      );
  }
}

/** Prefers a list of values to a subquery: the scan of the column filters by a list. */
function anyText(field: Field, texts: readonly string[]): Sql {
  if (field.multi || texts.length === 0) return anyValue(field, "VARCHAR", jsonParameter(texts));
  const column = fieldValue(field);
  return sql`(${column} IS NOT NULL AND ${column} IN ${strings(texts)})`;
}

/** @param values a JSON array */
function anyValue(field: Field, type: string, values: string): Sql {
  const column = fieldValue(field);
  const array = sql`from_json(${values}, ${raw(`'["${type}"]'`)})`;
  const found = field.multi
    ? sql`list_has_any(${column}, ${array})`
    : sql`${column} IN (SELECT unnest(${array}))`;
  return sql`(${column} IS NOT NULL AND ${found})`;
}

function anyNumber(compiler: Compiler, field: Field, values: readonly Scalar[]): Sql {
  const whole = wholeNumbers(field);
  const numbers = values.flatMap((value) => {
    const number = compiler.context.fidelity === "vendor" ? numberOf(value) : numberOrNone(value);
    return number === undefined ? [] : [number];
  });
  if (!whole)
    return anyValue(field, "DOUBLE", JSON.stringify(numbers.map((number) => fieldNumber(field, number))));
  const inside = numbers.filter(
    (number) => typeof number === "bigint" && number >= whole.min && number <= whole.max,
  );
  const type = field.type === "unsigned_long" ? "UBIGINT" : "BIGINT";
  return inside.length === 0 ? FALSE : anyValue(field, type, `[${inside.join(",")}]`);
}

function numberOrNone(value: Scalar): number | bigint | undefined {
  try {
    return numberOf(value);
  } catch {
    return undefined;
  }
}

export function compileIds(compiler: Compiler, query: IdsQuery, boost: number): Matcher {
  compiler.count(1);
  if (query.values.length === 0) return nothing;
  return uniform(sql`d._id IN ${strings(query.values)}`, boost, `_id:${describe(query.values)}`);
}

/** Matches documents with at least as many of the values as the document's own minimum field says. */
export function compileTermsSet(compiler: Compiler, query: TermsSetQuery, boost: number): Matcher {
  const target = targetOf(compiler.context, query.field, "whole");
  const minimum = targetOf(compiler.context, query.minimumField, "whole");
  if (minimum.kind !== "number" || minimum.field.multi || query.terms.length === 0) return nothing;
  compiler.count(query.terms.length);
  const should = query.terms.map((term) => ignoreUnfit(() => matchValue(compiler, target, term, boost)));
  const counted = should.map(({ predicate }) => sql`CAST(${predicate} AS INTEGER)`);
  const sum = counted.reduce((left, right) => sql`${left} + ${right}`);
  const column = fieldValue(minimum.field);
  const enough = sql`(${column} IS NOT NULL AND (${sum}) >= greatest(1, ${column}))`;
  return combine({ must: [], should, filter: [enough], minimum: 0 });
}
