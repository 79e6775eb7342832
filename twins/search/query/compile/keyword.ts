/** Whole values: found by equality, scored as the vendor scores a keyword, whose length does not count. */
import { columnOf, type Field } from "../../../datasets/fields.ts";
import { raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { Ask, Explanation } from "../compiled-query.ts";
import { boostOf, idfSql, lengthFactorSql, scoreSql } from "../score/bm25.ts";
import { explainParts } from "../score/explain.ts";
import { equals } from "./column.ts";
import type { Matcher } from "./matcher.ts";

/** Documents in which any value of the field is this one. @param what as explanations name it */
export function keyword(field: Field, value: Sql, boost: number, what: string): Matcher {
  return {
    predicate: equals(field, value),
    score: { kind: "uniform", value: weight(field, value, boost) },
    explain: (ask) => explainKeyword(field, value, boost, what, ask),
  };
}

/** One row: documents with the field, with the value, and how many values a document has on average. */
function statistics(field: Field, value: Sql): Sql {
  const column = sql`d.${columnOf(field)}`;
  const average = field.multi
    ? sql`CAST(sum(len(list_distinct(${column}))) / CAST(count(${column}) AS DOUBLE) AS FLOAT)`
    : raw("1::FLOAT");
  return sql`SELECT count(${column}) AS documents, count(*) FILTER (WHERE ${equals(field, value)}) AS matching,
      ${average} AS average_length FROM documents AS d`;
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
  const [documents = 0, matching = 0, averageLength = 1] = found.map(Number);
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
