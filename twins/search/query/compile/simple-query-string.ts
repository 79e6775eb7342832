/** `simple_query_string`: a query on several fields, whose scores are added. */
import { parseSimpleQueryString, type SimpleExpression } from "../query-string/simple.ts";
import type { MultiMatchType, SimpleQueryStringQuery } from "../syntax/query.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import { best } from "./dis-max.ts";
import { isField, weightedFields } from "./field-names.ts";
import { fuzzyWord } from "./fuzzy.ts";
import { type Matcher, not, nothing } from "./matcher.ts";
import { minimumShouldMatch } from "./minimum-should-match.ts";
import { multiField } from "./multi-match.ts";
import { prefix } from "./patterns.ts";
import { type Target, targetOf } from "./target.ts";
import { leniently } from "./unfit.ts";

export function compileSimpleQueryString(
  compiler: Compiler,
  query: SimpleQueryStringQuery,
  boost: number,
): Matcher {
  const expression = parseSimpleQueryString(query.text, query.options.operator, query.flags);
  if (!expression) return nothing;
  return compileExpression({ compiler, query, boost }, expression, true) ?? nothing;
}

interface Scope {
  readonly compiler: Compiler;
  readonly query: SimpleQueryStringQuery;
  readonly boost: number;
}

function compileExpression(scope: Scope, expression: SimpleExpression, top: boolean): Matcher | undefined {
  scope.compiler.count(1);
  switch (expression.kind) {
    case "text":
      return onFields(scope, "most_fields", expression.text, 0);
    case "phrase":
      return onFields(scope, "phrase", expression.text, expression.slop);
    case "prefix":
      return eachField(scope, (target, boost) =>
        prefix(
          scope.compiler,
          target,
          { prefix: lowered(target, expression.prefix), caseInsensitive: false },
          boost,
        ),
      );
    case "fuzzy": {
      const fuzzy = { ...scope.query.fuzzy, fuzziness: String(expression.changes) };
      return eachField(scope, (target, boost) =>
        fuzzyWord(scope.compiler, target, lowered(target, expression.text), fuzzy, boost),
      );
    }
    case "not": {
      const inner = compileExpression(scope, expression.expression, false);
      return inner && combine({ must: [], should: [], filter: [not(inner.predicate)], minimum: 0 });
    }
    case "combined":
      return combined(scope, expression, top);
  }
}

function combined(
  scope: Scope,
  { operator, clauses }: Extract<SimpleExpression, { kind: "combined" }>,
  top: boolean,
): Matcher | undefined {
  const found = clauses
    .map((clause) => compileExpression(scope, clause, false))
    .filter((matcher) => matcher !== undefined);
  if (found.length === 0) return undefined;
  if (operator === "and") return combine({ must: found, should: [], filter: [], minimum: 0 });
  const written = top ? scope.query.options.minimumShouldMatch : undefined;
  const minimum = written === undefined ? 1 : Math.max(1, minimumShouldMatch(written, found.length));
  return combine({ must: [], should: found, filter: [], minimum });
}

function onFields(scope: Scope, type: MultiMatchType, text: string, slop: number): Matcher | undefined {
  const { compiler, query, boost } = scope;
  return multiField(compiler, {
    type,
    fields: fieldsOf(scope, type === "phrase"),
    text,
    tieBreaker: type === "phrase" ? 0 : 1,
    options: { ...query.options, minimumShouldMatch: undefined, slop, lenient: isLenient(query) },
    boost,
  });
}

function eachField(scope: Scope, compile: (target: Target, boost: number) => Matcher): Matcher {
  const { compiler, query, boost } = scope;
  const matchers = [...fieldsOf(scope, false)].map(([name, weight]) => {
    const one = () => compile(targetOf(compiler.context, name, "words"), Math.fround(boost * weight));
    return isLenient(query) ? leniently(one) : one();
  });
  return best(matchers, 1);
}

function fieldsOf({ compiler, query }: Scope, quoted: boolean): Map<string, number> {
  const { context } = compiler;
  const fields = weightedFields(
    context,
    query.fields.length === 0 ? [{ pattern: "*", boost: 1 }] : query.fields,
  );
  const { quoteFieldSuffix } = query;
  if (!quoted || quoteFieldSuffix === undefined) return fields;
  return new Map(
    [...fields].map(([name, weight]) => [
      isField(context, `${name}${quoteFieldSuffix}`) ? `${name}${quoteFieldSuffix}` : name,
      weight,
    ]),
  );
}

function isLenient({ lenient, fields }: SimpleQueryStringQuery): boolean {
  return lenient ?? (fields.length === 0 || fields.some(({ pattern }) => pattern === "*"));
}

function lowered(target: Target, text: string): string {
  return target.kind === "words" ? text.toLowerCase() : text;
}
