/** `simple_query_string`: a query on several fields, whose scores are added. */
import { parseSimpleQueryString, type SimpleExpression } from "../query-string/simple.ts";
import type { MultiMatchType, SimpleQueryStringQuery } from "../syntax/query.ts";
import { analyzerOf } from "./analyzers.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import { best } from "./dis-max.ts";
import { isField, weightedFields } from "./field-names.ts";
import { fuzzyWord } from "./fuzzy.ts";
import { inHashOrder } from "./hash-order.ts";
import { type Matcher, not, nothing, TRUE, uniform } from "./matcher.ts";
import { type ClauseCount, requiredOptional } from "./minimum-should-match.ts";
import { multiField } from "./multi-match.ts";
import { prefix } from "./patterns.ts";
import { type Target, targetOf } from "./target.ts";
import { leniently } from "./unfit.ts";

export function compileSimpleQueryString(
  compiler: Compiler,
  query: SimpleQueryStringQuery,
  boost: number,
): Matcher {
  analyzerOf(query.options);
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
      return onFields(scope, { type: "most_fields", text: expression.text, slop: 0, top });
    case "phrase":
      return onFields(scope, { type: "phrase", text: expression.text, slop: expression.slop, top: false });
    case "prefix":
      return eachField(scope, (target, boost) => {
        // The beginning is then looked for among the words of the index, and of no words there are none.
        if (scope.query.analyzeWildcard && !isText(target)) return nothing;
        return prefix(
          scope.compiler,
          target,
          { prefix: lowered(target, expression.prefix), caseInsensitive: false, rewrite: undefined },
          boost,
        );
      });
    case "fuzzy": {
      const fuzzy = { ...scope.query.fuzzy, fuzziness: String(expression.changes) };
      return eachField(scope, (target, boost) =>
        fuzzyWord(scope.compiler, target, lowered(target, expression.text), fuzzy, boost),
      );
    }
    case "not": {
      const inner = scope.compiler.unmarked(() => compileExpression(scope, expression.expression, false));
      if (!inner) return undefined;
      // Every other document is asked for with it, and scores as such.
      const everything = uniform(TRUE, scope.boost, "*:*");
      return combine({
        must: [],
        should: [everything],
        filter: [not(inner.predicate)],
        minimum: minimumOf(scope, { optional: 1, required: 0 }, top),
      });
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
  const count =
    operator === "and" ? { optional: 0, required: found.length } : { optional: found.length, required: 0 };
  const minimum = minimumOf(scope, count, top);
  if (operator === "and") return combine({ must: found, should: [], filter: [], minimum });
  return combine({ must: [], should: found, filter: [], minimum });
}

/** `minimum_should_match` is about the outermost clauses. */
function minimumOf({ query }: Scope, count: ClauseCount, top: boolean): number {
  return requiredOptional(top ? query.options.minimumShouldMatch : undefined, count);
}

interface AskedText {
  readonly type: MultiMatchType;
  readonly text: string;
  readonly slop: number;
  /** It is the whole query, so that `minimum_should_match` is about its words. */
  readonly top: boolean;
}

function onFields(scope: Scope, { type, text, slop, top }: AskedText): Matcher | undefined {
  const { compiler, query, boost } = scope;
  const fields = fieldsOf(scope, type === "phrase");
  // Of several fields the best one counts, which is no boolean query.
  const minimumShouldMatch = top && fields.size === 1 ? query.options.minimumShouldMatch : undefined;
  return multiField(compiler, {
    type,
    fields,
    text,
    tieBreaker: type === "phrase" ? 0 : 1,
    options: { ...query.options, minimumShouldMatch, slop, lenient: isLenient(query) },
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
  return inHashOrder(
    [...fields].map(([name, weight]) => [
      isField(context, `${name}${quoteFieldSuffix}`) ? `${name}${quoteFieldSuffix}` : name,
      weight,
    ]),
  );
}

function isLenient({ lenient, fields }: SimpleQueryStringQuery): boolean {
  return lenient ?? (fields.length === 0 || fields.some(({ pattern }) => pattern === "*"));
}

function isText({ kind }: Target): boolean {
  return kind === "words" || kind === "keyword";
}

function lowered(target: Target, text: string): string {
  return target.kind === "words" ? text.toLowerCase() : text;
}
