/** Compiles search expressions to SQL conditions, on events and on rows of later commands. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import { SplError } from "../spl-error.ts";
import type { SearchExpression, SearchValue } from "../syntax/ast.ts";
import { type Comparison, comparisonMatches, isOneOf } from "./comparisons.ts";
import type { ExactTest } from "./prefilter.ts";
import { hasAnyWord, termMatches, wordOf } from "./terms.ts";

/** Tests of parts of an expression that the segment index decides, without reading the event. */
export interface ExactTests {
  /** Column with the event's row number. */
  readonly row: Sql;
  readonly tests: ReadonlyMap<SearchExpression, ExactTest>;
}

/** As `searchFilter`, but never NULL. */
export function searchPredicate(expression: SearchExpression, relation: Relation): Sql {
  return sql`coalesce(${searchFilter(expression, relation)}, false)`;
}

/**
 * The condition that a row matches, over the columns of `relation`. NULL stands for false, because DuckDB pushes only plain
 * comparisons down into its storage.
 * @param expression resolved by `resolveSearch`: without subsearches, tags, event types and time modifiers
 * @param exact for events straight from the store
 */
export function searchFilter(expression: SearchExpression, relation: Relation, exact?: ExactTests): Sql {
  const test = exact?.tests.get(expression);
  if (exact !== undefined && test !== undefined) {
    return sql`(${test(exact.row, searchPredicate(expression, relation))})`;
  }
  switch (expression.node) {
    case "all":
      return raw("true");
    case "and":
      return connect(
        expression.operands.map((operand) => searchFilter(operand, relation, exact)),
        " AND ",
      );
    case "or":
      return connect(compileAlternatives(expression.operands, relation, exact), " OR ");
    case "not":
      return sql`(NOT coalesce(${searchFilter(expression.operand, relation, exact)}, false))`;
    case "term": {
      // `*` also matches rows of reports, which have no `_raw`.
      if (/^\*+$/.test(expression.value.text)) return raw("true");
      const text = columnOf(relation, "_raw");
      return text === undefined ? raw("false") : termMatches(expression, textOf(fieldValue(text)));
    }
    case "comparison":
      return comparisonMatches(expression, relation);
    case "in":
      return sql`(${isOneOf(expression.field, expression.values, relation)})`;
    case "time":
    case "subsearch":
      throw new SplError("Error in 'search' command: The search is not resolved.", "run");
  }
}

function connect(pieces: readonly Sql[], operator: string): Sql {
  return sql`(${joined(pieces, operator)})`;
}

/** From this many words on, one list lookup replaces single tests. */
const WORD_LIST_THRESHOLD = 8;

/** The operands of OR. Combines values of one field, and many words, into lists: subsearches produce thousands of them. */
function compileAlternatives(
  operands: readonly SearchExpression[],
  relation: Relation,
  exact: ExactTests | undefined,
): Sql[] {
  const values = new Map<string, SearchValue[]>();
  const others: SearchExpression[] = [];
  for (const operand of operands) {
    if (!isPlainEquality(operand)) others.push(operand);
    else {
      const list = values.get(operand.field);
      if (list === undefined) values.set(operand.field, [operand.value]);
      else list.push(operand.value);
    }
  }
  const words = others.filter((operand) => wordOf(operand) !== undefined && !exact?.tests.has(operand));
  const text = columnOf(relation, "_raw");
  const listed = new Set(text !== undefined && words.length >= WORD_LIST_THRESHOLD ? words : []);
  const single = others.filter((operand) => !listed.has(operand));
  const wordList = [...listed].flatMap((operand) => wordOf(operand) ?? []);
  return [
    ...[...values].map(([field, list]) => sql`(${isOneOf(field, list, relation)})`),
    ...(text === undefined || wordList.length === 0 ? [] : [hasAnyWord(wordList, textOf(fieldValue(text)))]),
    ...single.map((operand) => searchFilter(operand, relation, exact)),
  ];
}

function isPlainEquality(expression: SearchExpression): expression is Comparison {
  return expression.node === "comparison" && expression.comparator === "=" && expression.mode !== "case";
}
