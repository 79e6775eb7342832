/** Whole values searched in many fields, in one pass over the documents. */
import { fieldValue } from "@offhook/log-store/fields";
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { boostOf, idfSql, lengthFactorSql, scoreSql } from "../score/bm25.ts";
import { equals } from "./column.ts";
import type { WholeValue } from "./field-search.ts";
import { anyOf } from "./matcher.ts";

/** `SELECT _row, <name>`: for each document a row for each predicate that is true, with that predicate's value. */
export function rowPerPredicate(
  predicates: readonly { readonly predicate: Sql; readonly value: Sql }[],
  name: string,
): Sql {
  const values = predicates.map(({ predicate, value }) => sql`CASE WHEN ${predicate} THEN ${value} END`);
  const all = sql`list_filter([${joined(values, ", ")}], lambda one: one IS NOT NULL)`;
  return sql`SELECT d._row, unnest(${all}) AS ${raw(name)} FROM documents AS d
    WHERE ${anyOf(predicates.map(({ predicate }) => predicate))}`;
}

/** `SELECT field, _row, score`: a row for each field of a document that has its value; `field` is the index in the list. */
export function scoresOfValues(values: readonly WholeValue[]): Sql {
  const found = rowPerPredicate(
    values.map(({ field, value }, place) => ({
      predicate: equals(field, sql`${value}`),
      value: raw(String(place)),
    })),
    "field",
  );
  const columns = values.map(({ field }) => fieldValue(field));
  const averages = values.map(({ field }, place) =>
    field.multi
      ? sql`CAST(sum(len(list_distinct(${columns[place] ?? raw("")}))) / CAST(count(${columns[place] ?? raw("")}) AS DOUBLE) AS FLOAT)`
      : raw("1::FLOAT"),
  );
  const counts = columns.map((column) => sql`count(${column})`);
  const weight = sql`weight_boost * ${idfSql(raw("documents"), raw("matching"))}`;
  const score = scoreSql(raw("weight"), raw("1"), lengthFactorSql(raw("1"), raw("average_length")));
  const boosts = values.map(({ boost }) => sql`CAST(${boostOf(boost)} AS FLOAT)`);
  return sql`WITH found AS MATERIALIZED (${found}),
    extents AS (SELECT unnest(range(${raw(String(values.length))})) AS field, unnest(documents) AS documents,
        unnest(averages) AS average_length, unnest([${joined(boosts, ", ")}]) AS weight_boost
      FROM (SELECT [${joined(counts, ", ")}] AS documents, [${joined(averages, ", ")}] AS averages FROM documents AS d))
    SELECT field, _row, score FROM found
    JOIN (SELECT field, ${score} AS score
          FROM (SELECT field, average_length, ${weight} AS weight
                FROM (SELECT field, count(*) AS matching FROM found GROUP BY field) JOIN extents USING (field))) USING (field)`;
}
