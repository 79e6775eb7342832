/**
 * Lucene's BM25 as configured in Elasticsearch 8: k1 1.2, b 0.75, weights multiplied by k1 + 1, single precision, and lengths encoded
 * in one byte. In SQL for searching, in JavaScript for explaining.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/index-modules-similarity.html#bm25, Lucene's SmallFloat
 */
import { type Field, fieldKey } from "@offhook/log-store/fields";
import { type Sql, sql } from "@offhook/log-store/sql";

export const K1 = 1.2;
export const B = 0.75;

/** Lengths below are encoded exactly. */
const EXACT_LENGTHS = 24;

/** The length after encoding in one byte: exact up to 39, then the four leading bits of the excess over 24. */
export function encodedLength(length: number): number {
  if (length < EXACT_LENGTHS) return length;
  const beyond = length - EXACT_LENGTHS;
  const shift = Math.max(0, 32 - Math.clz32(beyond) - 4);
  return EXACT_LENGTHS + ((beyond >>> shift) << shift);
}

/** `encodedLength` in SQL. */
function encodedLengthSql(length: Sql): Sql {
  const beyond = sql`(${length} - 24)`;
  const shift = sql`(CAST(floor(log2(${beyond})) AS INTEGER) - 3)`;
  return sql`CASE WHEN ${length} < 40 THEN ${length} ELSE 24 + ((${beyond} >> ${shift}) << ${shift}) END`;
}

/** Inverse document frequency. @param documents with the field @param matching documents with the word */
export function idf(documents: number, matching: number): number {
  return Math.fround(Math.log(1 + (documents - matching + 0.5) / (matching + 0.5)));
}

/** `idf` in SQL, as FLOAT. */
export function idfSql(documents: Sql, matching: Sql): Sql {
  return sql`CAST(ln(1 + (CAST(${documents} AS DOUBLE) - ${matching} + 0.5) / (CAST(${matching} AS DOUBLE) + 0.5)) AS FLOAT)`;
}

/** Boost times k1 + 1, the factor of a word's weight. */
export function boostOf(boost: number): number {
  return Math.fround(boost * Math.fround(1 + Math.fround(K1)));
}

/** The factor of the frequency before saturation; it shrinks as the document grows. */
export function lengthFactor(length: number, averageLength: number): number {
  const f = Math.fround;
  const relative = f(f(f(B) * encodedLength(length)) / f(averageLength));
  return f(1 / f(f(K1) * f(f(1 - f(B)) + relative)));
}

export function lengthFactorSql(length: Sql, averageLength: Sql): Sql {
  const kept = sql`CAST(${encodedLengthSql(length)} AS FLOAT)`;
  return sql`(1::FLOAT / (1.2::FLOAT * (0.25::FLOAT + 0.75::FLOAT * ${kept} / ${averageLength})))`;
}

/** A word's score in a document. @param weight boost times idf */
export function score(weight: number, frequency: number, factor: number): number {
  const f = Math.fround;
  return f(weight - f(weight / f(1 + f(frequency * factor))));
}

export function scoreSql(weight: Sql, frequency: Sql, factor: Sql): Sql {
  return sql`(${weight} - ${weight} / (1::FLOAT + CAST(${frequency} AS FLOAT) * ${factor}))`;
}

/** One row: `documents` that have words in the field, and their `average_length` in words as FLOAT. */
export function statisticsSql(field: Field): Sql {
  return sql`SELECT documents, CAST(CAST(tokens AS DOUBLE) / nullif(documents, 0) AS FLOAT) AS average_length
    FROM field_statistics WHERE field = ${fieldKey(field)}`;
}
