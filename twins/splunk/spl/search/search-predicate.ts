/** Search expressions as SQL, on events and on the rows of any later command. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import { SplError } from "../spl-error.ts";
import type { SearchExpression, SearchValue } from "../syntax/ast.ts";
import { type Comparison, comparisonMatches, isOneOf } from "./comparisons.ts";
import type { Decided } from "./sieve.ts";
import { hasAnyWord, termMatches, wordOf } from "./terms.ts";

/** What is known of parts of an expression without looking at the events. */
export interface Known {
  /** A column with the event's number in the store. */
  readonly row: Sql;
  readonly decided: ReadonlyMap<SearchExpression, Decided>;
}

/** As `searchFilter`, but never NULL. */
export function searchPredicate(expression: SearchExpression, relation: Relation): Sql {
  return sql`coalesce(${searchFilter(expression, relation)}, false)`;
}

/**
 * Whether a row is found, over the columns of `relation`; NULL stands for false, for DuckDB looks for a plain comparison in the
 * stored data itself.
 * @param known of the rows, when they are events as they lie in the store
 * @param expression without subsearches, tags, event types and time modifiers: see `resolveSearch`
 */
export function searchFilter(expression: SearchExpression, relation: Relation, known?: Known): Sql {
  const decided = known?.decided.get(expression);
  if (known !== undefined && decided !== undefined) {
    return sql`(${decided(known.row, searchPredicate(expression, relation))})`;
  }
  switch (expression.node) {
    case "all":
      return raw("true");
    case "and":
      return connected(
        expression.operands.map((operand) => searchFilter(operand, relation, known)),
        " AND ",
      );
    case "or":
      return connected(alternatives(expression.operands, relation, known), " OR ");
    case "not":
      return sql`(NOT coalesce(${searchFilter(expression.operand, relation, known)}, false))`;
    case "term": {
      // Rows of reports have no text, but `*` is true of them too.
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

function connected(pieces: readonly Sql[], operator: string): Sql {
  return sql`(${joined(pieces, operator)})`;
}

/** From how many words on they are looked for together. */
const MANY_WORDS = 8;

/** Many values of one field, and many words, are looked for together: subsearches make thousands of them. */
function alternatives(
  operands: readonly SearchExpression[],
  relation: Relation,
  known: Known | undefined,
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
  const words = others.filter((operand) => wordOf(operand) !== undefined && !known?.decided.has(operand));
  const text = columnOf(relation, "_raw");
  const together = text !== undefined && words.length >= MANY_WORDS ? words : [];
  const isTogether = new Set(together);
  const alone = others.filter((operand) => !isTogether.has(operand));
  const found = together.flatMap((operand) => wordOf(operand) ?? []);
  return [
    ...[...values].map(([field, list]) => sql`(${isOneOf(field, list, relation)})`),
    ...(text === undefined || found.length === 0 ? [] : [hasAnyWord(found, textOf(fieldValue(text)))]),
    ...alone.map((operand) => searchFilter(operand, relation, known)),
  ];
}

function isPlainEquality(expression: SearchExpression): expression is Comparison {
  return expression.node === "comparison" && expression.comparator === "=" && expression.mode !== "case";
}
