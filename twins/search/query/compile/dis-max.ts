/** The best of several queries, and a share of the others. */
import { joined, raw, sql } from "../../../datasets/sql.ts";
import type { Ask, Explanation } from "../compiled-query.ts";
import type { DisMaxQuery } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { anyOf, explanation, FALSE, type Matcher, nothing, rowsOf } from "./matcher.ts";

export function compileDisMax(compiler: Compiler, query: DisMaxQuery, boost: number): Matcher {
  compiler.count(1);
  return best(
    query.queries.map((clause) => compiler.compile(clause, boost)),
    query.tieBreaker,
  );
}

/** Documents of any of the clauses. @param tieBreaker how much of what is not the best counts too */
export function best(clauses: readonly Matcher[], tieBreaker: number): Matcher {
  const kept = clauses.filter(({ predicate }) => predicate !== FALSE);
  const [only] = kept;
  if (!only) return nothing;
  if (kept.length === 1) return only;
  const predicate = anyOf(kept.map((clause) => clause.predicate));
  const values = new Set(kept.map(({ score }) => (score.kind === "uniform" ? score.value : undefined)));
  const [value] = values;
  if (tieBreaker === 0 && values.size === 1 && typeof value === "number") {
    return { predicate, score: { kind: "uniform", value }, explain: explainBest(kept, tieBreaker) };
  }
  const parts = kept.map(
    (clause) => sql`SELECT _row, CAST(score AS DOUBLE) AS score FROM (${rowsOf(clause)})`,
  );
  const others = tieBreaker === 0 ? raw("") : sql` + ${Math.fround(tieBreaker)} * (sum(score) - max(score))`;
  return {
    predicate,
    score: {
      kind: "ranked",
      rows: sql`(SELECT _row, CAST(max(score)${others} AS FLOAT) AS score
        FROM (${joined(parts, " UNION ALL ")}) GROUP BY _row)`,
    },
    explain: explainBest(kept, tieBreaker),
  };
}

function explainBest(clauses: readonly Matcher[], tieBreaker: number) {
  return async (ask: Ask, row: bigint): Promise<Explanation> => {
    const details: Explanation[] = [];
    for (const clause of clauses) {
      const matched = await ask(
        sql`SELECT 1 FROM documents AS d WHERE d._row = ${row} AND ${clause.predicate}`,
      );
      if (matched.length > 0) details.push(await clause.explain(ask, row));
    }
    const values = details.map(({ value }) => value);
    const highest = Math.max(...values);
    const others = values.reduce((sum, value) => sum + value, 0) - highest;
    return explanation(
      highest + Math.fround(tieBreaker) * others,
      tieBreaker === 0 ? "max of:" : `max plus ${tieBreaker} times others of:`,
      details,
    );
  };
}
