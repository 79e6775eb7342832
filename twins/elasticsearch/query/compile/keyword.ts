/** Whole values: found by equality, scored as the vendor scores a keyword, whose length does not count. */

import { type Field, fieldValue } from "@offhook/log-store/fields";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { analyze } from "@offhook/log-store/text/analysis";
import type { Ask, Explanation, Figures } from "../compiled-query.ts";
import { boostOf, idf, idfSql, lengthFactor, lengthFactorSql, score, scoreSql } from "../score/bm25.ts";
import { explainParts } from "../score/explain.ts";
import { equals } from "./column.ts";
import { allOf, inRows, type Matcher, once } from "./matcher.ts";

/** A word in more documents than these is no quicker to look up than its column is to read. */
const MOST_LOOKED_UP = 1000;

/** Documents in which any value of the field is this one. @param what as explanations name it */
export function keyword(
  field: Field,
  value: string | boolean,
  boost: number,
  what: string,
  figures: Figures | undefined,
): Matcher {
  const looked = once(() => found(field, value, figures));
  const weighed = once(() => known(field, looked(), boost, figures) ?? weight(field, sql`${value}`, boost));
  return {
    whole: { field, value, boost },
    get predicate() {
      return looked();
    },
    score: {
      kind: "uniform",
      get value() {
        return weighed();
      },
    },
    explain: (ask) => explainKeyword(field, sql`${value}`, boost, what, ask),
  };
}

/** A rare value is looked for among the documents that have its longest word, any other in its column. */
function found(field: Field, value: string | boolean, figures: Figures | undefined): Sql {
  const equal = equals(field, sql`${value}`);
  if (!figures || typeof value !== "string" || field.postings === undefined) return equal;
  const terms = analyze(value).map(({ term }) => term);
  const [longest] = terms.sort((a, b) => b.length - a.length);
  if (longest === undefined) return equal;
  const postings = sql`${identifier(field.postings)} WHERE term = ${longest} AND frequency > 0`;
  const [count] = figures(sql`SELECT count(*) FROM ${postings}`) ?? [];
  if (count === undefined || count > MOST_LOOKED_UP) return equal;
  return allOf([inRows(sql`SELECT _row FROM ${postings}`), equal]);
}

/** The score of every document, from figures. */
function known(
  field: Field,
  predicate: Sql,
  boost: number,
  figures: Figures | undefined,
): number | undefined {
  const ofField = figures?.(sql`SELECT ${extent(field)} FROM documents AS d`);
  const ofValue = figures?.(sql`SELECT count(*) FROM documents AS d WHERE ${predicate}`);
  if (!ofField || !ofValue) return undefined;
  const [documents = 0, averageLength = 1] = ofField;
  const [matching = 0] = ofValue;
  const rarity = Math.fround(boostOf(boost) * idf(documents, matching));
  return score(rarity, 1, lengthFactor(1, averageLength));
}

/** How many documents have the field, and how many values a document has on average. */
export function extent(field: Field): Sql {
  const column = fieldValue(field);
  const average = field.multi
    ? sql`CAST(sum(len(list_distinct(${column}))) / CAST(count(${column}) AS DOUBLE) AS FLOAT)`
    : raw("1::FLOAT");
  return sql`count(${column}) AS documents, ${average} AS average_length`;
}

/** One row: the extent, and how many documents have the value. */
function statistics(field: Field, value: Sql): Sql {
  return sql`SELECT ${extent(field)}, count(*) FILTER (WHERE ${equals(field, value)}) AS matching FROM documents AS d`;
}

function weight(field: Field, value: Sql, boost: number): Sql {
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
  const [found = []] = await ask(statistics(field, value));
  const [documents = 0, averageLength = 1, matching = 0] = found.map(Number);
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
