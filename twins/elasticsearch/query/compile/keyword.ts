/** Whole values: matched by equality and scored as keywords, whose length does not count. */

import { type Field, fieldValue } from "@offhook/log-store/fields";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { analyze } from "@offhook/log-store/text/analysis";
import type { Ask, Explanation, TermStatistics } from "../compiled-query.ts";
import { boostOf, idf, idfSql, lengthFactor, lengthFactorSql, score, scoreSql } from "../score/bm25.ts";
import { explainParts } from "../score/explain.ts";
import { equals } from "./column.ts";
import { allOf, inRows, lazy, type Matcher } from "./matcher.ts";

/** For a word in more documents than this, reading the column is as fast as the postings. */
const MAX_LOOKED_UP = 1000;

/** Matches documents in which any value of the field equals this one. @param what the clause, as explanations name it */
export function keyword(
  field: Field,
  value: string | boolean,
  boost: number,
  what: string,
  termStatistics: TermStatistics | undefined,
): Matcher {
  const lazyPredicate = lazy(() => valuePredicate(field, value, termStatistics));
  const lazyScore = lazy(
    () =>
      knownScore(field, lazyPredicate(), boost, termStatistics) ?? scoreSubquery(field, sql`${value}`, boost),
  );
  return {
    whole: { field, value, boost },
    get predicate() {
      return lazyPredicate();
    },
    score: {
      kind: "uniform",
      get value() {
        return lazyScore();
      },
    },
    explain: (ask) => explainKeyword(field, sql`${value}`, boost, what, ask),
  };
}

/** Prefilters a rare value by the postings of its longest word; any other is compared in its column alone. */
function valuePredicate(
  field: Field,
  value: string | boolean,
  termStatistics: TermStatistics | undefined,
): Sql {
  const equal = equals(field, sql`${value}`);
  if (!termStatistics || typeof value !== "string" || field.postings === undefined) return equal;
  const terms = analyze(value).map(({ term }) => term);
  const [longest] = terms.sort((a, b) => b.length - a.length);
  if (longest === undefined) return equal;
  const postings = sql`${identifier(field.postings)} WHERE term = ${longest} AND frequency > 0`;
  const [count] = termStatistics(sql`SELECT count(*) FROM ${postings}`) ?? [];
  if (count === undefined || count > MAX_LOOKED_UP) return equal;
  return allOf([inRows(sql`SELECT _row FROM ${postings}`), equal]);
}

/** The score that all documents share; `undefined` without statistics. */
function knownScore(
  field: Field,
  predicate: Sql,
  boost: number,
  termStatistics: TermStatistics | undefined,
): number | undefined {
  const ofField = termStatistics?.(sql`SELECT ${extent(field)} FROM documents AS d`);
  const ofValue = termStatistics?.(sql`SELECT count(*) FROM documents AS d WHERE ${predicate}`);
  if (!ofField || !ofValue) return undefined;
  const [documents = 0, averageLength = 1] = ofField;
  const [matching = 0] = ofValue;
  const rarity = Math.fround(boostOf(boost) * idf(documents, matching));
  return score(rarity, 1, lengthFactor(1, averageLength));
}

/** Columns: how many documents have the field, and how many distinct values they have on average. */
export function extent(field: Field): Sql {
  const column = fieldValue(field);
  const average = field.multi
    ? sql`CAST(sum(len(list_distinct(${column}))) / CAST(count(${column}) AS DOUBLE) AS FLOAT)`
    : raw("1::FLOAT");
  return sql`count(${column}) AS documents, ${average} AS average_length`;
}

/** One row: `extent`, and how many documents have the value. */
function statistics(field: Field, value: Sql): Sql {
  return sql`SELECT ${extent(field)}, count(*) FILTER (WHERE ${equals(field, value)}) AS matching FROM documents AS d`;
}

function scoreSubquery(field: Field, value: Sql, boost: number): Sql {
  const rarity = idfSql(raw("documents"), raw("matching"));
  const score = scoreSql(raw("weight"), raw("1"), lengthFactorSql(raw("1"), raw("average_length")));
  return sql`(SELECT ${score} FROM (SELECT average_length, CAST(${boostOf(boost)} AS FLOAT) * ${rarity} AS weight
    FROM (${statistics(field, value)})))`;
}

async function explainKeyword(
  field: Field,
  value: Sql,
  boost: number,
  what: string,
  ask: Ask,
): Promise<Explanation> {
  const [row = []] = await ask(statistics(field, value));
  const [documents = 0, averageLength = 1, matching = 0] = row.map(Number);
  return explainParts({
    what,
    boost,
    documents,
    matching: [{ term: what, documents: matching }],
    frequency: 1,
    length: 1,
    averageLength,
  });
}
