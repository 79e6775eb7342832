/** `simple_query_string`: a query on several fields, whose scores are summed. */
import { parseSimpleQueryString, type SimpleExpression } from "../query-string/simple.ts";
import type { MultiMatchType, SimpleQueryStringQuery } from "../syntax/query.ts";
import { analyzerOf } from "./analyzers.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import { disMax } from "./dis-max.ts";
import { isField, weightedFields } from "./field-names.ts";
import { fuzzyWord } from "./fuzzy.ts";
import { orderByHash } from "./hash-order.ts";
import { type Matcher, not, nothing, TRUE, uniform } from "./matcher.ts";
import { type ClauseCount, requiredOptional } from "./minimum-should-match.ts";
import { multiField } from "./multi-match.ts";
import { prefix } from "./patterns.ts";
import { type Target, targetOf } from "./target.ts";
import { ignoreUnfit } from "./unfit.ts";

export function compileSimpleQueryString(
  compiler: Compiler,
  query: SimpleQueryStringQuery,
  boost: number,
): Matcher {
  analyzerOf(query.options);
  const expression = parseSimpleQueryString(query.text, query.options.operator, query.flags);
  if (!expression) return nothing;
  return compileExpression({ compiler, query, boost }, expression, "outermost") ?? nothing;
}

/** `minimum_should_match` applies to the outermost clauses, and to the words of a single outermost text. */
type Level = "outermost" | "inner";

interface Scope {
  readonly compiler: Compiler;
  readonly query: SimpleQueryStringQuery;
  readonly boost: number;
}

function compileExpression(scope: Scope, expression: SimpleExpression, level: Level): Matcher | undefined {
  scope.compiler.count(1);
  switch (expression.kind) {
    case "text":
      return onFields(scope, { type: "most_fields", text: expression.text, slop: 0, level });
    case "phrase":
      return onFields(scope, {
        type: "phrase",
        text: expression.text,
        slop: expression.slop,
        level: "inner",
      });
    case "prefix":
      return eachField(scope, (target, boost) => {
        // An analysed prefix is searched among indexed words, which other types do not have.
        if (scope.query.analyzeWildcard && !isText(target)) return nothing;
        return prefix(
          scope.compiler,
          target,
          { prefix: lowerCaseWords(target, expression.prefix), caseInsensitive: false, rewrite: undefined },
          boost,
        );
      });
    case "fuzzy": {
      const fuzzy = { ...scope.query.fuzzy, fuzziness: String(expression.changes) };
      return eachField(scope, (target, boost) =>
        fuzzyWord(scope.compiler, target, lowerCaseWords(target, expression.text), fuzzy, boost),
      );
    }
    case "not": {
      const inner = scope.compiler.withoutMarks(() =>
        compileExpression(scope, expression.expression, "inner"),
      );
      if (!inner) return undefined;
      // The vendor adds `*:*` beside the negation, which gives every remaining document its score.
      const everything = uniform(TRUE, scope.boost, "*:*");
      return combine({
        must: [],
        should: [everything],
        filter: [not(inner.predicate)],
        minimum: minimumOf(scope, { optional: 1, required: 0 }, level),
      });
    }
    case "combined":
      return combineClauses(scope, expression, level);
  }
}

function combineClauses(
  scope: Scope,
  { operator, clauses }: Extract<SimpleExpression, { kind: "combined" }>,
  level: Level,
): Matcher | undefined {
  const found = clauses
    .map((clause) => compileExpression(scope, clause, "inner"))
    .filter((matcher) => matcher !== undefined);
  if (found.length === 0) return undefined;
  const count =
    operator === "and" ? { optional: 0, required: found.length } : { optional: found.length, required: 0 };
  const minimum = minimumOf(scope, count, level);
  if (operator === "and") return combine({ must: found, should: [], filter: [], minimum });
  return combine({ must: [], should: found, filter: [], minimum });
}

function minimumOf({ query }: Scope, count: ClauseCount, level: Level): number {
  return requiredOptional(level === "outermost" ? query.options.minimumShouldMatch : undefined, count);
}

interface SearchedText {
  readonly type: MultiMatchType;
  readonly text: string;
  readonly slop: number;
  readonly level: Level;
}

function onFields(scope: Scope, { type, text, slop, level }: SearchedText): Matcher | undefined {
  const { compiler, query, boost } = scope;
  const fields = fieldsOf(scope, type === "phrase" ? { suffix: query.quoteFieldSuffix } : {});
  // Several fields become a `dis_max`, which has no `minimum_should_match`.
  const minimumShouldMatch =
    level === "outermost" && fields.size === 1 ? query.options.minimumShouldMatch : undefined;
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
  const matchers = [...fieldsOf(scope)].map(([name, weight]) => {
    const one = () => compile(targetOf(compiler.context, name, "words"), Math.fround(boost * weight));
    return isLenient(query) ? ignoreUnfit(one) : one();
  });
  return disMax(matchers, 1);
}

/** @param suffix prefers the fields whose name has it */
function fieldsOf(
  { compiler, query }: Scope,
  { suffix }: { suffix?: string | undefined } = {},
): Map<string, number> {
  const { context } = compiler;
  const fields = weightedFields(
    context,
    query.fields.length === 0 ? [{ pattern: "*", boost: 1 }] : query.fields,
  );
  if (suffix === undefined) return fields;
  return orderByHash(
    [...fields].map(([name, weight]) => [
      isField(context, `${name}${suffix}`) ? `${name}${suffix}` : name,
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

function lowerCaseWords(target: Target, text: string): string {
  return target.kind === "words" ? text.toLowerCase() : text;
}
