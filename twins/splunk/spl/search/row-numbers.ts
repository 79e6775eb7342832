/** Comparing the number of each event with some that are known. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";

/** So many are compared one by one. */
const FEW = 32;

/**
 * Whether a row's number is one of these. A few are compared with the numbers alone, and nothing else is read of other rows; a join
 * would read all of those between the least and the greatest.
 * @param numbers whole numbers, as SQL writes them
 */
export function isAmong(row: Sql, numbers: readonly string[]): Sql {
  const different = [...new Set(numbers)];
  if (different.length === 0) return raw("false");
  const all = raw(different.join(", "));
  if (different.length === 1) return sql`(${row} = ${all})`;
  if (different.length > FEW) return sql`${row} IN (${all})`;
  const bounds = sql`${row} BETWEEN ${raw(extreme(different, -1))} AND ${raw(extreme(different, 1))}`;
  return sql`(${bounds} AND list_contains([${all}], ${row}))`;
}

function extreme(numbers: readonly string[], sign: 1 | -1): string {
  return numbers.reduce((a, b) => (sign * (Number(b) - Number(a)) > 0 ? b : a));
}
