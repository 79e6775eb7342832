/**
 * `cross_fields`: treats the fields as one, so that each word may be in any of them. Document frequencies are blended as in Lucene's
 * `BlendedTermQuery`: the highest of any field, plus one for each field that ranks below; at most the documents with the field, and
 * at most the words of the smallest field.
 */
import { raw, sql } from "@offhook/log-store/sql";
import { boostOf, idfSql, lengthFactorSql, scoreSql } from "../score/bm25.ts";
import { explanation } from "../score/explain.ts";
import { analyzeText } from "./analyzers.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import { disMax } from "./dis-max.ts";
import { type MultiField, matchField, minimumOf } from "./match.ts";
import { inRows, type Matcher } from "./matcher.ts";
import { Fields } from "./search-fields.ts";
import { targetOf, type WordsTarget } from "./target.ts";

interface WeightedWords {
  readonly target: WordsTarget;
  readonly boost: number;
}

/** @returns undefined when the text has no words */
export function crossFields(compiler: Compiler, query: MultiField): Matcher | undefined {
  const { context } = compiler;
  const { text, options, boost } = query;
  const tieBreaker = query.tieBreaker ?? 0;
  const analysed: WeightedWords[] = [];
  const others: Matcher[] = [];
  for (const [name, weight] of query.fields) {
    const target = targetOf(context, name, "words");
    const weighted = Math.fround(boost * weight);
    if (target.kind === "words") analysed.push({ target, boost: weighted });
    else {
      const matcher = matchField(compiler, target, { type: "boolean", text, options }, weighted);
      if (matcher) others.push(matcher);
    }
  }
  const terms = analyzeText(String(text), options).map(({ term }) => term);
  if (analysed.length === 0 || terms.length === 0) {
    return others.length === 0 ? undefined : disMax(others, tieBreaker);
  }
  compiler.count(terms.length * analysed.length);
  for (const { target } of analysed) compiler.markWords(target.name, terms);
  const words = terms.map((term) => blend(analysed, term, tieBreaker));
  const together = combine({
    must: [],
    should: words,
    filter: [],
    minimum: minimumOf(options, words.length),
  });
  return disMax([together, ...others], tieBreaker);
}

/** Matches one word in any of the fields; the score is that of the best field plus `tieBreaker` times the others. */
function blend(weighted: readonly WeightedWords[], term: string, tieBreaker: number): Matcher {
  const fields = new Fields(weighted);
  const found = fields.occurrences(sql`term = ${term} AND frequency > 0`);
  const most = raw("least(max(matching) OVER (), min(tokens) OVER ())");
  const rank = raw("dense_rank() OVER (ORDER BY matching DESC) - 1");
  const score = scoreSql(
    raw("weight"),
    raw("frequency"),
    lengthFactorSql(raw("length"), raw("average_length")),
  );
  const weight = sql`CAST(boost * CAST(${boostOf(1)} AS FLOAT) AS FLOAT) * ${idfSql(raw("documents"), raw("blended"))}`;
  const others = tieBreaker === 0 ? raw("") : sql` + ${Math.fround(tieBreaker)} * (sum(score) - max(score))`;
  const rows = sql`(WITH hits AS MATERIALIZED (SELECT field, _row, frequency, length FROM (${found})),
      blends AS MATERIALIZED (
        SELECT field, boost, documents, average_length, least(${most} + ${rank}, documents, min(tokens) OVER ()) AS blended
        FROM (SELECT field, count(*) AS matching FROM hits GROUP BY field) JOIN (${fields.statistics}) USING (field))
    SELECT _row, CAST(max(score)${others} AS FLOAT) AS score
    FROM (SELECT _row, CAST(${score} AS DOUBLE) AS score
          FROM (SELECT _row, frequency, length, average_length, ${weight} AS weight FROM hits JOIN blends USING (field)))
    GROUP BY _row)`;
  const matched = sql`SELECT DISTINCT _row FROM (${found})`;
  return {
    predicate: inRows(matched),
    rows: matched,
    score: { kind: "ranked", rows },
    async explain(ask, row) {
      const [scored] = await ask(sql`SELECT score FROM ${rows} WHERE _row = ${row}`);
      const names = weighted.map(({ target }) => target.name).join(", ");
      return explanation(Number(scored?.[0] ?? 0), `blended(terms:[${term}] in ${names})`);
    },
  };
}
