/** The state of compiling a query: boosts and limits on the way down, and the marks, named clauses and checks it collects. */

import type { Sql } from "@offhook/log-store/sql";
import type { QueryContext } from "../compiled-query.ts";
import { tooManyClauses } from "../errors.ts";
import { type Mark, termMark } from "../mark.ts";
import type { Query } from "../syntax/query.ts";
import { type Matcher, uniform } from "./matcher.ts";

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

/** Compiles one clause. @param boost including the clause's own */
export type CompileClause = (compiler: Compiler, query: Query, boost: number) => Matcher;

export class Compiler {
  readonly context: QueryContext;
  readonly marks = new Map<string, Mark[]>();
  readonly named = new Map<string, Sql>();
  readonly #checks: ((found: Sql) => void)[] = [];
  readonly #compileClause: CompileClause;
  readonly #minimums: "applied" | "ignored";
  #clauses = 0;
  #unscored = 0;
  #unmarked = false;

  /**
   * @param compileClause see `compile-clause.ts`; a parameter, since the clauses call the compiler in turn
   * @param minimums whether `min_score` restricts the matches
   */
  constructor(
    compileClause: CompileClause,
    context: QueryContext,
    minimums: "applied" | "ignored" = "applied",
  ) {
    this.#compileClause = compileClause;
    this.context = context;
    this.#minimums = minimums;
  }

  /** A compiler for an inner query on other documents. */
  inner(context: QueryContext): Compiler {
    return new Compiler(this.#compileClause, context);
  }

  minimumOf({ minScore }: { minScore?: number | undefined }): number | undefined {
    return this.#minimums === "ignored" ? undefined : minScore;
  }

  /** @param boost the product of the boosts of the enclosing clauses */
  compile(query: Query, boost: number): Matcher {
    const matcher =
      query.boost === 0
        ? uniform(this.compileUnscored(query, 1).predicate, 0, "ConstantScore(boost 0)")
        : this.#compileClause(this, query, Math.fround(boost * query.boost));
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
}
