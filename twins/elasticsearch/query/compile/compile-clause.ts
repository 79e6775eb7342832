/** Which function compiles which clause. */
import type { QueryContext } from "../compiled-query.ts";
import { conversionError } from "../errors.ts";
import type { Query } from "../syntax/query.ts";
import { compileBool } from "./bool.ts";
import type { CompileClause } from "./compiler.ts";
import { compileBoosting, compileConstantScore } from "./compound.ts";
import { compileDisMax } from "./dis-max.ts";
import { compileExists } from "./exists.ts";
import { compileFunctionScore } from "./function-score.ts";
import { compileFuzzy } from "./fuzzy.ts";
import { compileMatch } from "./match.ts";
import { nothing, TRUE, uniform } from "./matcher.ts";
import { compileMultiMatch } from "./multi-match.ts";
import { compileNested } from "./nested.ts";
import { compilePrefix, compileRegexp, compileWildcard } from "./patterns.ts";
import { compileQueryStringQuery } from "./query-string.ts";
import { compileRange } from "./range.ts";
import { compileSimpleQueryString } from "./simple-query-string.ts";
import { targetOf } from "./target.ts";
import { compileTerm } from "./term.ts";
import { compileIds, compileTerms, compileTermsSet } from "./terms.ts";

/** Clauses that search one field for values. */
const fieldValueClauses: ReadonlySet<Query["kind"]> = new Set([
  "term",
  "terms",
  "range",
  "match",
  "prefix",
  "wildcard",
  "regexp",
  "fuzzy",
] as const);

/** Compiles one clause, and the clauses inside it through the compiler. @throws VendorError */
export const compileClause: CompileClause = (compiler, query, boost) => {
  if (fieldValueClauses.has(query.kind) && "field" in query) checkSearchable(compiler.context, query.field);
  switch (query.kind) {
    case "match_all":
      compiler.count(1);
      return uniform(TRUE, boost, "*:*");
    case "match_none":
      return nothing;
    case "bool":
      return compileBool(compiler, query, boost);
    case "term":
      return compileTerm(compiler, query, boost);
    case "range":
      return compileRange(compiler, query, boost);
    case "match":
      return compileMatch(compiler, query, boost);
    case "terms":
      return compileTerms(compiler, query, boost);
    case "terms_set":
      return compileTermsSet(compiler, query, boost);
    case "ids":
      return compileIds(compiler, query, boost);
    case "exists":
      return compileExists(compiler, query, boost);
    case "wildcard":
      return compileWildcard(compiler, query, boost);
    case "prefix":
      return compilePrefix(compiler, query, boost);
    case "regexp":
      return compileRegexp(compiler, query, boost);
    case "fuzzy":
      return compileFuzzy(compiler, query, boost);
    case "multi_match":
      return compileMultiMatch(compiler, query, boost);
    case "query_string":
      return compileQueryStringQuery(compiler, query, boost);
    case "simple_query_string":
      return compileSimpleQueryString(compiler, query, boost);
    case "constant_score":
      return compileConstantScore(compiler, query, boost);
    case "dis_max":
      return compileDisMax(compiler, query, boost);
    case "boosting":
      return compileBoosting(compiler, query, boost);
    case "nested":
      return compileNested(compiler, query, boost);
    case "function_score":
      return compileFunctionScore(compiler, query, boost);
  }
};

/** @throws VendorError for a field with `index: false` and without doc values that would do */
function checkSearchable(context: QueryContext, name: string): void {
  const target = targetOf(context, name, "whole");
  if (!("field" in target) || target.field.mapping?.isSearchable !== false) return;
  const lacking = target.field.type === "text" ? "indexed" : "indexed nor has doc values";
  throw conversionError(
    `Cannot search on field [${name}] since it is not ${lacking}.`,
    "illegal_argument_exception",
  );
}
