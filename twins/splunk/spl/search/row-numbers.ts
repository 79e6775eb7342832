/** Finds events by their row numbers. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";

/** Numbers that are compared one by one; more are joined. */
const MAX_SCANNED = 32;

/**
 * Condition: whether a row's number is one of these. Few numbers are compared directly, which reads the number column only; a join
 * would read all rows between the least and the greatest.
 * @param numbers integers, as SQL literals
 */
export function rowIn(row: Sql, numbers: readonly string[]): Sql {
  const different = [...new Set(numbers)];
  if (different.length === 0) return raw("false");
  const all = raw(different.join(", "));
  if (different.length === 1) return sql`(${row} = ${all})`;
  if (different.length > MAX_SCANNED) return sql`${row} IN (${all})`;
  const bounds = sql`${row} BETWEEN ${raw(extreme(different, -1))} AND ${raw(extreme(different, 1))}`;
  return sql`(${bounds} AND list_contains([${all}], ${row}))`;
}

function extreme(numbers: readonly string[], sign: 1 | -1): string {
  return numbers.reduce((a, b) => (sign * (Number(b) - Number(a)) > 0 ? b : a));
}
