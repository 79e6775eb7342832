/** `constant_score` and `boosting`. */
import { sql } from "@offhook/log-store/sql";
import { explanation } from "../score/explain.ts";
import type { BoostingQuery, ConstantScoreQuery } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { FALSE, type Matcher, scoredRows, uniform } from "./matcher.ts";

export function compileConstantScore(compiler: Compiler, query: ConstantScoreQuery, boost: number): Matcher {
  const { predicate } = compiler.compileUnscored(query.filter, 1);
  return uniform(predicate, boost, "ConstantScore");
}

/** Documents that also match the negative query keep only a share of their score. */
export function compileBoosting(compiler: Compiler, query: BoostingQuery, boost: number): Matcher {
  const positive = compiler.compile(query.positive, boost);
  const negative = compiler.compileUnmarked(query.negative, 1);
  if (positive.predicate === FALSE || negative.predicate === FALSE) return positive;
  const share = Math.fround(query.negativeBoost);
  return {
    predicate: positive.predicate,
    score: {
      kind: "ranked",
      rows: sql`(SELECT d._row, CAST(CASE WHEN ${negative.predicate} THEN p.score * ${share} ELSE p.score END AS FLOAT) AS score
        FROM (${scoredRows(positive)}) AS p JOIN documents AS d ON d._row = p._row)`,
    },
    async explain(ask, row) {
      const whole = await positive.explain(ask, row);
      const lowered = await ask(
        sql`SELECT 1 FROM documents AS d WHERE d._row = ${row} AND ${negative.predicate}`,
      );
      if (lowered.length === 0) return whole;
      return explanation(whole.value * share, `Matched query multiplied by negative boost ${share}:`, [
        whole,
      ]);
    },
  };
}
