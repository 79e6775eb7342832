/** Compiles the tree of a query to SQL: dispatches each clause, and collects marks, named clauses and checks. */

import type { Sql } from "@offhook/log-store/sql";
import type { QueryContext } from "../compiled-query.ts";
import { conversionError, tooManyClauses } from "../errors.ts";
import { type Mark, termMark } from "../mark.ts";
import type { Query } from "../syntax/query.ts";
import { compileBool } from "./bool.ts";
import { compileBoosting, compileConstantScore } from "./compound.ts";
import { compileDisMax } from "./dis-max.ts";
import { compileExists } from "./exists.ts";
import { compileFunctionScore } from "./function-score.ts";
import { compileFuzzy } from "./fuzzy.ts";
import { compileMatch } from "./match.ts";
import { type Matcher, nothing, TRUE, uniform } from "./matcher.ts";
import { compileMultiMatch } from "./multi-match.ts";
import { compileNested } from "./nested.ts";
import { compilePrefix, compileRegexp, compileWildcard } from "./patterns.ts";
import { compileQueryStringQuery } from "./query-string.ts";
import { compileRange } from "./range.ts";
import { compileSimpleQueryString } from "./simple-query-string.ts";
import { targetOf } from "./target.ts";
import { compileTerm } from "./term.ts";
import { compileIds, compileTerms, compileTermsSet } from "./terms.ts";

/** The vendor's limit depends on its memory; this is that of a small node. */
const MAX_CLAUSES = 4096;

/** Drops the boost of a clause, and of those inside a `bool`, as Lucene does where scores are not used. */
function dropBoost(query: Query): Query {
  if (query.kind !== "bool") return { ...query, boost: 1 };
  const { must, mustNot, filter, should } = query;
  const clauses = {
    must: must.map(dropBoost),
    mustNot: mustNot.map(dropBoost),
    filter: filter.map(dropBoost),
    should: should.map(dropBoost),
  };
  return { ...query, ...clauses, boost: 1 };
}

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

export class Compiler {
  readonly context: QueryContext;
  readonly marks = new Map<string, Mark[]>();
  readonly named = new Map<string, Sql>();
  readonly #checks: ((found: Sql) => void)[] = [];
  readonly #minimums: "applied" | "ignored";
  #clauses = 0;
  #unscored = 0;
  #unmarked = false;

  /** @param minimums whether `min_score` restricts the matches */
  constructor(context: QueryContext, minimums: "applied" | "ignored" = "applied") {
    this.context = context;
    this.#minimums = minimums;
  }

  minimumOf({ minScore }: { minScore?: number | undefined }): number | undefined {
    return this.#minimums === "ignored" ? undefined : minScore;
  }

  /** @param boost the product of the boosts of the enclosing clauses */
  compile(query: Query, boost: number): Matcher {
    const matcher =
      query.boost === 0
        ? uniform(this.compileUnscored(query, 1).predicate, 0, "ConstantScore(boost 0)")
        : this.#compile(query, Math.fround(boost * query.boost));
    if (query.name !== undefined) this.named.set(query.name, matcher.predicate);
    return matcher;
  }

  /** Compiles a clause whose score is not used. A `min_score` inside still computes scores, without the clause's boost. */
  compileUnscored(query: Query, boost: number): Matcher {
    this.#unscored++;
    try {
      return this.compile(dropBoost(query), boost);
    } finally {
      this.#unscored--;
    }
  }

  /** Whether the score of the clause being compiled is used. */
  get scores(): boolean {
    return this.#unscored === 0;
  }

  /** Adds a check that the vendor makes while scoring. @param check receives the predicate of the whole query */
  addCheck(check: (found: Sql) => void): void {
    this.#checks.push(check);
  }

  /** Runs the added checks. @param foundBy compiles the predicate of the whole query, without `min_score` @throws ShardError */
  check(foundBy: () => Sql): void {
    if (this.#checks.length === 0) return;
    const found = foundBy();
    for (const check of this.#checks) check(found);
  }

  /** Counts clauses against the limit. @throws VendorError for too many */
  count(clauses: number): void {
    this.#clauses += clauses;
    if (this.#clauses > MAX_CLAUSES) throw tooManyClauses(MAX_CLAUSES);
  }

  /** Marks words for highlighting. */
  markWords(field: string, words: readonly string[]): void {
    for (const word of words) this.mark(field, termMark(word));
  }

  /** Marks matches in a field for highlighting. */
  mark(field: string, mark: Mark): void {
    if (this.#unmarked) return;
    const known = this.marks.get(field);
    if (known) known.push(mark);
    else this.marks.set(field, [mark]);
  }

  /** Compiles a clause without marks. */
  compileUnmarked(query: Query, boost: number): Matcher {
    return this.withoutMarks(() => this.compile(query, boost));
  }

  /** Compiles without marks, for clauses that do not make a document match. */
  withoutMarks<Compiled>(compile: () => Compiled): Compiled {
    const before = this.#unmarked;
    this.#unmarked = true;
    try {
      return compile();
    } finally {
      this.#unmarked = before;
    }
  }

  #compile(query: Query, boost: number): Matcher {
    if (fieldValueClauses.has(query.kind) && "field" in query) checkSearchable(this.context, query.field);
    switch (query.kind) {
      case "match_all":
        this.count(1);
        return uniform(TRUE, boost, "*:*");
      case "match_none":
        return nothing;
      case "bool":
        return compileBool(this, query, boost);
      case "term":
        return compileTerm(this, query, boost);
      case "range":
        return compileRange(this, query, boost);
      case "match":
        return compileMatch(this, query, boost);
      case "terms":
        return compileTerms(this, query, boost);
      case "terms_set":
        return compileTermsSet(this, query, boost);
      case "ids":
        return compileIds(this, query, boost);
      case "exists":
        return compileExists(this, query, boost);
      case "wildcard":
        return compileWildcard(this, query, boost);
      case "prefix":
        return compilePrefix(this, query, boost);
      case "regexp":
        return compileRegexp(this, query, boost);
      case "fuzzy":
        return compileFuzzy(this, query, boost);
      case "multi_match":
        return compileMultiMatch(this, query, boost);
      case "query_string":
        return compileQueryStringQuery(this, query, boost);
      case "simple_query_string":
        return compileSimpleQueryString(this, query, boost);
      case "constant_score":
        return compileConstantScore(this, query, boost);
      case "dis_max":
        return compileDisMax(this, query, boost);
      case "boosting":
        return compileBoosting(this, query, boost);
      case "nested":
        return compileNested(this, query, boost);
      case "function_score":
        return compileFunctionScore(this, query, boost);
    }
  }
}

/** Refuses searches on fields whose mapping excludes them. @throws VendorError for a field with `index: false` that also has no usable doc values */
function checkSearchable(context: QueryContext, name: string): void {
  const target = targetOf(context, name, "whole");
  if (!("field" in target) || target.field.mapping?.isSearchable !== false) return;
  const lacking = target.field.type === "text" ? "indexed" : "indexed nor has doc values";
  throw conversionError(
    `Cannot search on field [${name}] since it is not ${lacking}.`,
    "illegal_argument_exception",
  );
}
