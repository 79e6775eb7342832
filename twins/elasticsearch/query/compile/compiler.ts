/** From the tree of a query to SQL: which function compiles which clause. */

import type { Sql } from "@offhook/log-store/sql";
import type { QueryContext } from "../compiled-query.ts";
import { tooManyClauses } from "../errors.ts";
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
import { checkSearchable } from "./searchable.ts";
import { compileSimpleQueryString } from "./simple-query-string.ts";
import { compileTerm } from "./term.ts";
import { compileIds, compileTerms, compileTermsSet } from "./terms.ts";

/** The vendor's limit depends on its memory; this is what a small node has. */
const MAX_CLAUSES = 4096;

/** Lucene drops boosts where scores are not used: of the clause, and of those within it when it is a `bool`. */
function withoutBoost(query: Query): Query {
  if (query.kind !== "bool") return { ...query, boost: 1 };
  const { must, mustNot, filter, should } = query;
  const clauses = {
    must: must.map(withoutBoost),
    mustNot: mustNot.map(withoutBoost),
    filter: filter.map(withoutBoost),
    should: should.map(withoutBoost),
  };
  return { ...query, ...clauses, boost: 1 };
}

/** Clauses that look for values of one field. */
const lookingFor: ReadonlySet<Query["kind"]> = new Set([
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

  /** @param minimums whether a minimum of a score decides what is found */
  constructor(context: QueryContext, minimums: "applied" | "ignored" = "applied") {
    this.context = context;
    this.#minimums = minimums;
  }

  minimumOf({ minScore }: { minScore?: number | undefined }): number | undefined {
    return this.#minimums === "ignored" ? undefined : minScore;
  }

  /** @param boost of the clauses around it, multiplied */
  compile(query: Query, boost: number): Matcher {
    const matcher =
      query.boost === 0
        ? uniform(this.compileUnscored(query, 1).predicate, 0, "ConstantScore(boost 0)")
        : this.#compile(query, Math.fround(boost * query.boost));
    if (query.name !== undefined) this.named.set(query.name, matcher.predicate);
    return matcher;
  }

  /** A clause whose score is not used: what reckons one all the same, for a minimum, does so without the clause's boost. */
  compileUnscored(query: Query, boost: number): Matcher {
    this.#unscored++;
    try {
      return this.compile(withoutBoost(query), boost);
    } finally {
      this.#unscored--;
    }
  }

  /** Whether the score of what is compiled now is used. */
  get scores(): boolean {
    return this.#unscored === 0;
  }

  /** Adds what the vendor finds out while it scores. @param check told which documents the whole query finds */
  whenFound(check: (found: Sql) => void): void {
    this.#checks.push(check);
  }

  /** @param foundBy the predicate of the whole query, but for minimums of scores @throws ShardError */
  check(foundBy: () => Sql): void {
    if (this.#checks.length === 0) return;
    const found = foundBy();
    for (const check of this.#checks) check(found);
  }

  /** Counts clauses that a request asks for. @throws VendorError when they are too many */
  count(clauses: number): void {
    this.#clauses += clauses;
    if (this.#clauses > MAX_CLAUSES) throw tooManyClauses(MAX_CLAUSES);
  }

  /** Keeps words for highlighting. */
  note(field: string, words: readonly string[]): void {
    for (const word of words) this.mark(field, termMark(word));
  }

  /** Keeps what is looked for in a field for highlighting. */
  mark(field: string, mark: Mark): void {
    if (this.#unmarked) return;
    const known = this.marks.get(field);
    if (known) known.push(mark);
    else this.marks.set(field, [mark]);
  }

  /** The same of a clause that is no reason why a document is found: nothing of it is marked. */
  compileUnmarked(query: Query, boost: number): Matcher {
    return this.unmarked(() => this.compile(query, boost));
  }

  /** Compiles what is no reason why a document is found. */
  unmarked<Compiled>(compile: () => Compiled): Compiled {
    const before = this.#unmarked;
    this.#unmarked = true;
    try {
      return compile();
    } finally {
      this.#unmarked = before;
    }
  }

  #compile(query: Query, boost: number): Matcher {
    if (lookingFor.has(query.kind) && "field" in query) checkSearchable(this.context, query.field);
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
