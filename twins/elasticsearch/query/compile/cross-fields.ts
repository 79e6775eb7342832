/**
 * `cross_fields`: the fields are taken as one, so that each word may be in any of them. As the vendor blends them: a word counts as
 * frequent as in the field where most documents have it, and one more for each field that fewer have it in; never as more documents
 * than have the field, nor than there are words in the smallest of the fields.
 */
import { raw, sql } from "@offhook/log-store/sql";
import { boostOf, idfSql, lengthFactorSql, scoreSql } from "../score/bm25.ts";
import { analyzed } from "./analyzers.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import { best } from "./dis-max.ts";
import { Fields } from "./field-search.ts";
import { matchField, minimumOf } from "./match.ts";
import { explanation, inRows, type Matcher } from "./matcher.ts";
import type { MultiField } from "./multi-match.ts";
import { targetOf } from "./target.ts";
import type { Words } from "./words.ts";

interface WeightedWords {
  readonly target: Words;
  readonly boost: number;
}

/** @returns undefined when the text has no word */
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
  const terms = analyzed(String(text), options).map(({ term }) => term);
  if (analysed.length === 0 || terms.length === 0) {
    return others.length === 0 ? undefined : best(others, tieBreaker);
  }
  compiler.count(terms.length * analysed.length);
  for (const { target } of analysed) compiler.note(target.name, terms);
  const words = terms.map((term) => blended(analysed, term, tieBreaker));
  const together = combine({
    must: [],
    should: words,
    filter: [],
    minimum: minimumOf(options, words.length),
  });
  return best([together, ...others], tieBreaker);
}

/** One word in any of the fields: the best field counts, and a share of the others. */
function blended(weighted: readonly WeightedWords[], term: string, tieBreaker: number): Matcher {
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
